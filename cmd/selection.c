// SPDX-License-Identifier: Apache-2.0
#include "cmd/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/filter.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"

static bool keeps(void *ctx, struct sample *s)
{
	return filter_keeps(ctx, s);
}

int selection_keep(struct profile *p, const struct options *opt)
{
	struct filter *f = filter_new(p, opt);

	if (!f)
		return -ENOMEM;
	if (filter_is_active(f))
		profile_restack(p, keeps, f);
	filter_free(f);
	return 0;
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
	const struct location location = { .kind = FRAME_UNKNOWN }; /* a mark would be a fault */
	SCOPED(free) char *text = NULL;
	struct function function = { 0 };
	struct line line = { 0 };
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
	function.name = profile_string(by->p, text);
	line.function = profile_function(by->p, &function);
	return profile_location(by->p, &location, &line, 1);
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
