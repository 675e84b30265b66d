// SPDX-License-Identifier: Apache-2.0
#include "exporter/twins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "core/scoped.h"
#include "exporter/names.h"

#define MIN_PARTS 2 /* every second file is called __init__.py */

/* How many of the last parts of two paths tell them apart. */
static unsigned int n_parts(const char *path, const char *other)
{
	size_t len = strlen(path), other_len = strlen(other), i = 1;
	unsigned int n = 1;

	for (; i <= len && i <= other_len && path[len - i] == other[other_len - i]; i++)
		n += path[len - i] == '/';
	/* One may be all of the other's end. */
	return n + ((i <= len && path[len - i] == '/') ||
		    (i <= other_len && other[other_len - i] == '/'));
}

/* firsts: the file of the first function of a name. */
static void note(struct twins *t, const struct profile *p, uint32_t *firsts,
		 const struct function *f)
{
	unsigned int n;

	if (!f->name || !f->filename || f->name >= t->n)
		return;
	if (!firsts[f->name])
		firsts[f->name] = f->filename;
	if (firsts[f->name] == f->filename)
		return;
	n = n_parts(profile_get_string(p, f->filename), profile_get_string(p, firsts[f->name]));
	n = n < MIN_PARTS ? MIN_PARTS : n < UINT8_MAX ? n : UINT8_MAX;
	if (n > t->parts[f->name])
		t->parts[f->name] = (uint8_t)n;
}

int twins_find(struct twins *t, const struct profile *p)
{
	SCOPED(free) uint32_t *firsts = calloc((size_t)profile_n_strings(p) + 1, sizeof(*firsts));

	t->n = profile_n_strings(p) + 1;
	t->parts = calloc(t->n, sizeof(*t->parts));
	if (!firsts || !t->parts) {
		twins_deinit(t);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i <= profile_n_locations(p); i++) {
		size_t n = 0;
		const struct line *lines = profile_get_location(p, i).kind == FRAME_PYTHON
						   ? profile_get_lines(p, i, &n)
						   : NULL;

		for (size_t k = 0; k < n; k++)
			note(t, p, firsts, profile_get_function(p, lines[k].function));
	}
	return 0;
}

void twins_deinit(struct twins *t)
{
	free(t->parts);
	*t = (struct twins){ .n = 0 };
}

/* The last parts of a path. */
static const char *short_path(const char *path, unsigned int n)
{
	const char *s = path + strlen(path);

	while (s > path && (s[-1] != '/' || --n))
		s--;
	return s;
}

const char *twins_name(const struct twins *t, const struct profile *p, struct frame *f)
{
	const struct function *function = f->function;
	int len;

	if (f->location.kind != FRAME_PYTHON || function->name >= t->n ||
	    !t->parts[function->name] || !function->filename)
		return f->name;
	len = snprintf(
		f->made, sizeof(f->made), "%s (%s)", profile_get_string(p, function->name),
		short_path(profile_get_string(p, function->filename), t->parts[function->name]));
	return len < (int)sizeof(f->made) ? f->made : f->name;
}
