/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shows user space a code object when it is first seen: what is needed of it for names and lines.
 * Modules run once, and what exec() compiled may be gone before anybody can read it.
 */
#ifndef BPF_PYTHON_CODE_BPF_H
#define BPF_PYTHON_CODE_BPF_H

#include "bpf/maps.bpf.h"
#include "unwinders/unwind.bpf.h"
#include "unwinders/python.bpf.h"

/* What there is of len bytes: up to the end of the page where the next one is not there. */
static __always_inline __u32 python_copy(__u8 *to, __u64 addr, __u64 len)
{
	__u64 left = PAGE_LEN - (addr & (PAGE_LEN - 1));

	if (!read_user(addr, to, len))
		return len;
	OPAQUE(left);
	if (left >= len || read_user(addr, to, left))
		return 0;
	return left;
}

#define PYTHON_COPY_PART(code, part, field, at)                                                    \
	do {                                                                                       \
		(code)->parts[part].addr = (at);                                                   \
		(code)->parts[part].len = python_copy((code)->field, (at), sizeof((code)->field)); \
	} while (0)

static __always_inline __u64 python_code_word(const struct wire_python_code *code, __u64 at)
{
	OPAQUE(at);
	at &= ~7ULL;
	return at <= CODE_OBJECT_MAX - sizeof(__u64) ? VALUE_AT(__u64, &code->object[at]) : 0;
}

/* False: the object itself is not there. */
static __always_inline bool python_copy_code(struct wire_python_code *code,
					     const struct python_process *p)
{
	PYTHON_COPY_PART(code, CODE_OBJECT, object, code->addr);
	if (!code->parts[CODE_OBJECT].len)
		return false;
	PYTHON_COPY_PART(code, CODE_NAME, name, python_code_word(code, p->code_shown_name));
	PYTHON_COPY_PART(code, CODE_FILE, file, python_code_word(code, p->code_file));
	PYTHON_COPY_PART(code, CODE_LINES, lines, python_code_word(code, p->code_lines));
	return true;
}

/* Sends the code object; true: it is on its way. */
static __always_inline bool python_send_code(struct python_scratch *p,
					     const struct wire_python_frame *f)
{
	p->code.addr = f->addr;
	p->code.id = f->id;
	if (!python_copy_code(&p->code, &p->process))
		return false;
	p->code.h.type = WIRE_PYTHON_CODE;
	p->code.h.flags = 0;
	p->code.h.len = sizeof(p->code);
	p->n_sent++; /* also of one that cannot be sent: trying has a price too */
	return !bpf_ringbuf_output(&ring, &p->code, sizeof(p->code), BPF_RB_NO_WAKEUP);
}

/* code->pad is the process: what is known of one says nothing of another. In python_seen each mark
   is on a page of its own, which to a tick costs as much as the rest of a frame, so it is noted
   near the frame's place; but not what this sample sends, as it may be lost. */
static __always_inline void python_show(struct python_scratch *p, const struct wire_python_frame *f)
{
	__u32 mark = (f->id ^ (__u32)(f->addr >> 3) ^ p->code.pad * 0x9e3779b1U) | 1;
	__u32 slot = mark >> 1 & python_seen_mask;
	__u32 *near = &p->reads.near[python_place(&p->process, p->walk.at)].shown;
	__u64 n = p->n_sent; /* 64 bits: what is compared is what is an index */
	struct python_seen *seen;

	OPAQUE(n);
	if (*near == mark || f->addr & WIRE_PYTHON_ANCHOR || !f->id || n >= PYTHON_CODES_A_SAMPLE)
		return;
	seen = bpf_map_lookup_elem(&python_seen, &slot);
	if (!seen)
		return;
	if (seen->marks[0] == mark || seen->marks[1] == mark) {
		*near = mark;
		return;
	}
	p->sent[n].slot = slot;
	p->sent[n].mark = mark;
	if (!python_send_code(p, f))
		return;
	seen->marks[1] = seen->marks[0];
	seen->marks[0] = mark;
}

/* The sample was lost, and with it what belongs to it: the next one shows it again. */
static __always_inline void python_unshow(struct python_scratch *p)
{
	for (__u32 i = 0; i < PYTHON_CODES_A_SAMPLE; i++) {
		struct python_seen *seen;
		__u32 slot;

		if (i >= p->n_sent)
			return;
		slot = p->sent[i].slot;
		seen = bpf_map_lookup_elem(&python_seen, &slot);
		if (seen && seen->marks[0] == p->sent[i].mark)
			seen->marks[0] = 0;
		else if (seen && seen->marks[1] == p->sent[i].mark)
			seen->marks[1] = 0;
	}
}

#endif
