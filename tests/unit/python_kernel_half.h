/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half's search for tasks in memory made here: what unwinders/python_await.bpf.h and
 * unwinders/python_worker.bpf.h stand on.
 */
#ifndef TESTS_UNIT_PYTHON_KERNEL_HALF_H
#define TESTS_UNIT_PYTHON_KERNEL_HALF_H

#include "runtimes/python_asyncio.h"
#include "runtimes/python_spans.h"
#include "tests/unit/python_pages.h"
#include "tests/unit/python_world.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define UNWIND_GLOBAL static inline

static struct world world; /* made anew by every test */

static int read_user(__u64 addr, void *buf, __u32 len)
{
	return world_read(&world.m, addr, buf, len);
}

static struct python_scratch {
	struct python_process process;
	struct python_walk walk;
	struct python_reads reads;
	struct python_await_state awaits;
	__u64 work;
	__u32 work_is_item, pad;
	__u8 span_bytes[PYTHON_SPAN_BYTES];
	struct wire_python_frame frames[MAX_PYTHON_FRAMES];
} scratch;

static inline struct python_scratch *python_scratch_get(void)
{
	return &scratch;
}

static inline void python_show(struct python_scratch *p, const struct wire_python_frame *f)
{
	assert_true(p == &scratch && f->id && p->walk.at);
}

/* What the kernel half is told of the world. */
static inline void tell(const struct world *w)
{
	struct python_asyncio a = { .at = w->at, .is_known = true, .is_in_thread = true };

	memset(&scratch, 0, sizeof(scratch));
	scratch.reads.sample = 1;
	python_asyncio_set(&a, &scratch.process);
	python_asyncio_set_awaits(&a, &w->l, &scratch.process.awaits);
	python_spans_set_layout(&w->l, &w->at, &scratch.process.spans);
	scratch.process.frame_len = w->l.frame.size;
	scratch.process.frame_code = w->l.frame.code;
	scratch.process.frame_instr = w->l.frame.instr;
	scratch.process.is_lasti = w->l.instr != PYTHON_INSTR_POINTER;
	scratch.process.code_id = w->l.code.id_off;
	scratch.process.code_id_len = w->l.code.id_len;
}

#endif
