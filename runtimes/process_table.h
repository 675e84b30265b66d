/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of runtimes/process*.c: the table of processes. process.c owns it, process_event.c changes
 * it by what the kernel reports, process_read.c by what /proc says.
 */
#ifndef RUNTIMES_PROCESS_TABLE_H
#define RUNTIMES_PROCESS_TABLE_H

#include "bpf/counters.h"
#include "core/clock.h"
#include "runtimes/process.h"
#include "runtimes/python_share.h"
#include "symbolizer/jit_symbols.h"

/* A fork event and the start time in a sample are read off two clocks one after the other. */
#define BIRTH_SLACK_NS (2 * NS_PER_S)

struct entry {
	struct process p;
	struct entry *next; /* same bucket, newest first */
	uint64_t first_ns; /* CLOCK_MONOTONIC of the event that showed it; 0: it was there before */
	uint64_t birth_ns; /* boottime by the fork event, about; 0: unknown */
	uint64_t reread_at_ns, reread_wait_ns;
	uint64_t replaced_ns; /* when /proc first showed another program; 0: it does not */
	uint64_t n_lost;      /* records lost when its mappings were last known to be right */
	/* Pages of code: in the mappings of a generation, and how many more the kernel counts. */
	uint64_t n_pages;
	uint32_t pages_generation;
	int64_t beyond;
	bool has_beyond;
	int64_t odd; /* what it seemed to be at the last reading */
	uint32_t n_unexplained;
	uint64_t check_at_ns, check_wait_ns;
	bool is_start_exact; /* start_time_ns is the kernel half's, not rounded to a clock tick */
};

struct processes {
	struct intern *strings;
	struct files *files;
	struct python_images *pythons;
	struct entry **buckets;
	size_t n_buckets, n; /* a power of two */
	size_t check_next;   /* bucket whose processes are looked after next */
	uint32_t last_unique;
	uint64_t n_lost; /* records of the kernel's, so far */
	uint64_t tick_ns;
	struct jit_room jit_room;
	struct python_share python_share;
	bool wants_loops;
	uint64_t counters[N_COUNTERS];
	void (*drop)(void *ctx, struct process *proc);
	void *drop_ctx;
};

static inline bool is_near(uint64_t a, uint64_t b, uint64_t slack)
{
	return a <= b + slack && b <= a + slack;
}

/* process.c */
struct entry *table_add(struct processes *ps, pid_t pid);
void table_remove(struct processes *ps, struct entry *e);
/* The process that has this pid now, or had it last; NULL. */
struct entry *table_newest(const struct processes *ps, pid_t pid);
/* Forgets the program a process runs. */
void table_drop_image(struct processes *ps, struct entry *e);
/* The id of a string, 0 for "" and when there are too many. */
uint32_t table_string(struct processes *ps, const char *s, size_t len);
/* Sets the kind and path of a mapping by the kernel's name for it. */
void table_name_mapping(struct processes *ps, struct mapping *m, const char *name);

/* process_read.c */
/* A process that was there before it was heard of. start_time_ns 0: whichever has the pid. */
struct entry *table_read(struct processes *ps, pid_t pid, uint64_t start_time_ns);
/* Reads /proc/PID/maps again because of a pc that is nowhere, or 0 for any change (rate limited).
   True when it is somewhere now. */
bool table_read_again(struct processes *ps, struct entry *e, uint64_t pc);
/* Reads the maps again when the number of code pages says that some went or moved without a record
   (rate limited). True when files are mapped otherwise than was known. */
bool table_check_code(struct processes *ps, struct entry *e, uint32_t n_code_pages);
void table_read_container(struct processes *ps, struct process *proc);
/* Is the process that has the pid now the one of e? Also true when e's start is not known. */
bool table_is_alive(const struct processes *ps, const struct entry *e);

#endif
