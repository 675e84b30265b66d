/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What spans are called, by their ids: events that say so (io.opentelemetry.trace.Span) are written
 * when the span ends, after the scopes in which it was current.
 */
#ifndef JFR_SPAN_NAMES_H
#define JFR_SPAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/text_room.h"

struct intern;

struct named_span {
	uint64_t ids[2]; /* hashes of its own and its trace's */
	uint32_t name;	 /* among the texts; 0: a free slot */
	uint32_t number; /* how many were named before it */
};

struct span_names { /* all zero at first */
	struct named_span *slots;
	size_t n, n_slots;
	struct intern *texts;  /* of the names; NULL at first */
	struct text_room room; /* for whoever reads one */
};

void span_names_deinit(struct span_names *s);
void span_names_clear(struct span_names *s);
/* 0 or -ENOMEM. Of more spans than there is room for the names are not kept. */
int span_names_add(struct span_names *s, const char *trace_id, const char *span_id,
		   const char *name);
/* Adds those of another one as if they came behind its own, one after the other. */
int span_names_append(struct span_names *s, const struct span_names *from);
/* NULL: nothing says so. It lives until the names are cleared. */
const char *span_names_find(const struct span_names *s, const char *trace_id, const char *span_id);

#endif
