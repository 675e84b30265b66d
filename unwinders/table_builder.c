// SPDX-License-Identifier: Apache-2.0
#include "unwinders/table_builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MASK ((1u << TABLE_PAGE_BITS) - 1)
#define N_SLOTS (1u << 17) /* twice as many as there can be rules */
#define MAX_RULES 65535
#define N_ROW_WORDS_FIRST 1024

static uint32_t *directory_of(struct table_builder *b)
{
	return b->words + TABLE_HEADER_WORDS;
}

static uint32_t n_rows(const struct table_builder *b)
{
	return (uint32_t)(b->n_words - TABLE_HEADER_WORDS - b->n_pages - 1);
}

/* Room for n more words. Grows by an eighth: the builder should not cost much more than its result.
 */
static int reserve(struct table_builder *b, size_t n)
{
	size_t want = b->n_words + n, cap;
	uint32_t *words;

	if (b->err || want <= b->cap_words)
		return b->err;
	if ((b->max_words && want > b->max_words) || want > UINT32_MAX)
		return b->err = -E2BIG;
	cap = want + want / 8 + N_ROW_WORDS_FIRST;
	words = realloc(b->words, cap * sizeof(*words));
	if (!words)
		return b->err = -ENOMEM;
	b->words = words;
	b->cap_words = cap;
	return 0;
}

static void push(struct table_builder *b, uint32_t offset, uint32_t rule)
{
	if (reserve(b, 1) == 0)
		b->words[b->n_words++] = offset | rule << 16;
}

static uint32_t hash(uint64_t bits)
{
	bits *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(bits >> 40) % N_SLOTS;
}

static uint32_t rule_new(struct table_builder *b, uint64_t bits)
{
	if (b->n_rules == b->cap_rules) {
		uint32_t cap = b->cap_rules ? b->cap_rules * 2 : 256;
		uint64_t *rules = realloc(b->rules, cap * sizeof(*rules));

		if (!rules) {
			b->err = -ENOMEM;
			return 0;
		}
		b->rules = rules;
		b->cap_rules = cap;
	}
	b->rules[b->n_rules] = bits;
	return b->n_rules++;
}

/* The number of a rule. When there are too many, the last number stands for "user space must do
 * it". */
static uint32_t rule_number(struct table_builder *b, struct unwind_rule rule)
{
	uint64_t bits;
	uint32_t i;

	memcpy(&bits, &rule, sizeof(bits));
	for (i = hash(bits); b->slots[i]; i = (i + 1) % N_SLOTS)
		if (b->rules[b->slots[i] - 1] == bits)
			return b->slots[i] - 1u;
	if (b->n_rules >= MAX_RULES - 1 && rule.cfa != CFA_USER)
		return rule_number(b, (struct unwind_rule){ .cfa = CFA_USER });
	i = hash(bits);
	while (b->slots[i])
		i = (i + 1) % N_SLOTS;
	b->slots[i] = (uint16_t)(rule_new(b, bits) + 1);
	return b->slots[i] - 1u;
}

void table_builder_init(struct table_builder *b, uint64_t start, uint64_t end, size_t max_words)
{
	size_t n;

	_Static_assert(sizeof(struct unwind_rule) == 8, "two words");
	*b = (struct table_builder){ .max_words = max_words, .pos = start, .end = end };
	b->first_page = start >> TABLE_PAGE_BITS;
	b->n_pages = (uint32_t)((end >> TABLE_PAGE_BITS) - b->first_page + 1);
	n = TABLE_HEADER_WORDS + b->n_pages + 1;
	b->slots = calloc(N_SLOTS, sizeof(*b->slots));
	if (!b->slots)
		b->err = -ENOMEM;
	if (reserve(b, n) == 0) {
		memset(b->words, 0, n * sizeof(*b->words));
		b->n_words = n;
		rule_number(b, (struct unwind_rule){ .cfa = CFA_NONE });
	}
}

/* From addr on the rule is this one. */
static void set_rule(struct table_builder *b, uint64_t addr, uint32_t rule)
{
	uint32_t page = (uint32_t)((addr >> TABLE_PAGE_BITS) - b->first_page);
	uint32_t offset = addr & PAGE_MASK;

	/* Pages under the rule so far: each says so itself, those without data stay empty. */
	while (b->page < page && !b->err) {
		directory_of(b)[++b->page] = n_rows(b);
		if (b->rule && (b->page < page || offset))
			push(b, 0, b->rule);
	}
	if (b->err)
		return;
	if (directory_of(b)[page] == n_rows(b)) {
		if (rule && offset)
			push(b, 0, 0);
		if (rule)
			push(b, offset, rule);
	} else if (rule != b->rule) {
		push(b, offset, rule);
	}
	b->rule = rule;
}

void table_builder_add(struct table_builder *b, uint64_t from, uint64_t to, struct unwind_rule rule)
{
	uint32_t number;

	if (from < b->pos)
		from = b->pos;
	if (to > b->end)
		to = b->end;
	if (b->err || from >= to)
		return;
	number = rule_number(b, rule);
	if (from > b->pos && b->rule)
		set_rule(b, b->pos, 0);
	set_rule(b, from, number);
	b->pos = to;
}

static void write_header(struct table_builder *b)
{
	struct table_header h = {
		.first_page = (uint32_t)b->first_page,
		.n_pages = b->n_pages,
		.n_rows = n_rows(b),
		.n_rules = b->n_rules,
		.directory = TABLE_HEADER_WORDS,
		.rows = TABLE_HEADER_WORDS + b->n_pages + 1,
		.rules = (uint32_t)b->n_words,
		.words = (uint32_t)(b->n_words + 2 * (size_t)b->n_rules),
	};

	_Static_assert(sizeof(h) == TABLE_HEADER_WORDS * sizeof(uint32_t), "table.h says so");
	memcpy(b->words, &h, sizeof(h));
}

static int close_table(struct table_builder *b)
{
	if (!b->err)
		set_rule(b, b->pos, 0);
	if (reserve(b, 2 * (size_t)b->n_rules))
		return b->err;
	while (b->page < b->n_pages)
		directory_of(b)[++b->page] = n_rows(b);
	write_header(b);
	memcpy(b->words + b->n_words, b->rules, b->n_rules * sizeof(*b->rules));
	b->n_words += 2 * (size_t)b->n_rules;
	return 0;
}

int table_builder_finish(struct table_builder *b, uint32_t **words, size_t *n_words)
{
	int err = close_table(b);
	uint32_t *exact = err ? NULL : realloc(b->words, b->n_words * sizeof(*b->words));

	if (exact) {
		*words = exact;
		*n_words = b->n_words;
		b->words = NULL;
	} else if (!err) {
		err = -ENOMEM;
	}
	free(b->words);
	free(b->rules);
	free(b->slots);
	*b = (struct table_builder){ 0 };
	return err;
}
