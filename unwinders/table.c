// SPDX-License-Identifier: Apache-2.0
#include "unwinders/table.h"

#include <stdlib.h>
#include <string.h>

#include "unwinders/cfi.h"

#define PAGE_MASK ((1u << TABLE_PAGE_BITS) - 1)

static struct table_header header_of(const struct unwind_table *t)
{
	struct table_header h = { 0 };

	if (t->n_words >= TABLE_HEADER_WORDS)
		memcpy(&h, t->words, sizeof(h));
	return h;
}

static struct unwind_rule rule_at(const struct unwind_table *t, const struct table_header *h,
				  uint32_t id)
{
	struct unwind_rule rule;

	memcpy(&rule, &t->words[h->rules + 2 * (size_t)id], sizeof(rule));
	return rule;
}

struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t vaddr)
{
	const struct unwind_rule none = { .cfa = CFA_NONE };
	struct table_header h = header_of(t);
	uint64_t page = (vaddr >> TABLE_PAGE_BITS) - h.first_page;
	const uint32_t *rows;
	uint32_t low, high;

	if (page >= h.n_pages)
		return none;
	rows = t->words + h.rows;
	low = t->words[h.directory + page];
	high = t->words[h.directory + page + 1];
	if (low == high)
		return none;
	/* The page's first row is at offset 0: rows[low] is always at or before the address. */
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if ((rows[mid] & PAGE_MASK) <= (vaddr & PAGE_MASK))
			low = mid;
		else
			high = mid;
	}
	return rule_at(t, &h, rows[low] >> 16);
}

static bool is_layout_valid(const struct unwind_table *t, const struct table_header *h)
{
	uint64_t directory_end = (uint64_t)h->directory + h->n_pages + 1;
	uint64_t rows_end = (uint64_t)h->rows + h->n_rows;
	uint64_t rules_end = (uint64_t)h->rules + 2 * (uint64_t)h->n_rules;

	return t->n_words >= TABLE_HEADER_WORDS && h->words == t->n_words &&
	       h->directory >= TABLE_HEADER_WORDS && h->rows >= directory_end &&
	       h->rules >= rows_end && rules_end <= h->words && h->n_rules >= 1 &&
	       h->n_rules <= 65536;
}

static bool is_page_valid(const uint32_t *rows, uint32_t first, uint32_t end, uint32_t n_rules)
{
	for (uint32_t i = first; i < end; i++) {
		if (rows[i] >> 16 >= n_rules)
			return false;
		if (i == first ? rows[i] & PAGE_MASK
			       : (rows[i] & PAGE_MASK) <= (rows[i - 1] & PAGE_MASK))
			return false;
	}
	return true;
}

bool unwind_table_is_valid(const struct unwind_table *t)
{
	struct table_header h = header_of(t);
	const uint32_t *directory;

	if (!is_layout_valid(t, &h) || rule_at(t, &h, 0).cfa != CFA_NONE)
		return false;
	directory = t->words + h.directory;
	for (uint32_t i = 0; i < h.n_rules; i++)
		if (rule_at(t, &h, i).cfa > CFA_DEREF || rule_at(t, &h, i).fp > FP_UNKNOWN)
			return false;
	if (directory[0] != 0 || directory[h.n_pages] != h.n_rows)
		return false;
	for (uint32_t page = 0; page < h.n_pages; page++)
		if (directory[page] > directory[page + 1] || directory[page + 1] > h.n_rows ||
		    !is_page_valid(t->words + h.rows, directory[page], directory[page + 1],
				   h.n_rules))
			return false;
	return true;
}

void unwind_table_deinit(struct unwind_table *t)
{
	free(t->words);
	*t = (struct unwind_table){ 0 };
}
