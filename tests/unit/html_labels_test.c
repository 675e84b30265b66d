// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "exporter/html_labels.h"

SCOPED_DEFINE(struct profile, profile_free)
SCOPED_DEFINE(struct flame_tree, flame_tree_free)

/* Samples of `main` and `main;leaf`, worth 1 and 2, with these labels besides a pid and a process.
 */
static void add(struct profile *p, const char *name, uint32_t n, const char *const labels[][2])
{
	struct function function = { .name = profile_string(p, name) };
	struct line line = { .function = profile_function(p, &function) };
	struct location location = { .kind = FRAME_NATIVE };
	struct function main_function = { .name = profile_string(p, "main") };
	struct line main_line = { .function = profile_function(p, &main_function) };
	uint32_t stack[] = { profile_location(p, &location, &line, 1),
			     profile_location(p, &location, &main_line, 1) };
	struct label set[8] = {
		{ .key = profile_string(p, "pid"), .num = 7 },
		{ .key = profile_string(p, "process"), .str = profile_string(p, "python") },
	};
	const int64_t values[MAX_VALUES] = { 1, 2 };

	for (uint32_t i = 0; i < n; i++)
		set[2 + i] = (struct label){ .key = profile_string(p, labels[i][0]),
					     .str = profile_string(p, labels[i][1]) };
	profile_add(p, profile_stack(p, stack, 2), profile_label_set(p, set, 2 + n), 0, values);
}

static struct profile *make_profile(void)
{
	struct profile *p = profile_new();
	struct profile_header *h = profile_header(p);

	h->n_sample_types = 2;
	return p;
}

static char *labels_of(const struct profile *p, uint32_t max_nodes)
{
	SCOPED(flame_tree_free) struct flame_tree *t = flame_tree_new(p, max_nodes);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(t);
	assert_int_equal(html_put_labels(p, t, out), 0);
	fclose(out);
	return text;
}

static void values_have_what_their_samples_are_worth(void **state)
{
	SCOPED(profile_free) struct profile *p = make_profile();
	SCOPED(free) char *text = NULL;

	(void)state;
	add(p, "leaf", 1, (const char *const[][2]){ { "task", "red" } });
	add(p, "leaf", 1, (const char *const[][2]){ { "task", "green" } });
	add(p, "other", 1, (const char *const[][2]){ { "task", "green" } });
	text = labels_of(p, UINT32_MAX);
	/* The heaviest first; nodes: python, main, leaf, other. */
	assert_string_equal(text, "[[\"task\",[[\"green\",[3,1,2,2,1,2]],\n[\"red\",[2,1,2]]]]]");
}

static void what_tells_no_samples_apart_is_not_offered(void **state)
{
	SCOPED(profile_free) struct profile *p = make_profile();
	SCOPED(free) char *text = NULL;

	(void)state;
	add(p, "leaf", 1, (const char *const[][2]){ { "thread", "MainThread" } });
	add(p, "other", 1, (const char *const[][2]){ { "thread", "MainThread" } });
	text = labels_of(p, UINT32_MAX);
	assert_string_equal(text, "[]");
}

static void names_are_escaped(void **state)
{
	SCOPED(profile_free) struct profile *p = make_profile();
	SCOPED(free) char *text = NULL;

	(void)state;
	add(p, "leaf", 1, (const char *const[][2]){ { "<b>", "</script>" } });
	add(p, "other", 0, NULL);
	text = labels_of(p, UINT32_MAX);
	assert_non_null(strstr(text, "script"));
	assert_null(strchr(text, '<'));
	assert_null(strchr(text, '>'));
}

static void so_many_values_have_a_bound(void **state)
{
	SCOPED(profile_free) struct profile *p = make_profile();
	SCOPED(free) char *text = NULL;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "span-%d", i);
		add(p, "leaf", 1, (const char *const[][2]){ { "span_id", name } });
	}
	text = labels_of(p, UINT32_MAX);
	for (const char *at = text; (at = strstr(at, "span-")); at++)
		n++;
	assert_int_equal(n, 40);
}

/* Samples whose nodes were left out count for what is above these. */
static void nothing_is_of_a_node_that_is_not_there(void **state)
{
	SCOPED(profile_free) struct profile *p = make_profile();

	(void)state;
	add(p, "leaf", 1, (const char *const[][2]){ { "task", "red" } });
	add(p, "other", 1, (const char *const[][2]){ { "task", "green" } });
	for (uint32_t max = 0; max < 6; max++)
		free(labels_of(p, max));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_what_their_samples_are_worth),
		cmocka_unit_test(what_tells_no_samples_apart_is_not_offered),
		cmocka_unit_test(names_are_escaped),
		cmocka_unit_test(so_many_values_have_a_bound),
		cmocka_unit_test(nothing_is_of_a_node_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
