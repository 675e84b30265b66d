/* SPDX-License-Identifier: Apache-2.0 */
/* Small profiles written as text, and views of them as text, for the tests of reports. */
#ifndef TESTS_UNIT_VIEW_TEXT_H
#define TESTS_UNIT_VIEW_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "cmd/view.h"
#include "core/options.h"
#include "core/profile.h"

static inline uint32_t text_function(struct profile *p, const char *name, size_t len)
{
	struct function f = { .name = profile_string_n(p, name, len) };

	return profile_function(p, &f);
}

/* "work+inlined": inlined was compiled into work. "py_work" is a function of Python. */
static inline uint32_t text_location(struct profile *p, const char *text, size_t len)
{
	bool is_python = len > 3 && !memcmp(text, "py_", 3);
	struct location l = { .kind = is_python ? FRAME_PYTHON : FRAME_NATIVE };
	const char *plus = memchr(text, '+', len);
	struct line lines[2] = { 0 };
	uint32_t hash = 0;

	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + (unsigned char)text[i];
	l.address = hash;
	if (!plus) {
		lines[0].function = text_function(p, text, len);
		return profile_location(p, &l, lines, 1);
	}
	lines[0].function = text_function(p, plus + 1, len - (size_t)(plus + 1 - text));
	lines[1].function = text_function(p, text, (size_t)(plus - text));
	return profile_location(p, &l, lines, 2);
}

/* "main;work;leaf" and what it is worth in samples (10 ms each), with a pid label. */
static inline void text_sample(struct profile *p, const char *stack, int64_t n, int pid)
{
	struct label pid_label = { .key = profile_string(p, "pid"), .num = pid };
	int64_t values[MAX_VALUES] = { n, n * 10000000 };
	uint32_t locations[16], count = 0, reversed[16];

	while (*stack) {
		size_t len = strcspn(stack, ";");

		reversed[count++] = text_location(p, stack, len);
		stack += len + (stack[len] == ';');
	}
	for (uint32_t i = 0; i < count; i++)
		locations[i] = reversed[count - 1 - i];
	profile_add(p, profile_stack(p, locations, count), profile_label_set(p, &pid_label, 1), 0,
		    values);
}

static inline struct profile *text_profile(void)
{
	struct profile *p = profile_new();

	profile_begin(p, "cpu", "nanoseconds");
	return p;
}

enum { SHOW_TOP, SHOW_TREE, SHOW_CALLERS, SHOW_PEEK };

/* A view as text, to be freed; NULL when nothing matched. */
static inline char *text_of(const struct profile *p, const struct options *opt, int what,
			    const char *expression)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct view v;
	int err = view_init(&v, p, opt, out);

	if (!err)
		err = what == SHOW_TOP	     ? view_top(&v)
		      : what == SHOW_TREE    ? view_tree(&v)
		      : what == SHOW_CALLERS ? view_callers(&v, expression)
					     : view_peek(&v, expression);
	view_deinit(&v);
	fclose(out);
	if (err) {
		free(text);
		return NULL;
	}
	return text;
}

static inline void assert_text(const struct profile *p, const struct options *opt, int what,
			       const char *expression, const char *expected)
{
	char *text = text_of(p, opt, what, expression);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static inline void text_options(struct options *opt)
{
	unsetenv("COLUMNS");
	options_init(opt);
}

#endif
