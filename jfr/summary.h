/* SPDX-License-Identifier: Apache-2.0 */
/* What recordings hold, in numbers: events by type, garbage collections, and what JVMs did else. */
#ifndef JFR_SUMMARY_H
#define JFR_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/gauges.h"
#include "jfr/interpreter.h"
#include "jfr/sums.h"

struct intern;

struct type_sum {
	uint64_t count, bytes;
};

/* Collections of one collector for one cause. */
struct gc_sum {
	char name[64], cause[64];
	uint64_t count;
	int64_t pause_ns,
		longest_ns; /* of the program, which a collection may stop several times */
	int64_t duration_ns;
};

#define MAX_GC_SUMS 64 /* what comes then is added to the last */

struct summary {
	struct intern *names; /* of types; id - 1 is the index of its sum */
	struct type_sum *types;
	size_t types_cap;
	struct gc_sum gcs[MAX_GC_SUMS];
	size_t n_gcs;
	struct sums sums;
	struct gauges gauges;
	int64_t dropped;  /* bytes of events for which the JVM had no room (jdk.DataLoss) */
	bool only_counts; /* nobody asks for more than events by type */
	const struct jvm_facts *facts; /* of the JVM whose chunk is read */
	int err;
};

/* 0 or -ENOMEM. The facts are borrowed. */
int summary_init(struct summary *s, const struct jvm_facts *facts);
void summary_deinit(struct summary *s);
struct moment_sink summary_sink(struct summary *s);
/* Adds to the sum of a type that is not in event_types: metadata and checkpoints. */
void summary_add(struct summary *s, const char *type, uint64_t count, uint64_t bytes);
/* Adds what came behind it; errors are in into->err. */
void summary_merge(struct summary *into, const struct summary *from);
/* Has it so many sums that some of them may be of several things? Then no merge parts them. */
bool summary_is_full(const struct summary *s);
size_t summary_n_types(const struct summary *s);
const char *summary_type(const struct summary *s, size_t index, struct type_sum *sum);

#endif
