// SPDX-License-Identifier: Apache-2.0
#include "cmd/top_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/frames.h"
#include "cmd/view.h"

static int by_cost(const void *a, const void *b, void *frames)
{
	const struct top_row *x = a, *y = b;

	if (x->flat != y->flat)
		return x->flat < y->flat ? 1 : -1;
	if (x->cum != y->cum)
		return x->cum < y->cum ? 1 : -1;
	return strcmp(frames_name(frames, x->name), frames_name(frames, y->name));
}

/* last[name] is the sample that counted the name last: recursion counts once. */
static void add_samples(struct top_table *t, struct view *v, uint32_t *last)
{
	uint32_t index = 0;
	int64_t value;
	size_t n;

	while (view_next(v, &index, &n, &value)) {
		if (n)
			t->rows[v->stack[0] - 1].flat += value;
		for (size_t i = 0; i < n; i++) {
			uint32_t name = v->stack[i];

			if (last[name] == index)
				continue;
			last[name] = index;
			t->rows[name - 1].cum += value;
		}
	}
}

int top_table_init(struct top_table *t, struct view *v)
{
	size_t n_names = frames_count(v->frames);
	uint32_t *last = calloc(n_names + 1, sizeof(*last));

	*t = (struct top_table){ .rows = calloc(n_names + 1, sizeof(*t->rows)) };
	if (!t->rows || !last) {
		free(last);
		top_table_deinit(t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_names; i++)
		t->rows[i].name = (uint32_t)i + 1;
	add_samples(t, v, last);
	free(last);
	for (size_t i = 0; i < n_names; i++)
		if (t->rows[i].flat || t->rows[i].cum)
			t->rows[t->n++] = t->rows[i];
	qsort_r(t->rows, t->n, sizeof(*t->rows), by_cost, v->frames);
	return 0;
}

void top_table_deinit(struct top_table *t)
{
	free(t->rows);
	*t = (struct top_table){ 0 };
}

void top_table_print(const struct top_table *t, const struct view *v)
{
	size_t n = v->n_rows && v->n_rows < t->n ? v->n_rows : t->n;
	int64_t sum = 0;

	view_title(v, "      Flat  Flat%    Sum%        Cum   Cum%  Name");
	for (size_t i = 0; i < n; i++) {
		const struct top_row *row = &t->rows[i];

		sum += row->flat;
		view_amount(v, row->flat);
		fprintf(v->out, "  %5.1f%% ", view_percent(v, sum));
		view_amount(v, row->cum);
		fputs("  ", v->out);
		view_name(v, 47, frames_name(v->frames, row->name));
	}
	if (n < t->n)
		fprintf(v->out, "%47s… %zu more\n", "", t->n - n);
}

int view_top(struct view *v)
{
	struct top_table t;
	int err = top_table_init(&t, v);

	if (err < 0)
		return err;
	top_table_print(&t, v);
	top_table_deinit(&t);
	return 0;
}
