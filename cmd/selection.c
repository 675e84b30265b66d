// SPDX-License-Identifier: Apache-2.0
#include "cmd/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/filter.h"
#include "core/options.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"

/* A location that only says something; a mark would be a fault. */
static uint32_t saying(struct profile *p, const char *text)
{
	const struct location location = { .kind = FRAME_UNKNOWN };
	const struct function function = { .name = profile_string(p, text) };
	const struct line line = { .function = profile_function(p, &function) };

	return profile_location(p, &location, &line, 1);
}

static const struct {
	const char *name;
	enum frame_kind kind;
} languages[] = {
	{ "python", FRAME_PYTHON }, { "java", FRAME_JAVA },	{ "go", FRAME_GO },
	{ "native", FRAME_NATIVE }, { "kernel", FRAME_KERNEL }, { "jit", FRAME_JIT },
};

#define N_LANGUAGES (sizeof(languages) / sizeof(languages[0]))

enum frame_kind selection_kind(const char *only)
{
	for (size_t i = 0; only && i < N_LANGUAGES; i++)
		if (!strcmp(languages[i].name, only))
			return languages[i].kind;
	return FRAME_UNKNOWN;
}

const char *selection_language(enum frame_kind kind)
{
	for (size_t i = 0; i < N_LANGUAGES; i++)
		if (languages[i].kind == kind)
			return languages[i].name;
	return frame_kind_name(kind);
}

bool selection_keeps_frame(const struct location *l, enum frame_kind only)
{
	bool says = l->kind == FRAME_MARK ||
		    (l->kind == FRAME_UNKNOWN && !l->address && !l->mapping && l->lines);

	return !only || says || l->kind == only;
}

const char *selection_no_frame(const char *only, char *text)
{
	snprintf(text, 32, "[no %s]", only);
	return text;
}

struct keeping {
	struct profile *p;
	const struct filter *filter;
	const char *only;
	bool is_short; /* of memory */
};

/* What is left of a stack, in which there is room for one more location. */
static size_t keep_frames(const struct keeping *k, const uint32_t *stack, size_t n, uint32_t *left)
{
	size_t n_left = 0;
	char text[32];

	for (size_t i = 0; i < n; i++) {
		struct location l = profile_get_location(k->p, stack[i]);

		if (selection_keeps_frame(&l, selection_kind(k->only)))
			left[n_left++] = stack[i];
	}
	if (!n_left)
		left[n_left++] = saying(k->p, selection_no_frame(k->only, text));
	return n_left;
}

static bool keeps(void *ctx, struct sample *s)
{
	struct keeping *k = ctx;
	size_t n;
	const uint32_t *stack = profile_get_stack(k->p, s->stack, &n);
	SCOPED(free) uint32_t *left = NULL;

	if (!filter_keeps(k->filter, s))
		return false;
	if (!k->only)
		return true;
	left = calloc(n + 1, sizeof(*left));
	if (!left) {
		k->is_short = true;
		return true;
	}
	n = keep_frames(k, stack, n, left);
	s->stack = profile_stack(k->p, left, n);
	return true;
}

int selection_keep(struct profile *p, const struct options *opt)
{
	struct filter *f = filter_new(p, opt);

	struct keeping k = { .p = p, .filter = f, .only = opt->only };

	if (!f)
		return -ENOMEM;
	if (filter_is_active(f) || opt->only)
		profile_restack(p, keeps, &k);
	filter_free(f);
	return k.is_short ? -ENOMEM : 0;
}

struct by_label {
	struct profile *p;
	const char *key;
};

static const struct label *find_label(const struct by_label *by, uint32_t labels)
{
	size_t n;
	const struct label *l = profile_get_labels(by->p, labels, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(profile_get_string(by->p, l[i].key), by->key))
			return &l[i];
	return NULL;
}

/* A task for each request would be a tree for each. */
static const char *value_of(const struct by_label *by, const struct label *l)
{
	const char *value = profile_get_string(by->p, l->str);

	return !strcmp(by->key, "task") && text_is_numbered(value, "Task-") ? "Task-*" : value;
}

/* The location of the frame; 0: no memory. */
static uint32_t root_of(const struct by_label *by, const struct label *l)
{
	SCOPED(free) char *text = NULL;
	int len;

	if (!l)
		len = asprintf(&text, "[no %s]", by->key);
	else if (l->str)
		len = asprintf(&text, "[%s: %s]", by->key, value_of(by, l));
	else
		len = asprintf(&text, "[%s: %" PRId64 "]", by->key, l->num);
	if (len < 0) {
		text = NULL;
		return 0;
	}
	return saying(by->p, text);
}

static bool put_root(void *ctx, struct sample *s)
{
	const struct by_label *by = ctx;
	uint32_t root = root_of(by, find_label(by, s->labels));
	size_t n;
	const uint32_t *stack = profile_get_stack(by->p, s->stack, &n);
	SCOPED(free) uint32_t *longer = calloc(n + 1, sizeof(*longer));

	if (!root || !longer)
		return true;
	if (n)
		memcpy(longer, stack, n * sizeof(*longer));
	longer[n] = root;
	s->stack = profile_stack(by->p, longer, n + 1);
	return true;
}

void selection_by_label(struct profile *p, const char *key)
{
	struct by_label by = { .p = p, .key = key };

	profile_restack(p, put_root, &by);
}
