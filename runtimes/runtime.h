/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime explains the frames of one language: it turns wire frames of its kind into locations of
 * the profile. Native, kernel and JIT code with a perf map now; CPython, HotSpot and Go are further
 * rows of the table in runtimes/runtime.c.
 */
#ifndef RUNTIMES_RUNTIME_H
#define RUNTIMES_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/weft.h"

struct explain;
struct kallsyms;
struct objects;
struct process;
struct processes;
struct profile;
struct runtime;

/* What the frames of a profile are explained with. Borrowed; kernel may be NULL. */
struct runtime_env {
	struct processes *processes;
	struct objects *objects;
	struct kallsyms *kernel;
	struct profile *profile;
	struct runtime *runtimes; /* all of them, in the order of the table */
	bool is_eval_shown;	  /* the interpreter's own frames that run Python ones */
	bool is_logical;	  /* what waits for an asyncio task stands behind it */
};

/* A frame of a sample. */
struct frame_at {
	struct process *proc; /* NULL: unknown */
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	const struct wire_frame *frame;
};

/* How long the same frame of the same process is at the same location. */
enum keep {
	KEEP_NOT,
	KEEP_WITH_MAPPINGS, /* as long as process.generation stays */
	KEEP_WITH_NAMES,    /* as long as process.jit_names stays */
};

struct runtime_ops {
	const char *name;
	uint8_t frame_kind; /* enum wire_frame_kind; 0: only what another runtime hands over */
	size_t priv_size;
	/* The location of a frame (inlined calls are lines of it); 0: it is none of mine. */
	uint32_t (*locate)(struct runtime *rt, const struct frame_at *at, enum keep *keep);
	/* Called before the frames of a sample. Optional, as all that follows. */
	void (*before_sample)(struct runtime *rt, struct process *proc, uint64_t time_ns);
	/* Names the locations made so far that have no lines, until is_stopped (may be NULL) says
	   so. Returns how many were left: they stay LOCATION_UNSYMBOLIZED. */
	size_t (*symbolize)(struct runtime *rt, bool (*is_stopped)(void));
	/* The program of a process is about to be forgotten. */
	void (*drop)(struct runtime *rt, struct process *proc);
	void (*close)(struct runtime *rt);
	size_t (*memory)(const struct runtime *rt);
};

struct runtime {
	const struct runtime_ops *ops;
	struct runtime_env *env;
	void *priv; /* priv_size bytes, zeroed at first */
};

/* Ends with a NULL. */
extern const struct runtime_ops *const runtimes[];
extern const struct runtime_ops runtime_native, runtime_kernel, runtime_jit, runtime_python;

/* A location that is no code of a file: one line with a name, at an address (0: none). */
uint32_t runtime_named_location(const struct runtime_env *env, int kind, uint64_t address,
				const char *name);
/* Asks another runtime; 0 when it does not know either. */
uint32_t runtime_ask(const struct runtime *rt, const struct runtime_ops *other,
		     const struct frame_at *at, enum keep *keep);

/* Makes locations out of wire frames, with caches: one for a profile being filled. */
struct explain *explain_new(struct processes *ps, struct objects *os, struct kallsyms *kernel,
			    struct profile *p);
void explain_free(struct explain *ex);
/* From now on the interpreter's frames that run Python ones are shown, or hidden, as at first. */
void explain_show_eval(struct explain *ex, bool is_shown);
/* From now on the stacks of asyncio tasks are logical: behind the task's frames come those of the
   tasks that wait for it, instead of the event loop's. */
void explain_logical(struct explain *ex, bool is_logical);
/* The stack of a sample as it was walked. */
struct walked {
	const struct wire_frame *frames; /* leaf first */
	size_t n;
	int end;				     /* enum counter: why the walk ended */
	const struct wire_python *python;	     /* NULL: none */
	const struct wire_python_task *task;	     /* NULL: none */
	const struct wire_python_code *const *codes; /* that were first seen in it */
	size_t n_codes;
};

#define MAX_EXPLAINED (MAX_KERNEL_FRAMES + MAX_USER_FRAMES + MAX_PYTHON_FRAMES + 2)

/* The locations of a sample's frames, leaf first, as they were at time_ns; proc may be NULL
   (unknown). out has room for MAX_EXPLAINED. An incomplete walk gets a [truncated] or
   [broken: reason] mark as its root. Returns how many. */
size_t explain_stack(struct explain *ex, struct process *proc, uint64_t time_ns,
		     const struct walked *stack, uint32_t *out);
/* The location of a mark: what stands for frames, named so. */
uint32_t explain_mark(struct explain *ex, const char *name);
/* Names every location that has none yet; call before the profile is exported. It may take long:
   is_stopped (NULL: never) is asked before each location of a file. Returns how many it left
   LOCATION_UNSYMBOLIZED, for another call or another program: build id and address are there. */
size_t explain_symbolize(struct explain *ex, bool (*is_stopped)(void));
void explain_drop_process(struct explain *ex, struct process *proc);
size_t explain_memory(const struct explain *ex);

#endif
