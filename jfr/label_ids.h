/* SPDX-License-Identifier: Apache-2.0 */
/* The labels of samples of recordings in a profile: which ids sets of them have there. */
#ifndef JFR_LABEL_IDS_H
#define JFR_LABEL_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "jfr/moment.h"

struct span_scope;
struct spans;

#define N_CACHED_LABELS 256
#define MAX_COMMON 4

/* Labels that many samples have in common are put together once. */
struct cached_labels {
	struct moment_refs refs; /* without the stack */
	uint32_t labels;	 /* 0: free */
};

struct cached_in_scope {
	int64_t scope; /* its id */
	uint32_t base; /* what they are without it */
	uint32_t labels;
};

struct label_ids {
	struct profile *p;
	struct cached_labels made[N_CACHED_LABELS]; /* of one chunk, as those */
	struct cached_in_scope in_scope[N_CACHED_LABELS];
	const char *name; /* of a span of this chunk, asked for last, and its id */
	uint32_t name_str;
	struct label common[MAX_COMMON];
	size_t n_common;
	uint32_t thread_key, tid_key, java_tid_key, state_key, class_key, mode_key;
	uint32_t trace_key, span_key, name_key, tag_key, root_key, operation_key;
};

void label_ids_init(struct label_ids *l, struct profile *p); /* l is all zero */
/* Another chunk begins, or the common labels change. */
void label_ids_forget(struct label_ids *l);
/* A label that all have from here on; "": none has it any more. */
void label_ids_set_common(struct label_ids *l, const char *key, const char *value);
uint32_t label_ids_of(struct label_ids *l, struct moment *m);
/* Those labels, and those of a scope. */
uint32_t label_ids_in(struct label_ids *l, uint32_t base, const struct spans *spans,
		      const struct span_scope *scope);
/* Has it ids in itself? They are told apart by nothing it refers to. */
bool label_ids_are_own(const struct moment *m);

#endif
