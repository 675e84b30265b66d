/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a table (table.h) from ranges of addresses given in ascending order. Holes between them
 * get rule 0, neighbours with the same rule become one row, equal rules one rule.
 */
#ifndef UNWINDERS_TABLE_BUILDER_H
#define UNWINDERS_TABLE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "unwinders/table.h"

struct table_builder {
	uint32_t *words; /* header, directory, then rows */
	size_t n_words, cap_words, max_words;
	uint64_t first_page;
	uint32_t n_pages, page; /* page: of the last row */
	uint64_t pos, end;	/* everything below pos is written; nothing comes from end on */
	uint32_t rule;		/* holds at pos */
	uint64_t *rules;
	uint32_t n_rules, cap_rules;
	uint16_t *slots; /* hash of the rules: number + 1, 0 free */
	int err;	 /* the first error sticks */
};

/* Addresses from start up to end, both within 48 bits. max_words 0 is no cap. */
void table_builder_init(struct table_builder *b, uint64_t start, uint64_t end, size_t max_words);
/* The part of [from, to) that is not written yet. */
void table_builder_add(struct table_builder *b, uint64_t from, uint64_t to,
		       struct unwind_rule rule);
/* 0 and the words, to be freed; or the first error. The builder is empty afterwards. */
int table_builder_finish(struct table_builder *b, uint32_t **words, size_t *n_words);

#endif
