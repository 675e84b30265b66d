// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/names.h"
#include "exporter/values.h"
#include "exporter/who.h"

#define MAX_NAME 4096 /* bytes shown of one name */

/* Stacks as text, the same text once. */
struct folds {
	struct intern *texts;
	int64_t *counts; /* of text id - 1 */
	size_t cap;
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
static void put_name(const char *name, const char *suffix, FILE *out)
{
	char safe[MAX_NAME];

	text_safe(name, safe, sizeof(safe));
	for (char *s = safe; *s; s++)
		if (*s == ';')
			*s = ':';
	fputs(safe, out);
	fputs(suffix, out);
}

static void put_stack(const struct profile *p, const struct sample *s, FILE *out)
{
	struct who who = who_of(p, s->labels);
	const char *separator = "";
	size_t depth;
	const uint32_t *stack = profile_get_stack(p, s->stack, &depth);

	if (who.process) {
		put_name(profile_get_string(p, who.process), "", out);
		separator = ";";
	}
	while (depth--) {
		for (size_t i = location_n_frames(p, stack[depth]); i--;) {
			struct frame f;

			location_frame(p, stack[depth], i, &f);
			fputs(separator, out);
			put_name(f.name, suffix_of(&f), out);
			separator = ";";
		}
	}
}

static int folds_add(struct folds *folds, const char *text, size_t len, int64_t count)
{
	uint32_t id = intern_add(folds->texts, text, len);

	if (!id)
		return -ENOMEM;
	if (id > folds->cap) {
		size_t cap = folds->cap ? folds->cap * 2 : 256;
		int64_t *grown = realloc(folds->counts, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + folds->cap, 0, (cap - folds->cap) * sizeof(*grown));
		folds->counts = grown;
		folds->cap = cap;
	}
	folds->counts[id - 1] = (int64_t)((uint64_t)folds->counts[id - 1] + (uint64_t)count);
	return 0;
}

static int fold_sample(struct folds *folds, const struct profile *p, const struct sample *s,
		       int64_t count)
{
	SCOPED(free) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return -ENOMEM;
	put_stack(p, s, out);
	if (fclose(out))
		return -ENOMEM;
	return len ? folds_add(folds, text, len, count) : 0;
}

static int by_text(const void *a, const void *b, void *texts)
{
	return strcmp(intern_get(texts, *(const uint32_t *)a, NULL),
		      intern_get(texts, *(const uint32_t *)b, NULL));
}

static int write_folds(const struct folds *folds, FILE *out)
{
	uint32_t n = intern_count(folds->texts);
	SCOPED(free) uint32_t *ids = calloc((size_t)n + 1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		ids[i] = i + 1;
	qsort_r(ids, n, sizeof(*ids), by_text, folds->texts);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s %" PRId64 "\n",
			(const char *)intern_get(folds->texts, ids[i], NULL),
			folds->counts[ids[i] - 1]);
	return ferror(out) ? -EIO : 0;
}

static int folded_write(const struct profile *p, FILE *out)
{
	struct folds folds = { .texts = intern_new() };
	uint32_t index = value_count(p);
	int err = folds.texts ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile_n_samples(p) && !err; i++) {
		const struct sample *s = profile_get_sample(p, i);

		if (s->values[index])
			err = fold_sample(&folds, p, s, s->values[index]);
	}
	if (!err)
		err = write_folds(&folds, out);
	intern_free(folds.texts);
	free(folds.counts);
	return err;
}

const struct exporter_ops exporter_folded = {
	.name = "folded",
	.extension = ".folded",
	.help = "one line a stack, for flamegraph.pl and speedscope",
	.write = folded_write,
};
