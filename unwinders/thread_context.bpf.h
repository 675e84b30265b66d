/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The span that a thread says it is in by OTEP 4947: a thread-local variable, otel_thread_ctx_v1,
 * points to a record, which is whole whenever the thread is interrupted and says that it is valid.
 * Plain C as unwinders/python.bpf.h is, with the same read_user().
 */
#ifndef UNWINDERS_THREAD_CONTEXT_BPF_H
#define UNWINDERS_THREAD_CONTEXT_BPF_H

#include "unwinders/python_slot.bpf.h"
#include "unwinders/python_span.h"

#define THREAD_CONTEXT_LEN 28 /* what of a record is before its attributes */
#define THREAD_CONTEXT_IS_VALID 24

enum thread_context {
	THREAD_CONTEXT_NONE, /* the thread says nothing now */
	THREAD_CONTEXT_NO_SPAN,
	THREAD_CONTEXT_SPAN,
};

static __always_inline int thread_context_read(const struct python_slot_at *variable,
					       __u64 thread_pointer, struct python_span_ids *out)
{
	union {
		__u8 bytes[THREAD_CONTEXT_LEN];
		__u64 words[THREAD_CONTEXT_LEN / 8 + 1];
	} record;
	__u64 at = python_slot_read(variable, thread_pointer);

	if (!at || read_user(at, record.bytes, sizeof(record.bytes)) ||
	    record.bytes[THREAD_CONTEXT_IS_VALID] != 1)
		return THREAD_CONTEXT_NONE;
	if (!(record.words[0] | record.words[1]) || !record.words[2])
		return THREAD_CONTEXT_NO_SPAN;
	__builtin_memcpy(out->trace_id, record.bytes, sizeof(out->trace_id));
	__builtin_memcpy(out->span_id, record.bytes + sizeof(out->trace_id), sizeof(out->span_id));
	return THREAD_CONTEXT_SPAN;
}

#endif
