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
	size_t memory; /* of the blocks */
};

void sample_table_deinit(struct sample_table *t);
size_t sample_table_memory(const struct sample_table *t);
/* Adds to the row of this stack and these labels. n_values counts for the first row only. Its
   index + 1; 0: no memory. values: NULL for nothing. */
uint32_t sample_table_add(struct sample_table *t, size_t n_values, uint32_t stack, uint32_t labels,
			  uint64_t time_ns, const int64_t *values);
struct sample *sample_table_at(const struct sample_table *t, size_t index); /* it is there */
/* Leaves out the values whose bit (1 << index) is not set. */
void sample_table_keep(struct sample_table *t, uint32_t kept);

#endif
