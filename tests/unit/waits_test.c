// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/waits.h"
#include "core/profile.h"

struct state {
	struct waits *waits;
	struct profile *profile;
};

static int set_up(void **state)
{
	static struct state s;

	s = (struct state){ .waits = waits_new(), .profile = profile_new() };
	profile_begin(s.profile, "gil_wait", "nanoseconds");
	*state = &s;
	return !s.waits || !s.profile;
}

static int tear_down(void **state)
{
	struct state *s = *state;

	waits_free(s->waits);
	profile_free(s->profile);
	return 0;
}

static bool add(struct state *s, uint32_t tid, uint64_t id, uint64_t weight)
{
	uint32_t location =
		profile_location(s->profile, &(struct location){ .address = id }, NULL, 0);
	struct explained_sample sample = { .id = id,
					   .tid = tid,
					   .weight = weight,
					   .stack = profile_stack(s->profile, &location, 1) };

	return waits_add(s->waits, s->profile, &sample);
}

static void end(struct state *s, uint32_t tid, uint64_t id, uint64_t weight)
{
	struct wire_weight record = { .sample_id = id, .weight = weight, .tid = tid };

	waits_end(s->waits, s->profile, &record);
}

static int64_t total(const struct state *s)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < profile_n_samples(s->profile); i++)
		sum += profile_get_sample(s->profile, i)->values[1];
	return sum;
}

static void a_sample_that_knows_its_worth_is_in_the_profile_at_once(void **state)
{
	struct state *s = *state;

	assert_true(add(s, 7, 1, 1000));
	assert_int_equal(total(s), 1000);
}

static void others_are_there_when_their_wait_is_over(void **state)
{
	struct state *s = *state;

	assert_true(add(s, 7, 1, 0));
	assert_true(add(s, 8, 2, 0));
	assert_int_equal(profile_n_samples(s->profile), 0);
	end(s, 8, 2, 300);
	assert_int_equal(total(s), 300);
	end(s, 7, 1, 5000);
	assert_int_equal(total(s), 5300);
	assert_int_equal(profile_n_samples(s->profile), 2);
}

static void an_end_counts_once_and_for_its_own_sample_only(void **state)
{
	struct state *s = *state;

	end(s, 7, 1, 1000);
	end(s, 0, 0, 1000);
	assert_true(add(s, 7, 2, 0));
	end(s, 7, 1, 1000);
	end(s, 8, 2, 1000);
	assert_int_equal(total(s), 0);
	end(s, 7, 2, 10);
	end(s, 7, 2, 10);
	assert_int_equal(total(s), 10);
}

static void a_new_wait_of_a_thread_ends_its_last_one(void **state)
{
	struct state *s = *state;

	assert_true(add(s, 7, 1, 0));
	assert_true(add(s, 7, 2, 0));
	end(s, 7, 1, 1000);
	assert_int_equal(total(s), 0);
	end(s, 7, 2, 10);
	assert_int_equal(total(s), 10);
}

static void a_thread_that_takes_another_ones_place_says_so(void **state)
{
	struct state *s = *state;

	assert_true(add(s, 7, 1, 0));
	assert_false(add(s, 7 + (1 << 20), 2, 0));
	end(s, 7 + (1 << 20), 2, 10);
	assert_int_equal(total(s), 10);
	assert_true(add(s, 7, 3, 0));
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_sample_that_knows_its_worth_is_in_the_profile_at_once),
		TEST(others_are_there_when_their_wait_is_over),
		TEST(an_end_counts_once_and_for_its_own_sample_only),
		TEST(a_new_wait_of_a_thread_ends_its_last_one),
		TEST(a_thread_that_takes_another_ones_place_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
