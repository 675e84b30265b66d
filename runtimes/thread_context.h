/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose threads say which span they are in, in any language: OTEP 4947, merged into the
 * OpenTelemetry specification 1.60. A file that is mapped exports a thread-local variable,
 * otel_thread_ctx_v1; here is where threads have it, unwinders/thread_context.bpf.h reads it.
 */
#ifndef RUNTIMES_THREAD_CONTEXT_H
#define RUNTIMES_THREAD_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "unwinders/python_walk.h"

struct mem;
struct process;
struct processes;
struct tls_symbol;

/* Looks for the variable in what the process has mapped. True: *out is where threads have it. */
bool thread_context_attach(struct process *proc, struct python_slot_at *out);
/* For a process that was sampled. True: what the dynamic linker had not written yet when
   thread_context_attach() was called is there now, so it should be called again. */
bool thread_context_settles(struct processes *ps, struct process *proc);

/* By what the dynamic linker has written for a file that it loaded at this bias. -EAGAIN: nothing
   yet, or it makes no sense. */
int thread_context_resolve(const struct tls_symbol *symbol, uint64_t bias, struct mem *m,
			   struct python_slot_at *out);

#endif
