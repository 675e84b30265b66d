// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/names.h"
#include "exporter/values.h"
#include "exporter/who.h"

#define MAX_NAME 4096 /* bytes shown of one name */

/* Stacks of frames' texts, the same stack once. A stack is an array of ids, root first: texts of
   whole stacks would be many times what the profile itself takes. */
struct folds {
	struct intern *texts, *stacks;
	int64_t *counts; /* of stack id - 1 */
	size_t cap;
	uint32_t *ids; /* of the stack at hand */
	size_t n_ids, ids_cap;
};

/* flamegraph.pl's marks of what kind a frame is. */
static const char *suffix_of(const struct frame *f)
{
	if (f->location.kind == FRAME_KERNEL)
		return "_[k]";
	if (f->is_inline)
		return "_[i]";
	return f->location.kind == FRAME_JIT || f->location.kind == FRAME_JAVA ? "_[j]" : "";
}

/* A name cannot end its frame or its line. */
static uint32_t text_id(struct folds *folds, const char *name, const char *suffix)
{
	char safe[MAX_NAME + 8];
	size_t len;

	text_safe(name, safe, MAX_NAME);
	for (char *s = safe; *s; s++)
		if (*s == ';')
			*s = ':';
	len = strlen(safe);
	memcpy(safe + len, suffix, strlen(suffix) + 1);
	return intern_add(folds->texts, safe, len + strlen(suffix));
}

static int add_frame(struct folds *folds, const char *name, const char *suffix)
{
	uint32_t id = text_id(folds, name, suffix);

	if (!id || ARRAY_RESERVE(folds->ids, folds->ids_cap, folds->n_ids))
		return -ENOMEM;
	folds->ids[folds->n_ids++] = id;
	return 0;
}

static int add_stack(struct folds *folds, const struct profile *p, const struct sample *s)
{
	struct who who = who_of(p, s->labels);
	size_t depth;
	const uint32_t *stack = profile_get_stack(p, s->stack, &depth);
	int err = 0;

	folds->n_ids = 0;
	if (who.process)
		err = add_frame(folds, profile_get_string(p, who.process), "");
	while (depth-- && !err) {
		for (size_t i = location_n_frames(p, stack[depth]); i-- && !err;) {
			struct frame f;

			location_frame(p, stack[depth], i, &f);
			err = add_frame(folds, f.name, suffix_of(&f));
		}
	}
	return err;
}

static int fold_sample(struct folds *folds, const struct profile *p, const struct sample *s,
		       int64_t count)
{
	int err = add_stack(folds, p, s);
	size_t n = folds->cap;
	uint32_t id;

	if (err || !folds->n_ids)
		return err;
	id = intern_add(folds->stacks, folds->ids, folds->n_ids * sizeof(*folds->ids));
	if (!id || ARRAY_RESERVE(folds->counts, folds->cap, id - 1))
		return -ENOMEM;
	if (folds->cap > n)
		memset(folds->counts + n, 0, (folds->cap - n) * sizeof(*folds->counts));
	folds->counts[id - 1] = (int64_t)((uint64_t)folds->counts[id - 1] + (uint64_t)count);
	return 0;
}

/* As their lines compare: a text ends in ';' where another one follows. */
static int compare_texts(const char *a, const char *b, bool a_goes_on, bool b_goes_on)
{
	while (*a && *a == *b)
		a++, b++;
	return (*a	    ? (unsigned char)*a
		: a_goes_on ? ';'
			    : 0) -
	       (*b	    ? (unsigned char)*b
		: b_goes_on ? ';'
			    : 0);
}

static int by_text(const void *a, const void *b, void *ctx)
{
	const struct folds *folds = ctx;
	size_t n_a, n_b;
	const uint32_t *ids_a = intern_get(folds->stacks, *(const uint32_t *)a, &n_a);
	const uint32_t *ids_b = intern_get(folds->stacks, *(const uint32_t *)b, &n_b);
	size_t i = 0;

	n_a /= sizeof(*ids_a);
	n_b /= sizeof(*ids_b);
	while (i < n_a && i < n_b && ids_a[i] == ids_b[i])
		i++;
	if (i == n_a || i == n_b)
		return (n_a > n_b) - (n_a < n_b);
	return compare_texts(intern_get(folds->texts, ids_a[i], NULL),
			     intern_get(folds->texts, ids_b[i], NULL), i + 1 < n_a, i + 1 < n_b);
}

static void write_fold(const struct folds *folds, uint32_t stack, FILE *out)
{
	size_t n;
	const uint32_t *ids = intern_get(folds->stacks, stack, &n);

	for (size_t i = 0; i < n / sizeof(*ids); i++) {
		if (i)
			fputc(';', out);
		fputs(intern_get(folds->texts, ids[i], NULL), out);
	}
	fprintf(out, " %" PRId64 "\n", folds->counts[stack - 1]);
}

static int write_folds(struct folds *folds, FILE *out)
{
	uint32_t n = intern_count(folds->stacks);
	SCOPED(free) uint32_t *order = calloc((size_t)n + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i + 1;
	array_sort_in_place(order, n, sizeof(*order), by_text, folds);
	for (uint32_t i = 0; i < n; i++)
		write_fold(folds, order[i], out);
	return ferror(out) ? -EIO : 0;
}

static int folded_write(const struct profile *p, FILE *out)
{
	struct folds folds = { .texts = intern_new(), .stacks = intern_new() };
	uint32_t index = value_count(p), value = value_default(p);
	int err = folds.texts && folds.stacks ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile_n_samples(p) && !err; i++) {
		const struct sample *s = profile_get_sample(p, i);

		if (s->values[index] && value_is_shown(s, value))
			err = fold_sample(&folds, p, s, s->values[index]);
	}
	if (!err)
		err = write_folds(&folds, out);
	intern_free(folds.texts);
	intern_free(folds.stacks);
	free(folds.counts);
	free(folds.ids);
	return err;
}

const struct exporter_ops exporter_folded = {
	.name = "folded",
	.extension = ".folded",
	.help = "one line a stack, for flamegraph.pl and speedscope",
	.write = folded_write,
};
