// SPDX-License-Identifier: Apache-2.0
/* With --by: what each value of the label has of the whole, above the functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/frames.h"
#include "cmd/view.h"

#define N_SHARES 10 /* without -n */

struct share {
	uint32_t name;
	int64_t total;
};

static int by_total(const void *a, const void *b, void *frames)
{
	const struct share *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(frames_name(frames, x->name), frames_name(frames, y->name));
}

/* Returns how many there are; all with a share come first. */
static size_t add_up(struct view *v, struct share *shares, size_t n_names)
{
	uint32_t index = 0;
	int64_t value;
	size_t n, used = 0;

	for (size_t i = 0; i < n_names; i++)
		shares[i].name = (uint32_t)i + 1;
	while (view_next(v, &index, &n, &value))
		if (n)
			shares[v->stack[n - 1] - 1].total += value;
	for (size_t i = 0; i < n_names; i++)
		if (shares[i].total)
			shares[used++] = shares[i];
	qsort_r(shares, used, sizeof(*shares), by_total, v->frames);
	return used;
}

int view_shares(struct view *v)
{
	size_t n_names = frames_count(v->frames), n, shown = v->n_rows ? v->n_rows : N_SHARES;
	struct share *shares = calloc(n_names + 1, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	n = add_up(v, shares, n_names);
	view_title(v, "     Total Total%  Of");
	for (size_t i = 0; i < n && i < shown; i++) {
		view_amount(v, shares[i].total);
		fputs("  ", v->out);
		view_name(v, 19, frames_name(v->frames, shares[i].name));
	}
	if (n > shown)
		fprintf(v->out, "%19s… %zu more\n", "", n - shown);
	fputc('\n', v->out);
	free(shares);
	return 0;
}
