// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/profile_merge.h"
#include "tests/unit/sample_profile.h"

static void same_row_is_stored_once(void **state)
{
	struct profile *p = profile_new();
	struct function f = { profile_string(p, "f"), 0, 0, 1 };
	struct profile_mapping m = { .start = 1, .limit = 2 };
	struct location l = { .address = 1, .mapping = profile_mapping(p, &m) };
	struct line line = { profile_function(p, &f), 3, 0 };
	uint32_t location = profile_location(p, &l, &line, 1);

	(void)state;
	assert_int_equal(profile_string(p, "f"), f.name);
	assert_int_equal(profile_string_n(p, "fg", 1), f.name);
	assert_int_equal(profile_function(p, &f), line.function);
	assert_int_equal(profile_mapping(p, &m), l.mapping);
	assert_int_equal(profile_location(p, &l, &line, 1), location);
	l.lines = 77; /* ignored */
	assert_int_equal(profile_location(p, &l, &line, 1), location);
	assert_int_not_equal(profile_location(p, &l, NULL, 0), location);
	assert_int_equal(profile_stack(p, &location, 1), profile_stack(p, &location, 1));
	assert_int_equal(profile_n_functions(p), 1);
	assert_int_equal(profile_n_mappings(p), 1);
	assert_int_equal(profile_n_locations(p), 2);
	assert_int_equal(profile_n_stacks(p), 1);
	assert_int_equal(profile_error(p), 0);
	assert_true(profile_memory(p) > sizeof(f));
	profile_free(p);
}

static void nothing_is_id_zero_and_reads_as_nothing(void **state)
{
	struct profile *p = profile_new();
	size_t n = 1;

	(void)state;
	assert_int_equal(profile_string(p, NULL), 0);
	assert_int_equal(profile_string(p, ""), 0);
	assert_int_equal(profile_string_n(p, NULL, 0), 0);
	assert_int_equal(profile_string_n(p, NULL, 5), 0);
	assert_int_equal(profile_string_n(p, "\0x", 2), 0);
	assert_int_equal(profile_label_set(p, NULL, 0), 0);
	for (uint32_t id = 0; id <= UINT16_MAX; id += UINT16_MAX) {
		assert_string_equal(profile_get_string(p, id), "");
		assert_int_equal(profile_string_len(p, id), 0);
		assert_int_equal(profile_get_function(p, id)->name, 0);
		assert_int_equal(profile_get_mapping(p, id)->limit, 0);
		assert_int_equal(profile_get_location(p, id).address, 0);
		assert_null(profile_get_lines(p, id, &n));
		assert_int_equal(n, 0);
		assert_null(profile_get_stack(p, id, &n));
		assert_null(profile_get_labels(p, id, &n));
		assert_int_equal(n, 0);
		assert_null(profile_get_sample(p, id));
		assert_null(profile_get_comment(p, id));
	}
	profile_set_lines(p, 0, NULL, 0, 0);
	profile_set_lines(p, 9, NULL, 0, 0);
	assert_int_equal(profile_error(p), 0);
	profile_free(p);
	profile_free(NULL);
}

static void empty_stack_is_a_stack_like_others(void **state)
{
	struct profile *p = profile_new();
	uint32_t empty = profile_stack(p, NULL, 0);
	size_t n = 1;

	(void)state;
	assert_int_not_equal(empty, 0);
	assert_int_equal(profile_stack(p, NULL, 0), empty);
	profile_get_stack(p, empty, &n);
	assert_int_equal(n, 0);
	profile_free(p);
}

static void strings_end_at_a_nul(void **state)
{
	struct profile *p = profile_new();
	uint32_t id = profile_string_n(p, "ab\0cd", 5);

	(void)state;
	assert_string_equal(profile_get_string(p, id), "ab");
	assert_int_equal(profile_string_len(p, id), 2);
	profile_free(p);
}

static void lines_found_later_are_seen_by_every_stack(void **state)
{
	struct profile *p = profile_new();
	struct location l = { .address = 5, .flags = LOCATION_UNSYMBOLIZED };
	uint32_t id = profile_location(p, &l, NULL, 0);
	struct line lines[] = { { 1, 2, 3 }, { 4, 5, 6 } };
	size_t n;

	(void)state;
	assert_int_equal(profile_get_location(p, id).flags, LOCATION_UNSYMBOLIZED);
	profile_set_lines(p, id, lines, 1, LOCATION_UNNAMED | LOCATION_FOLDED);
	assert_int_equal(profile_get_location(p, id).flags, LOCATION_UNNAMED | LOCATION_FOLDED);
	profile_set_lines(p, id, lines, 2, LOCATION_FOLDED);
	assert_int_equal(profile_get_location(p, id).flags, LOCATION_FOLDED);
	assert_memory_equal(profile_get_lines(p, id, &n), lines, sizeof(lines));
	assert_int_equal(n, 2);
	/* The row is still the one that was asked for first. */
	assert_int_equal(profile_location(p, &l, NULL, 0), id);
	profile_set_lines(p, id, NULL, 0, 0);
	profile_get_lines(p, id, &n);
	assert_int_equal(n, 2);
	profile_free(p);
}

static void samples_of_a_stack_and_labels_add_up(void **state)
{
	struct profile *p = sample_profile_empty();
	uint32_t location = sample_location(p, FRAME_NATIVE, 0, 1, 0, 0);
	uint32_t stack = profile_stack(p, &location, 1);
	int64_t one[MAX_VALUES] = { 1, 10, 100 }, many[MAX_VALUES] = { INT64_MAX };

	(void)state;
	profile_add(p, stack, 0, 7, one);
	profile_add(p, stack, 1, 8, one);
	profile_add(p, stack, 0, 9, one);
	assert_int_equal(profile_n_samples(p), 2);
	assert_int_equal(profile_get_sample(p, 0)->values[0], 2);
	assert_int_equal(profile_get_sample(p, 0)->values[1], 20);
	assert_int_equal(profile_get_sample(p, 0)->time_ns, 7);
	assert_int_equal(profile_get_sample(p, 1)->time_ns, 8);
	assert_int_equal(profile_add(p, stack, 0, 9, NULL), 1); /* nothing */
	assert_int_equal(profile_get_sample(p, 0)->values[1], 20);
	assert_int_equal(profile_add(p, stack, 2, 9, NULL), 3);
	assert_int_equal(profile_get_sample(p, 2)->values[0], 0);
	profile_add(p, stack, 0, 9, many); /* wraps, which only a lie can reach */
	profile_free(p);
}

static void types_that_are_left_out_leave_the_others_of_all_samples(void **state)
{
	struct profile *p = sample_profile_empty();
	const uint32_t n_samples = 1000;

	(void)state;
	profile_header(p)->n_sample_types = 3;
	for (uint32_t i = 1; i <= n_samples; i++)
		profile_add(p, 0, i, i, (int64_t[MAX_VALUES]){ i, 2 * i, 3 * i });
	profile_keep_types(p, 1u << 0 | 1u << 2);
	profile_add(p, 0, 7, 7, (int64_t[MAX_VALUES]){ 1, 1 });
	profile_add(p, 0, n_samples + 1, 0, (int64_t[MAX_VALUES]){ 5, 6 });
	for (uint32_t i = 1; i <= n_samples; i++) {
		const struct sample *s = profile_get_sample(p, i - 1);

		assert_int_equal(s->labels, i);
		assert_int_equal(s->time_ns, i);
		assert_int_equal(s->values[0], i + (i == 7));
		assert_int_equal(s->values[1], 3 * i + (i == 7));
	}
	assert_int_equal(profile_get_sample(p, n_samples)->values[1], 6);
	profile_free(p);
}

/* Samples that come without values, each with those of its own types. */
static struct profile *with_types_that_come(uint32_t first, uint32_t n, uint32_t type)
{
	struct profile *p = sample_profile_empty();

	profile_header(p)->n_sample_types = 5;
	for (uint32_t i = 0; i < n; i++) {
		int64_t values[MAX_VALUES] = { 0 };
		struct label label = { .key = profile_string(p, "number"), .num = first + i };
		uint32_t id = profile_add_none(p, 0, profile_label_set(p, &label, 1), first + i);

		values[type] = first + i;
		values[4] = 1;
		profile_add_more(p, id, values, 1u << (i < n / 2 ? type : 4));
		profile_add_more(p, id, values, 1u << type);
	}
	return p;
}

static bool keeps_stack(void *ctx, struct sample *s)
{
	(void)ctx, (void)s;
	return true;
}

static void types_that_come_later_leave_what_was_there(void **state)
{
	const uint32_t n = 700;
	struct profile *p = with_types_that_come(1, n, 2),
		       *other = with_types_that_come(n + 1, n, 1);

	(void)state;
	profile_restack(p, keeps_stack, NULL);
	profile_widen(p, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4);
	profile_widen(other, 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4);
	assert_int_equal(profile_merge(p, other), 0);
	profile_keep_types(p, 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
	assert_int_equal(profile_error(p), 0);
	assert_int_equal(profile_get_header(p)->n_sample_types, 4);
	assert_int_equal(profile_n_samples(p), 2 * n);
	for (uint32_t i = 0; i < 2 * n; i++) {
		const struct sample *s = profile_get_sample(p, i);
		bool is_early = i % n < n / 2, is_first = i < n;

		assert_int_equal(s->time_ns, i + 1);
		assert_int_equal(s->values[0], is_first ? 0 : (i + 1) * (1 + is_early));
		assert_int_equal(s->values[1], is_first ? (i + 1) * (1 + is_early) : 0);
		assert_int_equal(s->values[2], 0); /* a type that never came */
		assert_int_equal(s->values[3], !is_early);
	}
	profile_free(other);
	profile_free(p);
}

static void rows_stay_where_they_are_while_thousands_follow(void **state)
{
	struct profile *p = sample_profile_empty();
	const char *first = profile_get_string(p, profile_string(p, "first"));

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t location = sample_location(p, FRAME_NATIVE, 0, i, 0, 0);

		assert_int_equal(location, i + 1);
		sample_add(p, 0, i, &location, 1);
	}
	assert_ptr_equal(profile_get_string(p, profile_string(p, "first")), first);
	for (uint32_t i = 0; i < 20000; i++) {
		const struct sample *s = profile_get_sample(p, i);
		size_t n;
		const uint32_t *stack = profile_get_stack(p, s->stack, &n);

		assert_int_equal(s->values[0], i);
		assert_int_equal(profile_get_location(p, stack[0]).address, i);
	}
	profile_free(p);
}

static void labels_are_a_set(void **state)
{
	struct profile *p = profile_new();
	struct label a = { .key = 3, .num = 1 }, b = { .key = 2, .num = 2 },
		     c = { .key = 2, .num = 1 };
	struct label abc[] = { a, b, c }, cab[] = { c, a, b };
	uint32_t id = profile_label_set(p, abc, 3);
	const struct label *labels;
	size_t n;

	(void)state;
	assert_int_equal(profile_label_set(p, cab, 3), id);
	labels = profile_get_labels(p, id, &n);
	assert_int_equal(n, 3);
	assert_int_equal(labels[0].num, 1);
	assert_int_equal(labels[2].key, 3);
	profile_free(p);
}

static void counts_of_a_name_add_up(void **state)
{
	struct profile *p = profile_new();
	uint64_t n;

	(void)state;
	profile_count(p, "ticks.lost", 1);
	profile_count(p, "ticks.sampled", 5);
	profile_count(p, "ticks.lost", 2);
	assert_int_equal(profile_n_counts(p), 2);
	assert_string_equal(profile_get_count(p, 0, &n), "ticks.lost");
	assert_int_equal(n, 3);
	assert_null(profile_get_count(p, 2, &n));
	profile_comment(p, "one");
	profile_comment(p, "");
	assert_int_equal(profile_n_comments(p), 1);
	profile_free(p);
}

static void frame_kinds_have_names_that_come_back(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_FRAME_KINDS; kind++)
		assert_int_equal(frame_kind_of_name(frame_kind_name(kind)), kind);
	assert_string_equal(frame_kind_name(N_FRAME_KINDS), "unknown");
	assert_int_equal(frame_kind_of_name("perl"), FRAME_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_row_is_stored_once),
		cmocka_unit_test(nothing_is_id_zero_and_reads_as_nothing),
		cmocka_unit_test(empty_stack_is_a_stack_like_others),
		cmocka_unit_test(strings_end_at_a_nul),
		cmocka_unit_test(lines_found_later_are_seen_by_every_stack),
		cmocka_unit_test(samples_of_a_stack_and_labels_add_up),
		cmocka_unit_test(types_that_are_left_out_leave_the_others_of_all_samples),
		cmocka_unit_test(types_that_come_later_leave_what_was_there),
		cmocka_unit_test(rows_stay_where_they_are_while_thousands_follow),
		cmocka_unit_test(labels_are_a_set),
		cmocka_unit_test(counts_of_a_name_add_up),
		cmocka_unit_test(frame_kinds_have_names_that_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
