/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came of the things that events refer to, while a chunk is read: events that refer to the
 * same thread, stack, state, class and span are one sample of the profile.
 */
#ifndef JFR_SAMPLE_ROWS_H
#define JFR_SAMPLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/moment.h"
#include "jfr/worth.h"

enum scoped { SCOPED_UNKNOWN, SCOPED_NEVER, SCOPED_SOMETIMES };

struct sample_row {
	struct moment_refs refs;
	const char *state;	/* of the chunk's names */
	uint32_t stack, labels; /* of the profile */
	uint32_t sample;	/* of the profile; 0: none yet */
	uint16_t end;		/* of the stack: enum sample_count */
	uint8_t scoped;		/* enum scoped: is its thread ever in a span? */
	bool is_alone;		/* what it refers to does not say all there is: nobody finds it */
};

struct sample_rows { /* all zero at first */
	struct sample_row *items;
	struct worth *sums; /* of each, for whoever adds them up; nothing at first */
	size_t n, cap, sums_cap;
	uint32_t *slots; /* index + 1; 0: free */
	size_t n_slots;
};

void sample_rows_deinit(struct sample_rows *r);
void sample_rows_clear(struct sample_rows *r);
/* NULL: there is none. Until the next one is added. */
struct sample_row *sample_rows_find(const struct sample_rows *r, const struct moment_refs *refs);
/* Adds a copy of one that is not there. NULL: no memory. */
struct sample_row *sample_rows_add(struct sample_rows *r, const struct sample_row *row);

#endif
