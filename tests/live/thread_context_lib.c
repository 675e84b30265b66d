// SPDX-License-Identifier: Apache-2.0
/* The library in which an SDK would have its variable (tests/live/thread_context.c). */
void thread_context_publish(void *record);

#ifdef LARGE /* so large that the dynamic linker gives each thread its own when it asks */
__thread char thread_context_large[1 << 16] __attribute__((visibility("default")));
#endif
__thread void *otel_thread_ctx_v1 __attribute__((visibility("default")));

void thread_context_publish(void *record)
{
	__atomic_store_n(&otel_thread_ctx_v1, record, __ATOMIC_RELEASE);
}
