/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a walk of CPython's frames needs to know of one process, and where it is. Filled by
 * runtimes/python.c, read by the kernel half and by tests on the host.
 *
 * Offsets are in bytes; 0 says that this version has no such field, unless it is said otherwise.
 */
#ifndef UNWINDERS_PYTHON_WALK_H
#define UNWINDERS_PYTHON_WALK_H

#include <linux/types.h>

#include "unwinders/python_await.h"
#include "unwinders/python_identity.h"
#include "unwinders/python_span.h"

#define PYTHON_FRAME_MAX 128  /* bytes of a frame that are read at once */
#define PYTHON_TSTATE_MAX 256 /* and of a thread state */
/* Interpreters and threads that are asked for frames of a thread that is in a sub-interpreter: some
   40 us of a sample that has to ask so many. */
#define PYTHON_OUTER_MAX 128

/* Where a thread finds its own thread state. */
enum python_slot {
	PYTHON_SLOT_NONE,
	PYTHON_SLOT_HOLDER,   /* *where: of whoever holds the GIL, so it may be another thread's */
	PYTHON_SLOT_KEY,      /* pthread_getspecific(): where is of its key, an int */
	PYTHON_SLOT_STATIC,   /* *(thread pointer + where) */
	PYTHON_SLOT_MODULE,   /* the same, from where the thread has the variables of a module */
	PYTHON_SLOT_MUSL_KEY, /* as KEY and MODULE, where the C library is musl */
	PYTHON_SLOT_MUSL_MODULE,
};

/* What on the C stack a Python frame can be told to belong to: the anchor. */
enum python_anchor {
	PYTHON_ANCHOR_NONE,  /* 3.6 to 3.9: nothing; every frame is one eval function's */
	PYTHON_ANCHOR_FRAME, /* 3.10: the CFrame of each frame */
	PYTHON_ANCHOR_ENTRY, /* 3.11: the CFrame of each frame with is_entry */
	PYTHON_ANCHOR_SHIM,  /* 3.12 on: a frame of its own, outside the frames of one activation */
};

struct python_slot_at {
	__u64 where;
	__u32 kind;   /* enum python_slot */
	__u32 module; /* its number, for PYTHON_SLOT_MODULE */
};

struct python_process {
	__u64 serial; /* another one each time that user space says something:
			 bpf/python_known.bpf.h */
	__u64 vdso;   /* as in struct unwind_process */
	struct python_slot_at attached, sticky; /* tried in this order */
	__u64 interpreters; /* address of their head, behind it is the main one */
	__u64 made;	    /* 3.12: address of such a number for all interpreters */
	__u64 interned;	    /* to 3.11: address of the pointer to the dict of all interned strs */
	__u16 tstate_len;   /* bytes to read: the fields below lie in them */
	__u16 tstate_thread_id; /* pthread_self() */
	__u16 tstate_frame;	/* the innermost frame, or 0: it is in the CFrame */
	__u16 tstate_cframe;
	__u16 tstate_base; /* 3.15: the frame that ends each chain, no function */
	__u16 tstate_interp;
	/* What must not have changed for code objects to be what they were: python_stamp(). */
	__u16 interp_freed; /* 64 bits: how many an interpreter freed; from 3.14 on */
	__u16 interp_made;  /* 32 bits: how many it made; 0: it counts no longer; 3.13 */
	/* Who has frames where; of no meaning while interpreters is 0. */
	__u16 tstate_next;
	__u16 interp_next; /* may be 0 */
	__u16 interp_threads;
	__u16 cframe_frame; /* may be 0 */
	__u16 cframe_previous;
	__u16 frame_len;  /* bytes to read: all fields lie in them */
	__u16 frame_code; /* may be 0 */
	__u16 frame_previous;
	__u16 frame_instr;    /* f_lasti, prev_instr or instr_ptr */
	__u16 frame_owner;    /* a byte */
	__u16 frame_is_entry; /* a byte; 3.11 */
	__u16 code_id,
		code_id_len; /* what a code object is known by: unwinders/python_identity.h */
	__u16 code_name;     /* its name, and what to add of that; 0: nothing */
	__u16 str_hash;
	__u16 code_len; /* bytes of a code object that hold the fields below */
	__u16 code_shown_name, code_file, code_lines;
	/* asyncio; of no meaning while has_tasks is 0 */
	__u64 current_tasks; /* to 3.13: the dict from loops to the tasks they execute */
	__u16 tstate_task;   /* from 3.14 on: the task that the thread executes */
	__u16 tstate_loop;   /* 3.13: the loop that it runs */
	__u16 tstate_dict;   /* to 3.12: a dict that has that */
	__u16 task_coro;
	__u16 task_callbacks;	       /* what its future will do: callback0, context0, callbacks */
	__u16 task_name, gen_qualname; /* a pointer to a str or an int; 3.7 has the coroutine's */
	__u16 frame_gen;	       /* to 3.10: the generator that the frame is of */
	__u16 gen_frame;	       /* from 3.11 on: where in its generator a frame is */
	__u16 dict_keys;
	__u16 keys_entries, keys_count; /* in the keys of a dict */
	/* The GIL, or where interpreters point to theirs; and where in it threads wait. */
	__u64 gil;
	__u16 interp_gil;
	__u16 gil_wait, gil_wait_len;
	__u8 has_log2_keys; /* from 3.11 on: how they say their size */
	__u8 has_tasks;
	__u8 anchor;   /* enum python_anchor */
	__u8 is_lasti; /* frame_instr is an int, not a pointer */
	__u8 has_gil;  /* a thread that is attached holds it */
	struct python_spans spans;
	struct python_awaits awaits;
	struct python_workers workers;
	__u64 loop_code;   /* of the method that is a turn of asyncio's loop; 0: nobody asks */
	__u64 loop_time;   /* in its frames: a float, when the loop came back from its selector */
	__u64 object_head; /* bytes before the first field of an object; 0: nobody asks for loops */
};

/* Owners of frames, a byte: from the first on they are no Python functions. */
#define PYTHON_WALK_GENERATOR 1
#define PYTHON_WALK_FIRST_SHIM 3
#define PYTHON_WALK_LAST_OWNER 4

/* Code objects of one stack that cannot be read: each costs some frames' time, and an honest
   process has hardly one that is not in memory while it runs. */
#define PYTHON_MAX_FAULTS 64

/* Where a walk is. */
struct python_walk {
	__u64 thread;		   /* pthread_self() */
	__u64 tstate;		   /* the innermost one, where it began */
	__u64 inner;		   /* its interpreter */
	__u64 frame;		   /* 0: the end */
	__u64 at;		   /* the last frame */
	__u64 base;		   /* where the chain ends, 0: nowhere else */
	__u64 cframe;		   /* of the activation it is in */
	__u64 gen;		   /* of the last frame; 0: it is none's, or nobody asks */
	__u64 interp, next_tstate; /* how far others were asked for outer frames */
	__u32 is_anchor_due;
	__u32 n_faults;
	__u32 is_attached; /* the thread may run Python code now: it holds the GIL */
};

#define PYTHON_WINDOW 4096 /* a page */
#define PYTHON_WINDOW_FIRST \
	1024		      /* of which so much is read before it shows that frames go on in it */
#define PYTHON_KNOWN_CODES 32 /* a power of two */

/* An identity that was worked out already. Only in the same sample: what is on a stack is not
   freed meanwhile. */
struct python_known_code {
	__u64 addr;
	__u32 id;
	__u32 sample;
};

/*
 * What is noted of frames, by the frames' own places, so that neighbours are side by side, where a
 * tick finds them in a few lines of memory, and a stack finds what its last sample left.
 */
#define PYTHON_NEAR 512 /* a power of two */

struct python_near_code {
	__u32 key, id; /* an identity that holds in one epoch, which is in the key */
	__u32 shown;   /* a mark of what user space knows: bpf/python_code.bpf.h */
};

/* Pages of code objects: unwinders/python_pages.bpf.h. */
#define PYTHON_PAGE_LEN 4096
#define PYTHON_PAGES_AFTER 16 /* code objects: fewer are not worth the looking up */
#define PYTHON_PAGES 64	      /* a power of two */
#define PYTHON_PAGES_LEN 8192 /* as well */
#define PYTHON_PAGES_BEGIN 8

struct python_page {
	__u64 addr;	 /* of the page */
	__u32 sample;	 /* that asked for it last */
	__u32 at;	 /* how far pages->used was when this sample read it; 0: it did not */
	__u16 n;	 /* how often it was asked for */
	__u16 low, high; /* what it was asked for lies between them */
	__u16 pad;
};

struct python_pages {
	struct python_page items[PYTHON_PAGES];
	__u32 sample;					/* that read the bytes */
	__u32 used;					/* bytes, since it began */
	__u8 bytes[PYTHON_PAGES_LEN + PYTHON_PAGE_LEN]; /* the last ones; pages are whole */
};

/* What must not have changed for what was noted to hold: python_stamp(). */
struct python_epoch {
	__u64 of, stamp;
	__u32 pid, image; /* image: another number for each process and program in it */
};

/* What the steps of a walk read into; all zeros at first. Each read costs as much as the rest of a
   step, and from 3.11 on the frames of a thread lie one above the other: so they are read in larger
   pieces, where the last ones stood close together. */
struct python_reads {
	__u64 start;	 /* address of window[0]; 0: there is nothing in it */
	__u64 missed[2]; /* frames that were not in it: of two places, as shims lie elsewhere */
	__u32 sample;	 /* a number for each walk: user memory changes between them */
	__u32 last;	 /* where in the window the last whole frame begins */
	__u32 n_codes;	 /* that were read for this sample */
	__u32 pad;
	__u8 window[PYTHON_WINDOW + PYTHON_FRAME_MAX];
	__u8 frame[PYTHON_FRAME_MAX]; /* one that is alone; and whatever a caller reads */
	__u64 words[PYTHON_IDENTITY_WORDS];
	struct python_known_code codes[PYTHON_KNOWN_CODES];
	struct python_epoch last_epoch; /* of the last sample that had one */
	__u32 n_epochs;
	__u32 epoch; /* of this one; 0: it has none */
	struct python_near_code near[PYTHON_NEAR];
};

#endif
