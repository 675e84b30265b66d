// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "exporter/flame_tree.h"
#include "tests/unit/sample_profile.h"

SCOPED_DEFINE(struct profile, profile_free)
SCOPED_DEFINE(struct flame_tree, flame_tree_free)

static const char *name_of(const struct flame_tree *t, uint32_t node)
{
	return flame_tree_string(t, flame_tree_frame(t, flame_tree_node(t, node)->frame)->name,
				 NULL);
}

/* The first node of this name, 0 for none. */
static uint32_t node_named(const struct flame_tree *t, const char *name)
{
	for (uint32_t i = flame_tree_next(t, 0); i; i = flame_tree_next(t, i))
		if (!strcmp(name_of(t, i), name))
			return i;
	return 0;
}

/* Every node is worth itself and its children; returns how many nodes are kept. */
static uint32_t check_sums(const struct flame_tree *t)
{
	uint32_t n = 0, n_all = flame_tree_n_nodes(t) + 1;
	SCOPED(free) int64_t *below = calloc(n_all, sizeof(*below));

	for (uint32_t i = flame_tree_next(t, 0); i; i = flame_tree_next(t, i), n++)
		below[flame_tree_node(t, i)->parent] += flame_tree_node(t, i)->total[0];
	for (uint32_t i = flame_tree_next(t, 0); i; i = flame_tree_next(t, i)) {
		const struct flame_node *node = flame_tree_node(t, i);

		assert_int_equal(node->total[0], node->self[0] + below[i]);
	}
	assert_int_equal(flame_tree_node(t, 0)->total[0], below[0]);
	return n;
}

static void totals_are_selves_and_children(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(flame_tree_free) struct flame_tree *t = flame_tree_new_with_threads(p, UINT32_MAX);

	(void)state;
	assert_int_equal(check_sums(t), flame_tree_n_nodes(t));
	assert_int_equal(flame_tree_node(t, 0)->total[0], 15);
	assert_int_equal(flame_tree_node(t, node_named(t, "main"))->total[0], 8);
}

/* Whatever the limit: sums hold, and no more nodes than it plus one rest for each that has any. */
static void any_limit_keeps_the_sums(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();

	(void)state;
	for (uint32_t max = 0; max < 30; max++) {
		SCOPED(flame_tree_free) struct flame_tree *t = flame_tree_new(p, max);
		uint32_t n = check_sums(t);

		assert_int_equal(flame_tree_node(t, 0)->total[0], 15);
		assert_in_range(n, 1, 2 * max + 1);
	}
}

static uint32_t next_random(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 16;
}

/* Stacks that no two samples share: as many nodes as frames, if all were kept. */
static struct profile *diverse_profile(uint32_t n_samples, uint32_t depth, int64_t *sum)
{
	struct profile *p = sample_profile_empty();
	uint32_t locations[4], stack[256], seed = 1;

	for (uint32_t i = 0; i < 4; i++) {
		char name[] = { 'f', (char)('0' + i), 0 };

		locations[i] = sample_location(p, FRAME_NATIVE, 0, i + 1,
					       sample_function(p, name, name, "", 0), 0);
	}
	for (uint32_t i = 0; i < n_samples; i++) {
		/* The last one is the largest. */
		int64_t values[MAX_VALUES] = { i + 1 == n_samples ? 1000 : 1 };

		for (uint32_t d = 0; d < depth; d++)
			stack[d] = locations[next_random(&seed) % 4];
		*sum += values[0];
		profile_add(p, profile_stack(p, stack, depth), 0, 0, values);
	}
	return p;
}

static void a_tree_is_bounded_while_it_is_made(void **state)
{
	const uint32_t n_samples = 500, depth = 200, max = 2000;
	int64_t sum = 0;
	SCOPED(profile_free) struct profile *p = diverse_profile(n_samples, depth, &sum);
	SCOPED(flame_tree_free) struct flame_tree *t = flame_tree_new(p, max);
	uint32_t node = 0, n_deep = 0;

	(void)state;
	check_sums(t);
	assert_int_equal(flame_tree_node(t, 0)->total[0], sum);
	/* Of 100,000 nodes; each sample that is cut may have its rest at a place of its own. */
	assert_in_range(flame_tree_n_nodes(t), max, max + max / 4 + 2 * n_samples);
	/* The largest sample is there down to its leaf. */
	while ((node = flame_tree_next(t, node)))
		n_deep +=
			flame_tree_node(t, node)->self[0] >= 1000 &&
			flame_tree_frame(t, flame_tree_node(t, node)->frame)->kind == FRAME_NATIVE;
	assert_int_equal(n_deep, 1);
}

static void threads_are_a_level_only_when_asked_for(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile();
	SCOPED(flame_tree_free)
	struct flame_tree *with = flame_tree_new_with_threads(p, UINT32_MAX);
	SCOPED(flame_tree_free) struct flame_tree *without = flame_tree_new(p, UINT32_MAX);
	uint32_t worker = node_named(with, "worker/0");

	(void)state;
	assert_int_equal(flame_tree_frame(with, flame_tree_node(with, worker)->frame)->kind,
			 FLAME_THREAD);
	assert_int_equal(node_named(without, "worker/0"), 0);
	assert_int_not_equal(node_named(without, "server"), 0);
	assert_null(flame_tree_new_with_threads(p, flame_tree_n_nodes(with) - 1));
}

/* A function is one frame wherever the file's name comes from, another one inlined or elsewhere. */
static void frames_merge_by_name_module_kind_and_inlining(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile_empty();
	uint32_t a = sample_mapping(p, "/bin/a", 1, 2, 0, ""),
		 b = sample_mapping(p, "/bin/b", 1, 2, 0, "");
	uint32_t plain = sample_function(p, "f", "f", "", 0),
		 placed = sample_function(p, "f", "f", "f.c", 7);
	struct location l = { .mapping = a, .address = 9, .kind = FRAME_NATIVE };
	struct line lines[] = { { placed, 8, 0 }, { plain, 0, 0 } };
	SCOPED(flame_tree_free) struct flame_tree *t = NULL;
	const uint32_t locations[] = {
		sample_location(p, FRAME_NATIVE, a, 1, plain, 0),
		sample_location(p, FRAME_NATIVE, a, 2, placed, 8),
		sample_location(p, FRAME_NATIVE, b, 1, plain, 0),
		sample_location(p, FRAME_KERNEL, a, 1, plain, 0),
		profile_location(p, &l, lines, 2),
	};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		sample_add(p, 0, 1, &locations[i], 1);
	t = flame_tree_new_with_threads(p, UINT32_MAX);
	assert_int_equal(flame_tree_n_frames(t), 4); /* a, b, kernel, inlined */
	assert_int_equal(flame_tree_n_nodes(t), 4);
	assert_int_equal(flame_tree_node(t, 1)->total[0], 3);
	assert_string_equal(flame_tree_string(t, flame_tree_frame(t, 1)->file, NULL), "f.c");
	assert_int_equal(flame_tree_frame(t, 1)->start_line, 7);
}

static void sums_saturate(void **state)
{
	SCOPED(profile_free) struct profile *p = sample_profile_empty();
	const int64_t values[MAX_VALUES] = { INT64_MAX, INT64_MAX };
	SCOPED(flame_tree_free) struct flame_tree *t = NULL;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		profile_add(p, profile_stack(p, &i, 1), 0, 0, values);
	t = flame_tree_new_with_threads(p, UINT32_MAX);
	assert_int_equal(flame_tree_node(t, 0)->total[0], INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_selves_and_children),
		cmocka_unit_test(any_limit_keeps_the_sums),
		cmocka_unit_test(a_tree_is_bounded_while_it_is_made),
		cmocka_unit_test(threads_are_a_level_only_when_asked_for),
		cmocka_unit_test(frames_merge_by_name_module_kind_and_inlining),
		cmocka_unit_test(sums_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
