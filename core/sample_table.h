/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a profile: one row for each stack and label set, with as many values as the
   profile has sample types. */
#ifndef CORE_SAMPLE_TABLE_H
#define CORE_SAMPLE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

struct intern;

struct sample_table {	     /* all zero at first */
	struct intern *keys; /* { stack, labels } of row id - 1 */
	uint64_t **blocks;   /* struct sample after struct sample, each with its values */
	size_t n, n_values, n_blocks, blocks_cap;
	uint32_t columns;	   /* that rows have values of: bits */
	uint8_t place[MAX_VALUES]; /* of a column that they have, among these */
	size_t memory;		   /* of the blocks */
};

void sample_table_deinit(struct sample_table *t);
size_t sample_table_memory(const struct sample_table *t);
/* Adds to the row of this stack and these labels. columns count for the first row only; values are
   theirs, or NULL for nothing. Its index + 1; 0: no memory. */
uint32_t sample_table_add(struct sample_table *t, uint32_t columns, uint32_t stack, uint32_t labels,
			  uint64_t time_ns, const int64_t *values);
/* It is there; with a value for each of the table's columns. */
struct sample *sample_table_at(const struct sample_table *t, size_t index);
/* Rows have these columns, too. 0 or -ENOMEM. */
int sample_table_widen(struct sample_table *t, uint32_t columns);
/* Rows have these columns and no others, which from now on are the first ones. 0, or -ENOMEM and no
   rows. */
int sample_table_keep(struct sample_table *t, uint32_t kept);

#endif
