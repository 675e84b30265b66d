/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose code runs, for processes that may be gone before user space looks: the kernel reads the
 * build ids of the files that are mapped. It takes them from its cache of file pages, so nothing
 * that the process did to its memory changes them, and tries the lock on the mappings only once.
 */
#ifndef BPF_BUILD_IDS_BPF_H
#define BPF_BUILD_IDS_BPF_H

#include "bpf/maps.bpf.h"

_Static_assert(sizeof(struct wire_build_id) == sizeof(struct bpf_stack_build_id),
	       "bpf_get_stack() writes them");

/* For walks that ended for want of mappings, or of their file; not when the ring has room for
   samples only. */
static __always_inline bool build_ids_help(const struct scratch *s)
{
	switch (s->sample.snapshot_reason) {
	case END_NO_PROCESS:
	case END_NO_MAPPING:
		return s->sample.end != END_SNAPSHOT_RING;
	case END_NO_TABLE:
		return s->sample.end != END_SNAPSHOT_RING &&
		       s->u.map.flags & UNWIND_MAPPING_UNIDENTIFIED;
	default:
		return false;
	}
}

/* Two walks by frame pointers, which are the same: one for the pcs, one for their files. */
static __always_inline void build_ids_send(void *ctx, __u64 sample_id)
{
	struct wire_build_ids *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	long len;

	if (!record)
		return;
	len = bpf_get_stack(ctx, record->files, sizeof(record->files),
			    BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	if (len <= 0 ||
	    bpf_get_stack(ctx, record->pcs, sizeof(record->pcs), BPF_F_USER_STACK) <= 0) {
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
		return;
	}
	record->h.type = WIRE_BUILD_IDS;
	record->h.flags = 0;
	record->h.len = sizeof(*record);
	record->sample_id = sample_id;
	record->n = len / sizeof(*record->files);
	record->pad = 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

#endif
