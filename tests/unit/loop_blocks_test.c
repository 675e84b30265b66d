// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/loop_blocks.h"
#include "bpf/sample_queue.h"
#include "bpf/waits.h"
#include "core/profile.h"

#define MS UINT64_C(1000000)
#define LIMIT (100 * MS)
struct test {
	struct profile *profile;
	struct loop_blocks *blocks;
	uint32_t plain; /* labels */
};

static void begin(struct test *t, uint64_t limit_ns, size_t max)
{
	struct label label;

	loop_blocks_free(t->blocks);
	profile_free(t->profile);
	t->profile = profile_new();
	profile_begin(t->profile, "cpu", "nanoseconds");
	label = (struct label){ .key = profile_string(t->profile, "tid"), .num = 7 };
	t->plain = profile_label_set(t->profile, &label, 1);
	t->blocks = loop_blocks_new(t->profile, limit_ns, max);
}

static int set_up(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	begin(t, LIMIT, 0);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct test *t = *state;

	loop_blocks_free(t->blocks);
	profile_free(t->profile);
	free(t);
	return 0;
}

/* Seconds as the bits of a double, as CPython has them. */
static uint64_t bits_of(uint64_t ms)
{
	double seconds = (double)ms / 1000;
	uint64_t bits;

	memcpy(&bits, &seconds, sizeof(bits));
	return bits;
}

static void add_at(struct test *t, const struct wire_sample *s, uint64_t since_ms, const char *task)
{
	const struct wire_python python = { .loop_time = bits_of(since_ms) };
	const struct queued_sample q = { .sample = s, .python = since_ms ? &python : NULL };
	const struct explained_sample sample = { .stack = 1, /* whatever it is */
						 .labels = t->plain,
						 .time_ns = s->time_ns,
						 .weight = 10 };

	loop_blocks_add(t->blocks, &q, task, &sample);
}

static void add_of(struct test *t, uint32_t tid, uint64_t since_ms, uint64_t at_ms,
		   const char *task)
{
	const struct wire_sample s = { .pid = 70, .tid = tid, .time_ns = at_ms * MS };

	add_at(t, &s, since_ms, task);
}

static void add(struct test *t, uint64_t since_ms, uint64_t at_ms)
{
	add_of(t, 7, since_ms, at_ms, NULL);
}

static bool is_marked(const struct test *t, uint32_t labels)
{
	size_t n;
	const struct label *set = profile_get_labels(t->profile, labels, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(profile_get_string(t->profile, set[i].key), "loop"))
			return !strcmp(profile_get_string(t->profile, set[i].str), "blocked");
	return false;
}

/* Samples in the profile so far, with the mark or without it. */
static int64_t n_of(const struct test *t, bool with_mark)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < profile_n_samples(t->profile); i++) {
		const struct sample *s = profile_get_sample(t->profile, i);

		if (is_marked(t, s->labels) == with_mark)
			n += s->values[0];
	}
	return n;
}

/* Of a thread that executes no task: the time may be of the turn before. */
static void add_unsure(struct test *t, uint64_t since_ms, uint64_t at_ms)
{
	const struct wire_sample s = { .pid = 70, .tid = 7, .time_ns = at_ms * MS };
	const struct wire_python python = { .h = { .flags = WIRE_PYTHON_LOOP_UNSURE },
					    .loop_ms = since_ms };
	const struct queued_sample q = { .sample = &s, .python = &python };
	const struct explained_sample sample = {
		.stack = 1, .labels = t->plain, .time_ns = s.time_ns, .weight = 10
	};

	loop_blocks_add(t->blocks, &q, NULL, &sample);
}

/* Who comes back from a long sleep has the time from before for a moment. */
static void one_sample_without_a_task_says_nothing(void **state)
{
	struct test *t = *state;

	add_unsure(t, 1000, 1010);
	add_unsure(t, 1000, 5000);
	add_unsure(t, 5000, 5010);
	loop_blocks_flush(t->blocks);
	assert_int_equal(n_of(t, true), 0);
	assert_int_equal(n_of(t, false), 3);
	assert_int_equal(loop_blocks_summary(t->blocks)->n, 0);
}

static void a_callback_without_a_task_is_marked_from_its_second_sample_on(void **state)
{
	struct test *t = *state;

	add_unsure(t, 1000, 1010);
	add_unsure(t, 1000, 1110);
	assert_int_equal(n_of(t, true) + n_of(t, false), 0);
	add_unsure(t, 1000, 1120);
	assert_int_equal(n_of(t, true), 3);
	loop_blocks_flush(t->blocks);
	assert_int_equal(loop_blocks_summary(t->blocks)->longest_ns, 120 * MS);
}

/* Nor does it make a turn longer than it was. */
static void a_turn_that_was_too_long_does_not_last_until_the_next_one(void **state)
{
	struct test *t = *state;

	add(t, 1000, 1110);
	assert_int_equal(n_of(t, true), 1);
	add_unsure(t, 1000, 9000);
	loop_blocks_flush(t->blocks);
	assert_int_equal(n_of(t, true), 1);
	assert_int_equal(loop_blocks_summary(t->blocks)->longest_ns, 110 * MS);
}

static void a_turn_that_is_too_long_is_marked_from_its_beginning(void **state)
{
	struct test *t = *state;

	add(t, 1000, 1010);
	add(t, 1000, 1090);
	assert_int_equal(n_of(t, true) + n_of(t, false), 0);
	add(t, 1000, 1110);
	assert_int_equal(n_of(t, true), 3);
	add(t, 1000, 1120);
	assert_int_equal(n_of(t, true), 4);
	assert_int_equal(n_of(t, false), 0);
}

static void a_short_turn_is_not_marked(void **state)
{
	struct test *t = *state;

	add(t, 1000, 1010);
	add(t, 1000, 1100); /* not more than the limit */
	add(t, 1150, 1160);
	assert_int_equal(n_of(t, false), 2);
	loop_blocks_flush(t->blocks);
	assert_int_equal(n_of(t, false), 3);
	assert_int_equal(n_of(t, true), 0);
}

static void other_threads_are_not_its_business(void **state)
{
	struct test *t = *state;

	add_of(t, 8, 0, 1005, NULL); /* no loop */
	assert_int_equal(n_of(t, false), 1);
	add_of(t, 9, 1000, 1010, NULL);
	add(t, 1000, 1200);
	assert_int_equal(n_of(t, true), 1);
	assert_int_equal(n_of(t, false), 1);
	add_of(t, 9, 1100, 1210, NULL);
	assert_int_equal(n_of(t, false), 2);
}

static void samples_after_the_loop_is_back_are_not_marked(void **state)
{
	struct test *t = *state;

	add(t, 1000, 1110);
	add(t, 0, 1125); /* in its selector */
	add(t, 1130, 1140);
	loop_blocks_flush(t->blocks);
	assert_int_equal(n_of(t, true), 1);
	assert_int_equal(n_of(t, false), 2);
}

static void the_task_with_most_samples_is_at_fault(void **state)
{
	struct test *t = *state;
	uint32_t bad = profile_string(t->profile, "bad");
	const struct loop_summary *s = loop_blocks_summary(t->blocks);

	profile_string(t->profile, "good");
	add_of(t, 7, 1000, 1010, "good");
	add_of(t, 7, 1000, 1110, "bad");
	add_of(t, 7, 1000, 1130, "bad");
	add_of(t, 8, 2000, 2105, "good");
	add_of(t, 7, 1140, 2120, NULL); /* a callback, and the longest */
	add_of(t, 9, 2000, 2010, "good");
	loop_blocks_flush(t->blocks);
	assert_int_equal(s->n, 3);
	assert_int_equal(s->sum_ns, (130 + 105 + 980) * MS);
	assert_int_equal(s->longest_ns, 980 * MS);
	assert_int_equal(s->longest_pid, 70);
	assert_int_equal(s->longest_task, 0);
	begin(t, LIMIT, 0);
	bad = profile_string(t->profile, "bad");
	s = loop_blocks_summary(t->blocks);
	add_of(t, 7, 1000, 1010, "good");
	add_of(t, 7, 1000, 1110, "bad");
	add_of(t, 7, 1000, 1130, "bad");
	loop_blocks_flush(t->blocks);
	assert_int_equal(s->longest_task, bad);
	assert_int_equal(s->longest_span, 0);
}

static void the_span_that_it_was_in_is_said(void **state)
{
	struct test *t = *state;
	const struct loop_summary *s = loop_blocks_summary(t->blocks);
	struct label label = { .key = profile_string(t->profile, "span_name") };

	profile_string(t->profile, "Task-7");
	for (uint32_t tid = 7; tid < 9; tid++) {
		t->plain = 0;
		add_of(t, tid, 1000, 1010, "Task-7");
		label.str = profile_string(t->profile, tid == 7 ? "GET /slow" : "GET /");
		t->plain = profile_label_set(t->profile, &label, 1);
		add_of(t, tid, 1000, tid == 7 ? 1150 : 1140, "Task-7");
	}
	loop_blocks_flush(t->blocks);
	assert_string_equal(profile_get_string(t->profile, s->longest_task), "Task-7");
	assert_string_equal(profile_get_string(t->profile, s->longest_span), "GET /slow");
}

/* Before the process began, or later than the sample. */
static void a_loop_with_a_clock_of_its_own_is_not_marked(void **state)
{
	struct wire_sample s = { .time_ns = 5000 * MS, .start_time_ns = UINT64_MAX / 2 };
	struct test *t = *state;

	add_at(t, &s, 1000, NULL);
	s.start_time_ns = 0;
	add_at(t, &s, 6000, NULL);
	assert_int_equal(n_of(t, false), 2);
}

static void without_a_limit_nothing_is_held_back(void **state)
{
	struct test *t = *state;

	begin(t, 0, 0);
	add(t, 1000, 9000);
	assert_int_equal(n_of(t, false), 1);
	assert_int_equal(n_of(t, true), 0);
}

static void held_samples_have_a_bound(void **state)
{
	struct test *t = *state;
	int64_t n = 100000;

	for (int64_t i = 0; i < n; i++)
		add(t, 1000, 1001 + (uint64_t)i % 50);
	assert_true(n_of(t, false) > 0);
	assert_true(loop_blocks_over_budget(t->blocks) > 0);
	assert_true(loop_blocks_memory(t->blocks) < 8 << 20);
	loop_blocks_flush(t->blocks);
	assert_int_equal(n_of(t, false), n);
}

static void loops_have_a_bound(void **state)
{
	struct test *t = *state;
	uint32_t n = 5000;

	for (uint32_t i = 0; i < n; i++)
		add_of(t, 100 + i, 1000, 1001 + i / 1000, NULL);
	assert_true(loop_blocks_memory(t->blocks) < 4 << 20);
	loop_blocks_flush(t->blocks);
	assert_int_equal(n_of(t, false), n);
}

static void labels_have_a_bound(void **state)
{
	struct test *t = *state;
	uint32_t key = profile_string(t->profile, "tid");
	int64_t n = 100000;

	begin(t, LIMIT, 100000);
	for (int64_t i = 0; i < n; i++) {
		struct label label = { .key = key, .num = i };

		t->plain = profile_label_set(t->profile, &label, 1);
		add(t, 1000, 1110);
	}
	assert_true(n_of(t, true) > 100);
	assert_true(n_of(t, true) < 20000);
	assert_int_equal(n_of(t, false), n - n_of(t, true));
	assert_int_equal(loop_blocks_over_budget(t->blocks), n_of(t, false));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(one_sample_without_a_task_says_nothing),
		TEST(a_callback_without_a_task_is_marked_from_its_second_sample_on),
		TEST(a_turn_that_was_too_long_does_not_last_until_the_next_one),
		TEST(a_turn_that_is_too_long_is_marked_from_its_beginning),
		TEST(a_short_turn_is_not_marked),
		TEST(other_threads_are_not_its_business),
		TEST(samples_after_the_loop_is_back_are_not_marked),
		TEST(the_span_that_it_was_in_is_said),
		TEST(the_task_with_most_samples_is_at_fault),
		TEST(a_loop_with_a_clock_of_its_own_is_not_marked),
		TEST(without_a_limit_nothing_is_held_back),
		TEST(held_samples_have_a_bound),
		TEST(loops_have_a_bound),
		TEST(labels_have_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
