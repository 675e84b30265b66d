/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the chunks of one JVM share, wherever they lie: names that a later chunk refers to, settings
 * and facts that are written only once, and the interpreter of their events. A JVM is found by
 * where its files are and by chunks that follow each other in time and ticks; never are two taken
 * for one.
 */
#ifndef JFR_JVMS_H
#define JFR_JVMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk_header.h"
#include "jfr/interpreter.h"

struct chunk;
struct metadata;
struct names;

struct jvm {
	char *place;		     /* the directory of its files */
	struct chunk_header last;    /* of the chunk that was read last */
	struct chunk_header reading; /* of the one that its user reads, as it was then */
	struct chunk_header awaited; /* of the last one that waits for it, and since when */
	uint64_t awaited_ns;
	struct names *older[2];	   /* newest first */
	struct metadata *metadata; /* of that chunk: the next one may share it */
	struct interpreter interpreter;
	unsigned int n_users;
	uint64_t used;	 /* a count: when it was given out last */
	double line_len; /* bytes that one of its events took, on average; 0: unknown */
};

struct jvms { /* all zero at first */
	struct jvm **items;
	size_t n, cap;
	size_t max; /* that are kept without a user; 0: 64 */
	uint64_t n_given;
	/* Read last, of whatever JVM: most of a machine's are of one version, and share it. */
	struct metadata *common;
};

void jvms_deinit(struct jvms *jvms); /* none has a user any more */
/* The JVM of a chunk: one whose last chunk it follows, or a new one. NULL: no memory. */
struct jvm *jvms_get(struct jvms *jvms, const char *place, const struct chunk_header *h);
void jvms_put(struct jvms *jvms, struct jvm *jvm);
/* Is the chunk before this one still being read, or waits itself? It has names which this one may
   need. To be asked again soon, of all that wait. Each is committed by itself: would its names be
   passed on before, one that the disk did not take would be exported again without. */
bool jvms_should_wait(struct jvms *jvms, const char *place, const struct chunk_header *h);
/* The chunk was read to its end: its names are the JVM's now. */
void jvm_keep(struct jvm *jvm, struct chunk *c);

#endif
