/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of CPython's frames, 3.6 to 3.15, in the thread's own context. Compiled for BPF and for
 * the host; whoever includes it defines before that
 *
 *	int read_user(__u64 addr, void *buf, __u32 len)		0, or negative when unreadable
 *	struct python_pages *python_pages_get(void)		a CPU's own, zeros at first; or NULL
 *
 * All memory here is the target's: pointers may lead anywhere and in circles. What a step reads
 * goes through struct python_reads, which is in the caller's scratch as BPF has little stack.
 */
#ifndef UNWINDERS_PYTHON_BPF_H
#define UNWINDERS_PYTHON_BPF_H

#include "bpf/counters.h"
#include "bpf/weft.h"
#include "unwinders/arch.h"
#include "unwinders/compiler.h"
#include "unwinders/python_identity.h"
#include "unwinders/python_pages.bpf.h"
#include "unwinders/python_slot.bpf.h"
#include "unwinders/python_walk.h"

/* A byte or word of what was read, wherever the layout says. */
#define PYTHON_AT(bytes, type, off) \
	VALUE_AT(type, &(bytes)[(off) & (PYTHON_FRAME_MAX - sizeof(type))])

/* The same of a thread state. */
#define PYTHON_TSTATE_AT(bytes, off) \
	VALUE_AT(__u64, &(bytes)[(off) & (PYTHON_TSTATE_MAX - sizeof(__u64))])

#define PYTHON_DICT_VERSION 24 /* to 3.11; another number after each change of any dict */
#define PYTHON_STR_INTERNED 3  /* bits of a str's state */

/* Reads a thread state to where frames are read to. False: it is not there. */
static __always_inline int python_read_tstate(const struct python_process *p, __u64 tstate,
					      struct python_reads *r)
{
	__u64 len = p->tstate_len;

	r->start = 0;
	OPAQUE(len);
	return tstate && len <= PYTHON_TSTATE_MAX && !read_user(tstate, r->window, len);
}

/* The thread state in a slot, and reads it; 0: there is none. */
static __always_inline __u64 python_tstate_in(const struct python_process *p,
					      const struct python_slot_at *slot, __u64 thread,
					      struct python_reads *r)
{
	__u64 tstate;

	switch (slot->kind) {
	case PYTHON_SLOT_HOLDER:
		tstate = python_read_pointer(slot->where);
		break;
	case PYTHON_SLOT_KEY:
		tstate = python_specific(thread, slot->where);
		break;
	case PYTHON_SLOT_MUSL_KEY:
		tstate = python_musl_specific(thread, slot->where);
		break;
	default:
		tstate = python_slot_read(slot, thread);
	}
	if (!python_read_tstate(p, tstate, r))
		return 0;
	if (slot->kind == PYTHON_SLOT_HOLDER &&
	    PYTHON_TSTATE_AT(r->window, p->tstate_thread_id) != thread)
		return 0;
	return tstate;
}

/* Finds the innermost frame of the thread state that was read. False: it has none. */
static __always_inline int python_enter(struct python_walk *w, const struct python_process *p,
					const struct python_reads *r)
{
	const __u8 *tstate = r->window;

	w->is_anchor_due = 0;
	w->cframe = p->tstate_cframe ? PYTHON_TSTATE_AT(tstate, p->tstate_cframe) : 0;
	w->base = p->tstate_base ? PYTHON_TSTATE_AT(tstate, p->tstate_base) : 0;
	if (p->tstate_frame)
		w->frame = PYTHON_TSTATE_AT(tstate, p->tstate_frame);
	else
		w->frame = w->cframe ? python_read_pointer(w->cframe + p->cframe_frame) : 0;
	if (w->frame == w->base)
		w->frame = 0;
	return w->frame != 0;
}

/* Finds the thread's innermost frame. False: the thread runs no Python. */
static __always_inline int python_begin(struct python_walk *w, const struct python_process *p,
					struct python_reads *r, __u64 thread)
{
	w->n_faults = 0;
	w->thread = thread;
	w->interp = w->next_tstate = 0;
	w->tstate = python_tstate_in(p, &p->attached, thread, r);
	w->is_attached = w->tstate != 0;
	if (!w->tstate)
		w->tstate = python_tstate_in(p, &p->sticky, thread, r);
	if (!w->tstate)
		return 0;
	w->inner = PYTHON_TSTATE_AT(r->window, p->tstate_interp);
	return python_enter(w, p, r);
}

/* Is the thread in another interpreter than the main one, so that it may have frames there too? */
static __always_inline int python_is_inner(const struct python_walk *w,
					   const struct python_process *p)
{
	return p->interpreters && w->inner && w->inner != python_read_pointer(p->interpreters + 8);
}

/*
 * After the frames of one interpreter: those that the same thread has in others, which called it.
 * Interpreters are listed newest first, which is the order in which they stand on the stack but for
 * odd programs. False: there are none (any more).
 */
static __always_inline int python_outer(struct python_walk *w, const struct python_process *p,
					struct python_reads *r)
{
	if (!w->interp && !python_is_inner(w, p))
		return 0;
	for (int i = 0; i < PYTHON_OUTER_MAX; i++) {
		__u64 tstate = w->next_tstate;

		if (!tstate) {
			w->interp = python_read_pointer(w->interp ? w->interp + p->interp_next
								  : p->interpreters);
			if (!w->interp)
				return 0;
			w->next_tstate = python_read_pointer(w->interp + p->interp_threads);
			continue;
		}
		w->next_tstate = 0;
		if (!python_read_tstate(p, tstate, r))
			continue;
		w->next_tstate = PYTHON_TSTATE_AT(r->window, p->tstate_next);
		if (tstate != w->tstate &&
		    PYTHON_TSTATE_AT(r->window, p->tstate_thread_id) == w->thread &&
		    python_enter(w, p, r))
			return 1;
	}
	return 0;
}

/* An anchor's entry: where on the C stack the activation of the frames before it is. */
static __always_inline void python_anchor(struct wire_python_frame *out, __u64 addr)
{
	out->addr = addr | WIRE_PYTHON_ANCHOR;
	out->position = 0;
	out->id = 0;
}

static __always_inline void python_next_cframe(struct python_walk *w,
					       const struct python_process *p)
{
	w->is_anchor_due = 0;
	w->cframe = w->cframe ? python_read_pointer(w->cframe + p->cframe_previous) : 0;
}

/* The key of what was noted in this sample's epoch. */
static __always_inline __u32 python_near_key(const struct python_reads *r, __u64 of)
{
	return (of + r->epoch * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL >> 32;
}

/*
 * The identity of a code object to 3.11: with the hash that its name keeps. That is noted in epochs
 * in which no interned str came or went: where such a one was, it is. words are the code object
 * from code_id on.
 */
static __always_inline __u32 python_named_id(const struct python_process *p, const __u64 *words,
					     __u64 words_hash, struct python_reads *r,
					     struct python_near_code *near)
{
	__u32 at = ((__u32)p->code_name - p->code_id) / sizeof(*words);
	__u32 key = python_near_key(r, words_hash), id;
	__u64 name[2] = { 0 }; /* hash and state */

	if (r->epoch && near->key == key && near->id)
		return near->id;
	OPAQUE(at);
	if (at < PYTHON_IDENTITY_WORDS && read_user(words[at] + p->str_hash, name, sizeof(name)))
		name[0] = name[1] = 0;
	id = python_identity_name(words_hash, name[0]);
	if (r->epoch && name[1] & PYTHON_STR_INTERNED) {
		near->key = key;
		near->id = id;
	}
	return id;
}

/* Begins to read for a sample of this number. */
static __always_inline void python_reads_begin(struct python_reads *r, __u32 sample)
{
	r->start = r->missed[0] = r->missed[1] = 0;
	r->sample = sample;
	r->n_codes = 0;
}

/* What a code object is known by, code_id_len bytes; NULL: it cannot be read. */
static __always_inline const __u64 *python_code_words(const struct python_process *p, __u64 code,
						      struct python_reads *r)
{
	__u64 len = p->code_id_len; /* 64 bits: what is compared is what is passed on */
	const __u64 *words = NULL;

	if (r->n_codes++ >= PYTHON_PAGES_AFTER)
		words = python_page_bytes(code + p->code_id, len, r->sample);
	if (words)
		return words;
	OPAQUE(len);
	if (len > sizeof(r->words) || read_user(code + p->code_id, r->words, len))
		return NULL;
	return r->words;
}

static __always_inline __u32 python_new_id(const struct python_process *p, __u64 code,
					   struct python_reads *r, struct python_near_code *near)
{
	const __u64 *words = python_code_words(p, code, r);
	__u64 hash;

	if (!words)
		return 0;
	hash = python_identity_words(words, p->code_id_len / sizeof(*words));
	return p->code_name ? python_named_id(p, words, hash, r, near)
			    : python_identity_name(hash, 0);
}

/* Objects are 256 bytes and more, the frames of a data stack 64. What is further away begins
   elsewhere (by the golden ratio), as the data stacks of all threads begin at a page's start. */
static __always_inline __u64 python_place(const struct python_process *p, __u64 frame)
{
	__u64 place = frame >> (p->anchor < PYTHON_ANCHOR_ENTRY ? 8 : 6);

	place += place / PYTHON_NEAR * 195;
	OPAQUE(place);
	return place & (PYTHON_NEAR - 1);
}

/*
 * What the interpreter counts or numbers, so that as long as it is the same, what was read of code
 * objects holds for those that are on a stack:
 *
 * - from 3.14 on an interpreter counts the code objects that it frees, before it does: who was
 *   alive then and is now is the same;
 * - 3.12 and 3.13 number those that they make, and stop at 0: where none was made since, none is in
 *   another's place;
 * - before that there is only the dict of interned strs, the names of functions among them, whose
 *   version is another one after each change (PEP 509): a name that was in it then and is referred
 *   to now is the same.
 *
 * False: nothing is counted.
 */
static __always_inline int python_stamp(const struct python_process *p, __u64 interp,
					struct python_epoch *out)
{
	__u64 at = p->made;

	out->stamp = 0;
	if (p->interned) {
		out->of = python_read_pointer(p->interned);
		return out->of &&
		       !read_user(out->of + PYTHON_DICT_VERSION, &out->stamp, sizeof(out->stamp));
	}
	out->of = 0;
	if (p->interp_freed || p->interp_made) {
		out->of = interp;
		at = out->of + p->interp_made;
		if (!out->of)
			return 0;
	}
	if (p->interp_freed)
		return !read_user(out->of + p->interp_freed, &out->stamp, sizeof(out->stamp));
	return at && !read_user(at, &out->stamp, sizeof(__u32)) && out->stamp;
}

/* Begins a sample: may it use what others before it read? */
static __always_inline void python_begin_epoch(struct python_reads *r,
					       const struct python_process *p, __u64 interp,
					       __u32 pid, __u32 image)
{
	struct python_epoch *last = &r->last_epoch, now;

	r->epoch = 0;
	if (!python_stamp(p, interp, &now))
		return;
	if (last->of != now.of || last->stamp != now.stamp || last->pid != pid ||
	    last->image != image)
		r->n_epochs++;
	last->of = now.of;
	last->stamp = now.stamp;
	last->pid = pid;
	last->image = image;
	r->epoch = r->n_epochs;
}

static __always_inline __u32 python_known_id(const struct python_process *p, __u64 code,
					     struct python_reads *r, struct python_near_code *near)
{
	struct python_known_code *known =
		&r->codes[(code >> 4 ^ code >> 9) & (PYTHON_KNOWN_CODES - 1)];

	if (known->addr != code || known->sample != r->sample) {
		known->id = python_new_id(p, code, r, near);
		known->addr = code;
		known->sample = r->sample;
	}
	return known->id;
}

/* What sets a frame's code object apart from the next one at its address; 0: it cannot be read. */
static __always_inline __u32 python_id(const struct python_process *p, __u64 frame, __u64 code,
				       struct python_reads *r)
{
	struct python_near_code *near = &r->near[python_place(p, frame)];
	__u32 key = python_near_key(r, code);

	if (!r->epoch || p->code_name)
		return python_known_id(p, code, r, near);
	if (near->key != key || !near->id) {
		near->id = python_known_id(p, code, r, near);
		near->key = key;
	}
	return near->id;
}

/* Does it stand below, and not far from, a frame that was seen? */
static __always_inline int python_is_near(const struct python_reads *r, __u64 frame)
{
	return r->start - frame < PYTHON_WINDOW_FIRST ||
	       r->missed[0] - frame < PYTHON_WINDOW_FIRST ||
	       r->missed[1] - frame < PYTHON_WINDOW_FIRST;
}

/* Reads the frame and what is below it on its page: a fault costs more than all frames. The frame
   ends where the window does. 0, or negative. */
static __always_inline int python_read_window(struct python_reads *r, __u64 frame, __u64 len)
{
	__u64 below = frame & (PYTHON_PAGE_LEN - 1), size;

	if (below > PYTHON_WINDOW_FIRST && r->start - frame >= PYTHON_WINDOW_FIRST)
		below = PYTHON_WINDOW_FIRST;
	size = below + len;
	OPAQUE(size);
	r->start = 0;
	if (size > sizeof(r->window) || read_user(frame - below, r->window, size))
		return -1;
	r->start = frame - below;
	r->last = below;
	return 0;
}

/* len bytes of a frame, in the window or beside it; NULL: unreadable. */
static __always_inline const __u8 *python_read_frame(struct python_reads *r, __u64 frame, __u64 len)
{
	__u64 at = frame - r->start;

	if (!r->start || at > r->last) {
		if (!python_is_near(r, frame) || python_read_window(r, frame, len)) {
			r->missed[1] = r->missed[0];
			r->missed[0] = frame;
			return read_user(frame, r->frame, len) ? NULL : r->frame;
		}
		at = frame - r->start;
	}
	OPAQUE(at); /* the verifier wants a bound at the sum */
	return &r->window[at & (PYTHON_WINDOW - 1)];
}

/* The generator or coroutine that a frame is of; 0: none. */
static __always_inline __u64 python_generator(const struct python_process *p, const __u8 *bytes,
					      __u64 frame, __u8 owner)
{
	if (p->frame_gen)
		return PYTHON_AT(bytes, __u64, p->frame_gen);
	return owner == PYTHON_WALK_GENERATOR ? frame - p->gen_frame : 0;
}

/*
 * One entry of the stack: the frame the walk is at, or the anchor behind it. 0, with w->frame 0
 * after the outermost one; or the counter that says why the chain cannot be followed.
 */
static __always_inline int python_step(struct python_walk *w, const struct python_process *p,
				       struct python_reads *r, struct wire_python_frame *out)
{
	__u64 len = p->frame_len, frame = w->frame, code;
	const __u8 *bytes;
	__u8 owner;

	w->gen = 0;
	if (w->is_anchor_due) {
		python_anchor(out, w->cframe);
		python_next_cframe(w, p);
		return 0;
	}
	OPAQUE(len);
	if (len > PYTHON_FRAME_MAX)
		return PYTHON_BROKEN;
	bytes = python_read_frame(r, frame, len);
	if (!bytes)
		return PYTHON_BROKEN;
	w->at = frame;
	w->frame = PYTHON_AT(bytes, __u64, p->frame_previous);
	if (w->frame == frame)
		return PYTHON_BROKEN;
	if (w->frame == w->base)
		w->frame = 0;
	owner = p->frame_owner ? PYTHON_AT(bytes, __u8, p->frame_owner) : 0;
	if (owner > PYTHON_WALK_LAST_OWNER)
		return PYTHON_BROKEN;
	if (owner >= PYTHON_WALK_FIRST_SHIM) {
		python_anchor(out, frame);
		return 0;
	}
	code = PYTHON_AT(bytes, __u64, p->frame_code) & ~7ULL; /* the low bits are tags */
	out->addr = code;
	out->position = p->is_lasti ? PYTHON_AT(bytes, __u32, p->frame_instr)
				    : (__u32)(PYTHON_AT(bytes, __u64, p->frame_instr) - code);
	out->id = python_id(p, frame, code, r);
	if (!out->id && ++w->n_faults > PYTHON_MAX_FAULTS)
		return PYTHON_BROKEN;
	if (p->has_tasks)
		w->gen = python_generator(p, bytes, frame, owner);
	w->is_anchor_due =
		p->anchor == PYTHON_ANCHOR_FRAME ||
		(p->anchor == PYTHON_ANCHOR_ENTRY && PYTHON_AT(bytes, __u8, p->frame_is_entry));
	return 0;
}

/* What a float in a variable of a frame is, as bits; 0 where there is none. */
static __always_inline __u64 python_read_float(const struct python_process *p, __u64 variable)
{
	__u64 object = python_read_pointer(variable) & ~7ULL; /* the low bits are tags */

	return object ? python_read_pointer(object + p->object_head) : 0;
}

/* Is there more to step to? */
static __always_inline int python_is_more(const struct python_walk *w)
{
	return w->frame || w->is_anchor_due;
}

#endif
