/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire: records the kernel half puts into the ring buffer, native endian, each 8-byte aligned.
 * Included by BPF code, user space and tests; includes nothing of ours.
 */
#ifndef BPF_WEFT_H
#define BPF_WEFT_H

#include <linux/types.h>

#define MAX_USER_FRAMES 1024  /* the declared cap; what it cuts counts as truncated */
#define MAX_KERNEL_FRAMES 127 /* the kernel's own cap for bpf_get_stack */
#define WIRE_COMM_LEN 16
#define SNAPSHOT_PAGE 4096
#define WIRE_BUILD_ID_LEN 20 /* the longest the kernel looks at */
#define WIRE_MAX_BUILD_IDS 8

enum wire_record_type {
	WIRE_SAMPLE = 1,
	WIRE_SNAPSHOT_PAGE = 2,
	WIRE_BUILD_IDS = 3,
	WIRE_PYTHON = 4,
	WIRE_PYTHON_CODE = 5,
	WIRE_PYTHON_TASK = 6,
	WIRE_SPAN = 7,
	WIRE_WEIGHT = 8,
};

enum wire_sampler { WIRE_CPU, WIRE_CYCLES, WIRE_GIL };

enum wire_frame_kind {
	WIRE_FRAME_KERNEL = 1, /* addr: kernel text address */
	WIRE_FRAME_NATIVE = 2, /* addr: user pc as found: exact for a leaf or after a signal frame,
				  else the return address */
	WIRE_FRAME_PYTHON = 3,
	WIRE_FRAME_JAVA = 4,
	WIRE_FRAME_GO = 5,
};

enum wire_frame_flags {
	WIRE_FRAME_EXACT = 1, /* addr is the pc itself, not a return address */
	WIRE_FRAME_GUESSED = 2,
	WIRE_FRAME_TASK = 4, /* the coroutine of the sample's asyncio task; in user space only */
};

struct wire_frame {
	__u64 addr;
	__u32 extra; /* native: the low half of the stack pointer; Python: the position */
	__u8 kind, flags;
	__u16 pad;
}; /* 16 bytes */

/* Registers by DWARF number on x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8..r15, then rip. */
#define WIRE_N_REGS 17

struct wire_header {
	__u16 type;
	__u16 flags;
	__u32 len;
}; /* len: bytes of the whole record */

/* Followed by n_kernel + n_user frames, leaf first, kernel frames first. */
struct wire_sample {
	struct wire_header h;
	__u64 time_ns;	     /* CLOCK_MONOTONIC */
	__u64 id;	     /* of this sample: joins its snapshot pages; unique */
	__u64 start_time_ns; /* of the process (group leader's start_boottime): with pid its
				identity */
	__u64 cgroup_id;
	__u64 weight; /* what it is worth in the sampler's unit; cpu: the ns since the tick before;
			 0: a record of its own will say it */
	__u32 pid, tid, cpu;
	__u32 n_code_pages; /* the process has, executable and not writable */
	__u16 n_kernel, n_user;
	__u16 end;	       /* enum counter: why the user walk ended */
	__u16 n_pages;	       /* snapshot pages sent, when end is END_SNAPSHOT */
	__u16 snapshot_reason; /* enum counter: why the kernel half could not go on */
	__u16 sampler;	       /* enum wire_sampler */
	__u32 regs_flags;      /* WIRE_FRAME_EXACT when regs' rip is a pc, not a return address */
	char comm[WIRE_COMM_LEN]; /* of the thread */
	/* Where the kernel half stopped: registers to go on with when end is END_SNAPSHOT. The
	   first n_user frames are walked already; regs describe the next frame to push. Bits of
	   valid_regs say which of them hold (after the first frame only rip, rsp, rbp and what the
	   rules restored). */
	__u64 regs[WIRE_N_REGS];
	__u32 valid_regs, pad;
	struct wire_frame frames[];
};

/* What a sample is worth of which that was not known yet; comes after it. */
struct wire_weight {
	struct wire_header h;
	__u64 sample_id;
	__u64 weight;
	__u32 tid, pad; /* as in the sample */
};

/* One page of the user stack, upwards from the stack pointer. A page that was not resident is not
 * sent. */
struct wire_snapshot_page {
	struct wire_header h;
	__u64 sample_id;
	__u64 addr;	/* of bytes[0] */
	__u32 len, pad; /* bytes that hold */
	__u8 bytes[];
};

/* The file that code is of, as bpf_get_stack() writes it (struct bpf_stack_build_id). */
struct wire_build_id {
	__s32 status;		    /* BPF_STACK_BUILD_ID_VALID, else the rest says nothing */
	__u8 id[WIRE_BUILD_ID_LEN]; /* a shorter one ends in zeros */
	__u64 offset;		    /* of the pc in its file */
};

/* For a sample of a process whose mappings the kernel half does not know: its file may be gone when
   user space hears of it. The pcs are a walk by frame pointers, which may lead to anywhere; each is
   in the file that stands at the same place. */
struct wire_build_ids {
	struct wire_header h;
	__u64 sample_id;
	__u32 n, pad;
	__u64 pcs[WIRE_MAX_BUILD_IDS];
	struct wire_build_id files[WIRE_MAX_BUILD_IDS];
};

/* How all records begin that belong to a sample. */
struct wire_part {
	struct wire_header h;
	__u64 sample_id;
};

#define MAX_PYTHON_FRAMES 1024 /* anchors among them */

/* A bit of wire_python_frame.addr: no frame, but where on the C stack the frames before it belong.
 */
#define WIRE_PYTHON_ANCHOR 1

/* A frame of CPython's, or an anchor. */
struct wire_python_frame {
	__u64 addr;	/* of the code object; of an anchor: where it is on the C stack, and 1 */
	__u32 position; /* f_lasti, or the instruction's address less the code object's */
	__u32 id;	/* its identity, unwinders/python_identity.h; 0: it could not be read */
};			/* 16 bytes */

/* In the flags of the header. None: nobody can tell. */
enum wire_python_flags {
	WIRE_PYTHON_HOLDS_GIL = 1,
	WIRE_PYTHON_RELEASED_GIL = 2,
	WIRE_PYTHON_WAITS_FOR_GIL = 4,
	/* loop_ms is of the loop that the thread was seen to run last. It executes no task; the
	   thread may have just come back from its selector, and the time is from before. */
	WIRE_PYTHON_LOOP_UNSURE = 8,
};

/* How one asyncio task waits for another. */
enum wire_await {
	WIRE_AWAIT_AWAIT,
	WIRE_AWAIT_GATHER,
	WIRE_AWAIT_WAIT,
	WIRE_AWAIT_WAIT_FOR,
	WIRE_AWAIT_SHIELD,
	WIRE_AWAIT_TASK_GROUP,
	N_WIRE_AWAITS,
	WIRE_AWAIT_UNKNOWN = N_WIRE_AWAITS, /* not on the wire */
};

/*
 * The Python part of a stack, leaf first; comes before its sample. Behind its n frames come those
 * of the tasks that wait for the sample's asyncio task, the nearest first: of each one an entry
 * like an anchor, its position says how it waits (enum wire_await), then the coroutines that it is
 * suspended in, the outermost first.
 */
struct wire_python {
	struct wire_header h;
	__u64 sample_id;
	__u32 n;
	__u32 end;	 /* enum counter: PYTHON_* */
	__u64 loop_time; /* when the thread's event loop came back from its selector, the bits of a
			    double; 0: it runs none, is in there, or nobody asked */
	__u64 loop_ms;	 /* the same of uvloop's loops, a number of ms */
	__u32 n_parents; /* entries behind the n */
	__u32 has_parents; /* and these are all; 0: nobody asked, or user space has to look */
	struct wire_python_frame frames[];
};

/* A code object when it is first seen, for names: it may be gone when user space looks for it. */
enum wire_code_part { CODE_OBJECT, CODE_NAME, CODE_FILE, CODE_LINES, N_CODE_PARTS };

#define CODE_OBJECT_MAX 192
#define CODE_STRING_MAX 256 /* of its name, of its file's: the str objects from their start */
#define CODE_LINES_MAX 1024

struct wire_python_code {
	struct wire_header h;
	__u64 sample_id;
	__u64 addr; /* wire_python_frame.addr and .id */
	__u32 id;
	__u32 pad;
	struct {
		__u64 addr;
		__u32 len; /* bytes that hold: the rest was not in memory */
		__u32 pad;
	} parts[N_CODE_PARTS];
	__u8 object[CODE_OBJECT_MAX];
	__u8 name[CODE_STRING_MAX];
	__u8 file[CODE_STRING_MAX];
	__u8 lines[CODE_LINES_MAX];
};

#define WIRE_TASK_NAME_MAX 256
#define WIRE_TASK_CALLBACKS 3 /* words */

/* The coroutine of the task is not on the stack: a greenlet that it runs is. */
#define WIRE_TASK_ELSEWHERE 0xffffffffU

/* The asyncio task that the sample is of; comes before it. Without its name there is no record. */
struct wire_python_task {
	struct wire_header h;
	__u64 sample_id;
	__u64 addr; /* of its name: a str, or an int for "Task-%d" */
	__u32 len;  /* bytes that hold: the name may be longer or shorter */
	__u32 root; /* its coroutine's frame: place in the sample's struct wire_python, or ELSEWHERE
		     */
	__u64 task, coro;
	/* What its future will do when it is done (callback0, context0, callbacks): while that is
	   the same, so is who waits for it. Zeros unless the kernel half was asked for it. */
	__u64 callbacks[WIRE_TASK_CALLBACKS];
	__u8 name[WIRE_TASK_NAME_MAX]; /* the object from its start */
};

#define WIRE_SPAN_NAME_MAX 256

/* The trace and the span that the sample is of, neither of them zeros; comes before it. */
struct wire_span {
	struct wire_header h;
	__u64 sample_id;
	__u8 trace_id[16], span_id[8]; /* most significant byte first, as they are written */
	__u64 name_addr;
	__u32 name_len, pad; /* bytes that hold, at most WIRE_SPAN_NAME_MAX; 0: it has no name */
	__u8 name[];	     /* the str object from its start: the name may be longer or shorter */
};

/* What user space tells the kernel half of one executable mapping; sorted by start, not
 * overlapping. */
struct unwind_mapping {
	__u64 start; /* first address */
	__u64 len;
	__u64 bias;  /* pc - bias is the ELF virtual address */
	__u32 table; /* word index of the table's header in the table memory, 0 when not loaded */
	__u32 flags; /* enum unwind_mapping_flags */
};

enum unwind_mapping_flags {
	UNWIND_MAPPING_USER_ONLY =
		1, /* known to have no table (JIT code, no CFI): straight to a snapshot */
	UNWIND_MAPPING_UNIDENTIFIED = 2, /* of a file that nobody could open or identify */
};

#endif
