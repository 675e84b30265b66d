/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython 3.6 and later keep what a profiler reads: offsets in bytes inside the runtime, its
 * interpreters and thread states, frames, code objects and the objects these refer to, of builds
 * that are no debug builds, for the machine weft runs on.
 *
 * Up to 3.12 these are tables, made from the debug information of real interpreters; from 3.13 on
 * CPython describes itself in _Py_DebugOffsets, which _PyRuntime begins with. Either way it is what
 * is expected of a process and has to prove itself there.
 *
 * An offset of 0 means that the version has no such field, but for interp.next,
 * cframe.current_frame and frame.code, which really are at 0 in some.
 */
#ifndef RUNTIMES_PYTHON_LAYOUT_H
#define RUNTIMES_PYTHON_LAYOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* sys.hexversion; the last byte is the release level and its serial. */
#define PYTHON_VERSION(major, minor, micro) ((major) << 24 | (minor) << 16 | (micro) << 8 | 0xf0)
/* Before everything that is called so. */
#define PYTHON_FIRST(major, minor) ((uint32_t)((major) << 24 | (minor) << 16))
#define PYTHON_MINOR(version) ((version) >> 16 & 0xff)

/* The first bytes of _PyRuntime from 3.13 on, and how many of it are enough for any version. */
#define PYTHON_DEBUG_COOKIE "xdebugpy"
#define PYTHON_DEBUG_LEN 1024

/* struct _gil_runtime_state, the same in all versions from 3.7 on. */
enum python_gil {
	PYTHON_GIL_LAST_HOLDER = 8, /* a thread state */
	PYTHON_GIL_LOCKED = 16,	    /* int; -1: there is no GIL yet */
	PYTHON_GIL_COND = 32,	    /* who waits for it waits on a futex in [32, 80) */
	PYTHON_GIL_COND_END = 80,
	PYTHON_GIL_LEN = 80 + 48 + 2 * sizeof(pthread_mutex_t), /* and in what is behind it */
};

/* How the frames of a thread hang together. */
enum python_chain {
	PYTHON_FRAME_OBJECTS, /* to 3.9: thread.frame; one eval loop a frame */
	PYTHON_CFRAMES,	      /* 3.10: the same, and each eval loop has a CFrame on its stack */
	PYTHON_ENTRIES,	      /* 3.11: thread.cframe; is_entry ends the frames of one eval loop */
	PYTHON_SHIMS,	      /* from 3.12: a shim on the eval loop's stack ends its frames */
};

/* What frame.instr is. */
enum python_instr {
	PYTHON_INSTR_BYTES,   /* to 3.9: int, offset of the last instruction, -1 before it starts */
	PYTHON_INSTR_UNITS,   /* 3.10: the same in code units of two bytes */
	PYTHON_INSTR_POINTER, /* from 3.11: address of it; one unit before the code: not started */
};

enum python_lines {
	PYTHON_LNOTAB,	  /* co_lnotab, to 3.9 */
	PYTHON_LINETABLE, /* co_linetable of 3.10 */
	PYTHON_LOCATIONS, /* co_linetable from 3.11 on */
};

/* frame.owner, a byte, from 3.11 on; other values: not a frame. */
enum python_owner {
	PYTHON_OWNER_THREAD,
	PYTHON_OWNER_GENERATOR,
	PYTHON_OWNER_FRAME_OBJECT,
	PYTHON_OWNER_SHIM,  /* from 3.12: no Python function */
	PYTHON_OWNER_SHIM2, /* 3.14 only: the same */
};

struct python_layout {
	uint32_t version;
	bool is_free_threaded;
	uint8_t chain, instr, lines; /* enum python_chain, python_instr, python_lines */

	struct {		     /* _PyRuntime, from 3.7 on */
		uint16_t finalizing; /* a thread state; not 0 while the interpreter ends */
		uint16_t interpreters_head;
		uint16_t tstate_current; /* 3.7 to 3.11: the thread state that holds the GIL */
		uint16_t tss_key;	 /* to 3.14: int, pthread key of a thread's own state */
		uint16_t gil;		 /* 3.7 to 3.11: the GIL itself */
	} runtime;
	struct {		   /* PyInterpreterState */
		uint16_t next, id; /* id: int64_t */
		uint16_t threads_head;
		uint16_t gil;	      /* from 3.12: a pointer to the GIL */
		uint16_t modules;     /* sys.modules */
		uint16_t freed_codes; /* uint64_t: code objects that it freed; from 3.14 on */
	} interp;
	struct {	       /* PyThreadState */
		uint16_t size; /* from 3.13 */
		uint16_t next, interp;
		uint16_t frame;		   /* to 3.10 */
		uint16_t cframe;	   /* 3.10 to 3.12 */
		uint16_t current_frame;	   /* from 3.13 */
		uint16_t base_frame;	   /* from 3.15: where every chain ends */
		uint16_t thread_id;	   /* pthread_self() */
		uint16_t native_thread_id; /* from 3.11: in the thread's own pid namespace */
		uint16_t status;	   /* from 3.12: bit field */
		uint16_t state;		   /* from 3.13: int; 0 detached, 1 attached */
		uint16_t holds_gil, gil_requested; /* int, from 3.14 and 3.15 */
		uint16_t context;		   /* from 3.7: contextvars */
	} thread;
	struct { /* CFrame, _PyCFrame: 3.10 to 3.12, on the eval loop's stack */
		uint16_t current_frame; /* not in 3.10 */
		uint16_t previous;
	} cframe;
	struct {	       /* PyFrameObject to 3.10, then _PyInterpreterFrame */
		uint16_t size; /* so many bytes hold all these fields */
		uint16_t code; /* from 3.13 any object; mask off the lowest two bits from 3.14 on */
		uint16_t previous;
		uint16_t instr;
		uint16_t owner, is_entry;
		uint16_t localsplus;
		uint16_t tlbc_index; /* int32_t: which copy of the code, free-threaded from 3.14 on
				      */
	} frame;
	struct {				      /* PyCodeObject */
		uint16_t size;			      /* so many bytes hold all these fields */
		uint16_t argcount, flags, first_line; /* int */
		uint16_t filename, name;
		uint16_t qualname; /* from 3.11 */
		uint16_t linetable;
		uint16_t code; /* to 3.10: a bytes object; then the first instruction itself */
		uint16_t tlbc; /* free-threaded from 3.14 on: copies of the code */
		/* What tells a code object from the next one at its address: see
		 * unwinders/python_identity.h. */
		uint16_t id_off, id_len;
		bool id_needs_name;
	} code;
	struct { /* PyObject, PyVarObject */
		uint16_t type, size;
	} object;
	struct { /* str; its text is behind the header of its form */
		uint16_t length, hash, state;
		uint16_t ascii_header,
			compact_header; /* a pointer to the text where it is not compact */
		uint8_t kind_bit; /* bits of state: kind is 3 wide, then compact, then ascii */
	} str;
	struct {
		uint16_t size, data;
	} bytes;
	struct {
		uint16_t size, items;
	} tuple;
	struct {
		uint16_t tag; /* to 3.11 ob_size, whose sign is the number's; then number of digits
				 << 3 */
		uint16_t digits; /* uint32_t of 30 bits */
	} integer;
	struct {
		uint16_t name, basicsize, flags, dictoffset;
	} type;
};

/* The layout of 3.6 to 3.12. -ENOTSUP: another version, a pre-release, free-threaded. */
int python_layout_of_version(uint32_t version, bool is_free_threaded, struct python_layout *out);

/*
 * What _Py_DebugOffsets says, from 3.13 on; bytes of what is behind it do not matter.
 * -EBADMSG: another cookie, cut short, or offsets that cannot be: no field is outside of its group.
 * -ENOTSUP: a version that is newer than this program, or a pre-release. `out` then holds what it
 * says of itself, and where all of it makes sense when read as the newest version known, a whole
 * layout (frame.size is not 0), which may be tried.
 */
int python_layout_parse(const void *bytes, size_t len, struct python_layout *out);

#endif
