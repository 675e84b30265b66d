/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What JVMs did beside their programs, summed up by name: pauses of collections, operations at
 * safepoints, compilations; and how busy threads were, where the JVM says it.
 */
#ifndef JFR_SUMS_H
#define JFR_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_row;
struct moment;

enum sum_kind {
	/* Whole pauses; their phases of level 1 to 4 lie within them, and the pauses within
	   collections. */
	SUM_PAUSE,
	SUM_SAFEPOINT,	 /* by operation, and how long it took to get there */
	SUM_COMPILATION, /* by compiler */
	SUM_METHOD,	 /* that the JVM was asked to time, by name */
	SUM_THREAD,	 /* by name; their load is of one CPU: 0.5 is half of it */
	N_SUM_KINDS
};

struct named_sum {
	char name[128];
	uint64_t count;
	int64_t total_ns, longest_ns;
	double load; /* sum, of all times that the JVM said it */
};

#define MAX_SUMS 128 /* of a kind; what comes then is "(others)" */

struct sums { /* all zero at first */
	struct named_sum items[N_SUM_KINDS][MAX_SUMS];
	size_t n[N_SUM_KINDS];
};

bool sums_wants(const struct event_row *row);
/* n_cpus: of the machine, 0 when it is unknown; its JVM's load of threads is a part of all. */
void sums_take(struct sums *s, struct moment *m, int64_t n_cpus);
/* Adds what came behind it. */
void sums_merge(struct sums *into, const struct sums *from);
bool sums_are_full(const struct sums *s); /* some are "(others)" */
/* "gcPauses", for documents; and what people call it. */
const char *sum_kind_key(enum sum_kind kind);
const char *sum_kind_title(enum sum_kind kind);

#endif
