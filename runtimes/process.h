/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and their mappings over time. A process is (pid, start time). Its mappings follow the
 * kernel's side-band events (struct process_event), given in order of time; a process that was
 * there before weft is read from /proc once.
 *
 * Files are opened below the process's own root (/proc/PID/root with RESOLVE_IN_ROOT, or
 * /proc/PID/map_files for what has no path any more), never following a link out of it, and only
 * regular files; what cannot be opened keeps its offset, its path and, when the kernel could tell,
 * its build id.
 */
#ifndef RUNTIMES_PROCESS_H
#define RUNTIMES_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/mem.h"

struct jit_room;
struct object;
struct objects;
struct root;

enum process_event_type { PROCESS_FORK, PROCESS_EXEC, PROCESS_COMM, PROCESS_MMAP, PROCESS_EXIT };

struct process_event {
	enum process_event_type type;
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	pid_t pid, tid, parent; /* parent: PROCESS_FORK only; a new thread has pid == parent */
	/* PROCESS_MMAP, executable mappings only */
	uint64_t start, len, pgoff;
	uint64_t dev, ino, ino_generation;
	const char *name; /* path or [vdso], //anon, ...; comm for EXEC and COMM. Borrowed,
			     NUL-terminated */
};

enum mapping_kind {
	MAPPING_FILE,
	MAPPING_VDSO,
	MAPPING_ANON,
	MAPPING_OTHER /* [vsyscall], device, ... */
};

struct mapping { /* an executable mapping */
	uint64_t start, end, pgoff;
	uint64_t bias;	       /* pc - bias is the ELF virtual address; only with an object */
	struct object *object; /* NULL: not opened yet, or cannot be */
	uint32_t path;	       /* string id in the table's intern */
	uint32_t build_id;     /* the same, by process_learn_build_id(); 0: the object's, or none */
	uint8_t kind;	       /* enum mapping_kind */
	bool is_tried;	       /* opening was tried */
	int16_t open_err;      /* why there is no object, when it was tried */
	bool is_counted;       /* a sample missed the file and that was counted */
	uint64_t dev, ino;     /* 0: unknown; dev as makedev() */
	uint64_t ino_generation; /* sets a deleted file apart from the next with its inode */
};

struct process {
	pid_t pid, parent;
	pid_t ns_pid; /* in its own pid namespace, and its effective user: process_credentials() */
	uid_t uid;
	bool has_credentials;
	uint64_t start_time_ns; /* boottime, as the kernel half reads it; 0 unknown */
	uint64_t exit_time_ns;	/* 0: alive */
	uint32_t comm;		/* string id */
	uint32_t container;	/* string id; 0 none */
	/* Sorted by start, no overlaps. Shared with forked processes until one of them changes:
	   only runtimes/mappings.c moves them. */
	struct mapping *mappings;
	size_t n_mappings;
	/* Names this set of mappings: another number after every change, the same in a forked child
	   that changed nothing, never used again. */
	uint32_t generation;
	struct root *root; /* where its paths begin (runtimes/files.h); NULL: unknown */
	uint32_t serial;   /* of this program in this process; no two share it */
	/* What runtimes/jit.c knows of its code; goes with the program. */
	void *jit;
	void (*jit_free)(void *jit);
	size_t jit_memory;
	uint32_t jit_names; /* names this set of names, as generation does the mappings; 0: none */
	/* What runtimes/python.c knows of its interpreter; goes with the program. */
	void *python;
	void (*python_free)(void *python);
	size_t python_memory;
	struct mem_patience patience; /* for core/mem.h */
	bool is_stuck_counted;
	/* When to look again where its threads say their span (runtimes/thread_context.c); 0: not.
	 */
	uint64_t context_look_ns;
	bool is_from_proc; /* mappings were read from /proc/PID/maps */
	int maps_err;	   /* how the last reading of that ended: 0 or -errno */
	void *unwind;	   /* the live source's: what the kernel half knows of it */
};

struct processes;

struct processes *processes_new(struct objects *objects);
void processes_free(struct processes *ps);
int processes_apply(struct processes *ps, const struct process_event *ev);
/* The process that had this pid at this time; start_time_ns 0 is unknown. Reads /proc for one that
   is new. NULL: gone, nothing known of it. */
struct process *processes_find(struct processes *ps, pid_t pid, uint64_t start_time_ns,
			       uint64_t time_ns);
/* The mapping of a pc, its object opened; NULL when there is none (even after the maps were read
   again, which is rate limited). */
struct mapping *process_mapping(struct processes *ps, struct process *proc, uint64_t pc);
/* The same for an address that need not be a pc: never reads the maps again. */
struct mapping *process_known_mapping(struct processes *ps, struct process *proc, uint64_t pc);
/* For a process that was sampled: reads its maps again (rate limited) when a walk through it is
   suspect or code went away without a record, and once after records of the kernel's were lost.
   n_code_pages: what the kernel counts of it, 0 unknown. True when the mappings changed. */
bool process_recheck(struct processes *ps, struct process *proc, bool is_suspect,
		     uint32_t n_code_pages);
/* Says how many records the kernel lost so far. */
void processes_lost(struct processes *ps, uint64_t n);
/* Opens the files of all mappings now, so that they are there when the process is gone: for
   targets, after exec and mmap events. Costs nothing for files that are known. */
void process_open_files(struct processes *ps, struct process *proc);
/* The kernel found this build id (len bytes) in the file that pc was in, at that offset of it: for
   files that may never be opened. */
void process_learn_build_id(struct processes *ps, struct process *proc, uint64_t pc,
			    uint64_t offset, const uint8_t *id, size_t len);
/* Reads ns_pid and uid, once. False: the process was gone before anybody asked. */
bool process_credentials(struct processes *ps, struct process *proc);
/* Counts, once, a process that is not read any more because it kept us waiting. */
void process_count_stuck(struct processes *ps, struct process *proc);
const char *processes_string(const struct processes *ps, uint32_t id);
/* Forgets processes that exited before this time. */
void processes_expire(struct processes *ps, uint64_t before_ns);
size_t processes_memory(const struct processes *ps);
/* Counts of enum counter things that happened here (FILES_GONE, FILES_BAD, MAPS_REREAD). */
const uint64_t *processes_counters(const struct processes *ps);
/* What the names of all processes' generated code may take (symbolizer/jit_symbols.h); no limit
   at first. */
struct jit_room *processes_jit_room(struct processes *ps);
/* Event loops are looked for, too (runtimes/python_loop.h). */
void processes_want_loops(struct processes *ps);
/* A number never given out before: generations and the like. */
uint32_t processes_unique(struct processes *ps);
/* Counts one more of them. */
void processes_count(struct processes *ps, int counter);
/* Called before a process is forgotten or its image replaced, so that the live source can drop its
 * side. */
void processes_on_drop(struct processes *ps, void (*fn)(void *ctx, struct process *proc),
		       void *ctx);

#endif
