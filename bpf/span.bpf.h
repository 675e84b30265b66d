/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The record of the span that a sample is of. */
#ifndef BPF_SPAN_BPF_H
#define BPF_SPAN_BPF_H

#include "bpf/maps.bpf.h"
#include "unwinders/python_span.h"

/* 0; 1: the ring was full. */
static __always_inline int span_send(__u64 sample_id, const struct python_span_ids *ids)
{
	struct wire_span span = {
		.h = { WIRE_SPAN, 0, sizeof(span) },
		.sample_id = sample_id,
	};

	__builtin_memcpy(span.trace_id, ids->trace_id, sizeof(span.trace_id));
	__builtin_memcpy(span.span_id, ids->span_id, sizeof(span.span_id));
	return bpf_ringbuf_output(&ring, &span, sizeof(span), BPF_RB_NO_WAKEUP) != 0;
}

#endif
