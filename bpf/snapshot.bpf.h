/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies the top of the user stack to user space, a page a record, so that the walk ends there. */
#ifndef BPF_SNAPSHOT_BPF_H
#define BPF_SNAPSHOT_BPF_H

#include "bpf/maps.bpf.h"

#define NS_PER_S 1000000000ULL
#define SNAPSHOT_MAX_REWIND \
	32768 /* bytes of stack walked already that may be copied again: half a snapshot */

enum page_result { PAGE_UNREADABLE, PAGE_SENT, PAGE_LOST };

/* Ends of a walk that user space may get past. */
static __always_inline bool snapshot_helps(int end)
{
	switch (end) {
	case END_NO_PROCESS:
	case END_NO_MAPPING:
	case END_NO_TABLE:
	case END_NO_RULE:
	case END_EXPRESSION:
	case END_BAD_RULE:
	case END_NOT_ADVANCING:
		return true;
	default:
		return false;
	}
}

/* A global function: verified once, not once a page. */
__weak __attribute__((noinline)) int snapshot_page(__u64 sample_id, __u64 addr)
{
	struct wire_snapshot_page *page;
	__u64 word;

	/* A hole must not take room in the ring. */
	if (bpf_probe_read_user(&word, sizeof(word), (const void *)addr))
		return PAGE_UNREADABLE;
	page = bpf_ringbuf_reserve(&ring, sizeof(*page) + SNAPSHOT_PAGE, 0);
	if (!page)
		return PAGE_LOST;
	if (bpf_probe_read_user(page->bytes, SNAPSHOT_PAGE, (const void *)addr)) {
		bpf_ringbuf_discard(page, BPF_RB_NO_WAKEUP);
		return PAGE_UNREADABLE;
	}
	page->h.type = WIRE_SNAPSHOT_PAGE;
	page->h.flags = 0;
	page->h.len = sizeof(*page) + SNAPSHOT_PAGE;
	page->sample_id = sample_id;
	page->addr = addr;
	page->len = SNAPSHOT_PAGE;
	page->pad = 0;
	bpf_ringbuf_submit(page, BPF_RB_NO_WAKEUP);
	return PAGE_SENT;
}

/* The budget fills evenly, up to a second's worth. */
static __always_inline void snapshot_refill(struct cpu_state *cpu, __u64 now_ns)
{
	__u64 step_ns = NS_PER_S / (snapshot_pages_per_second | 1);
	__u64 n = (now_ns - cpu->refill_time_ns) / step_ns;

	if (n >= snapshot_pages_per_second || !cpu->refill_time_ns) {
		cpu->n_pages_left = snapshot_pages_per_second;
		cpu->refill_time_ns = now_ns;
		return;
	}
	cpu->refill_time_ns += n * step_ns;
	cpu->n_pages_left += n;
	if (cpu->n_pages_left > snapshot_pages_per_second)
		cpu->n_pages_left = snapshot_pages_per_second;
}

/* Sends what can be read from the stack pointer's page upwards. Holes say nothing about where the
   stack ends: codecs have frames of many pages they never touched. Returns what becomes of the
   sample's end. */
static __always_inline int snapshot_take(struct cpu_state *cpu, struct wire_sample *sample)
{
	__u64 addr = (sample->regs[REG_SP] - RED_ZONE) & ~(__u64)(SNAPSHOT_PAGE - 1);

	snapshot_refill(cpu, sample->time_ns);
	if (!cpu->n_pages_left)
		return END_SNAPSHOT_BUDGET;
	/* User space is behind: what room there is is for samples. */
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > ring_snapshot_len)
		return END_SNAPSHOT_RING;
	for (__u32 i = 0; i < MAX_SNAPSHOT_PAGES && i < snapshot_max_pages; i++) {
		int result = snapshot_page(sample->id, addr + i * SNAPSHOT_PAGE);

		if (result == PAGE_SENT) {
			sample->n_pages++;
			cpu->n_pages_left -= cpu->n_pages_left ? 1 : 0;
		} else if (result == PAGE_LOST) {
			cpu->counters[SNAPSHOT_PAGES_LOST]++;
			break;
		}
	}
	cpu->counters[SNAPSHOTS]++;
	return END_SNAPSHOT;
}

#endif
