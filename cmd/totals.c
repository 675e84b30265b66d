// SPDX-License-Identifier: Apache-2.0
#include "cmd/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "core/saturated.h"

int64_t total_of(const struct profile *p, uint32_t type)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < profile_n_samples(p); i++)
		total = add_saturated(total, profile_get_sample(p, i)->values[type]);
	return total;
}

uint32_t total_default_type(const struct profile *p)
{
	const struct profile_header *h = profile_get_header(p);
	uint32_t type = 0;

	for (uint32_t i = 0; i < h->n_sample_types; i++)
		if (h->sample_types[i].type == h->default_sample_type)
			type = i;
	return type;
}

static uint32_t label_of(const struct profile *p, uint32_t labels, uint32_t key)
{
	size_t n;
	const struct label *l = profile_get_labels(p, labels, &n);

	for (size_t i = 0; i < n; i++)
		if (l[i].key == key)
			return l[i].str;
	return 0;
}

static int larger_first(const void *a, const void *b)
{
	const struct label_total *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

int label_totals_init(struct label_totals *t, const struct profile *p, const char *label)
{
	uint32_t key = profile_find_string_n(p, label, strlen(label));
	uint32_t type = total_default_type(p), n_texts = profile_n_strings(p) + 1;

	*t = (struct label_totals){ .rows = calloc(n_texts, sizeof(*t->rows)) };
	if (!t->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_texts; i++)
		t->rows[i].text = i;
	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		const struct sample *s = profile_get_sample(p, i);
		struct label_total *row = &t->rows[key ? label_of(p, s->labels, key) : 0];

		row->value = add_saturated(row->value, s->values[type]);
	}
	for (uint32_t i = 0; i < n_texts; i++)
		if (t->rows[i].value)
			t->rows[t->n++] = t->rows[i];
	qsort(t->rows, t->n, sizeof(*t->rows), larger_first);
	return 0;
}

void label_totals_deinit(struct label_totals *t)
{
	free(t->rows);
	*t = (struct label_totals){ 0 };
}
