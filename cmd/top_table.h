/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of functions that pprof made everybody's: what each costs itself (flat) and with what
 * it calls (cum). A function that calls itself counts once in a stack.
 */
#ifndef CMD_TOP_TABLE_H
#define CMD_TOP_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct view;

struct top_row {
	uint32_t name; /* of struct frames */
	int64_t flat, cum;
};

struct top_table {
	struct top_row *rows; /* by flat, then by cum, then by name */
	size_t n;
};

int top_table_init(struct top_table *t, struct view *v); /* 0 or -ENOMEM */
void top_table_deinit(struct top_table *t);
/* `Flat  Flat%  Sum%  Cum  Cum%  Name` to v->out, v->n_rows of them. */
void top_table_print(const struct top_table *t, const struct view *v);

#endif
