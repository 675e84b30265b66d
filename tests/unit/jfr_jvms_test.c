// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "jfr/chunk.h"
#include "jfr/jvms.h"

static const struct chunk_header first = {
	.start_ns = 1000000000,
	.duration_ns = 5000000000,
	.start_ticks = 500,
	.ticks_per_s = 1000000000,
};

/* The chunk that follows it, unless something is changed. */
static struct chunk_header next_of(const struct chunk_header *h)
{
	struct chunk_header next = *h;

	next.start_ns += (int64_t)h->duration_ns;
	next.start_ticks += (int64_t)h->duration_ns;
	return next;
}

/* A JVM whose first chunk was read. */
static struct jvm *read_first(struct jvms *jvms)
{
	struct jvm *jvm = jvms_get(jvms, "repository", &first);

	assert_non_null(jvm);
	jvm->last = first;
	jvms_put(jvms, jvm);
	return jvm;
}

static void the_chunk_that_follows_is_of_the_same_jvm(void **state)
{
	struct chunk_header next = next_of(&first);
	struct jvms jvms = { 0 };
	struct jvm *jvm = read_first(&jvms);

	(void)state;
	next.start_ns += 50000000;
	assert_ptr_equal(jvms_get(&jvms, "repository", &next), jvm);
	jvms_put(&jvms, jvm);
	jvms_deinit(&jvms);
}

static void any_other_is_of_another(void **state)
{
	struct chunk_header cases[5];
	struct jvms jvms = { 0 };
	struct jvm *jvm = read_first(&jvms);

	(void)state;
	for (int i = 0; i < 5; i++)
		cases[i] = next_of(&first);
	cases[0].start_ns += 200000000;	   /* later */
	cases[1].start_ticks += 200000000; /* by its ticks */
	cases[2].ticks_per_s = 2500000000; /* of another clock */
	cases[3].start_ns -= 200000000;	   /* before its end */
	cases[4].start_ticks = 0;	   /* of a JVM that has just begun */
	for (int i = 0; i < 5; i++) {
		struct jvm *other = jvms_get(&jvms, "repository", &cases[i]);

		assert_ptr_not_equal(other, jvm);
		jvms_put(&jvms, other);
	}
	jvms_deinit(&jvms);
}

static void neither_is_one_in_another_directory_nor_after_the_last(void **state)
{
	struct chunk_header next = next_of(&first);
	struct jvms jvms = { 0 };
	struct jvm *jvm = read_first(&jvms), *other;

	(void)state;
	other = jvms_get(&jvms, "elsewhere", &next);
	assert_ptr_not_equal(other, jvm);
	jvms_put(&jvms, other);
	jvm->last.is_final = true;
	other = jvms_get(&jvms, "repository", &next);
	assert_ptr_not_equal(other, jvm);
	jvms_put(&jvms, other);
	jvms_deinit(&jvms);
}

static void one_whose_chunk_is_being_read_is_not_given_out(void **state)
{
	struct chunk_header next = next_of(&first);
	struct jvms jvms = { 0 };
	struct jvm *jvm = read_first(&jvms), *other;

	(void)state;
	assert_ptr_equal(jvms_get(&jvms, "repository", &next), jvm);
	other = jvms_get(&jvms, "repository", &next);
	assert_ptr_not_equal(other, jvm);
	jvms_put(&jvms, other);
	jvms_put(&jvms, jvm);
	jvms_deinit(&jvms);
}

static void chunks_wait_for_those_before_them(void **state)
{
	struct chunk_header next[4] = { next_of(&first) };
	struct jvms jvms = { 0 };
	struct jvm *jvm = jvms_get(&jvms, "repository", &first);

	(void)state;
	jvm->reading = first;
	for (int i = 1; i < 4; i++)
		next[i] = next_of(&next[i - 1]);
	/* Nobody knows of those between yet. */
	assert_false(jvms_should_wait(&jvms, "repository", &next[1]));
	for (int i = 0; i < 3; i++)
		assert_true(jvms_should_wait(&jvms, "repository", &next[i]));
	assert_false(jvms_should_wait(&jvms, "elsewhere", &next[0]));
	jvm->last = first;
	jvms_put(&jvms, jvm);
	/* It is the turn of the next one, whoever is asked about first. */
	assert_true(jvms_should_wait(&jvms, "repository", &next[2]));
	assert_true(jvms_should_wait(&jvms, "repository", &next[3]));
	assert_true(jvms_should_wait(&jvms, "repository", &next[1]));
	assert_false(jvms_should_wait(&jvms, "repository", &next[0]));
	jvms_deinit(&jvms);
}

static void none_waits_for_ever_for_one_that_is_gone(void **state)
{
	struct chunk_header next[3] = { next_of(&first) };
	struct jvms jvms = { 0 };
	struct jvm *jvm = jvms_get(&jvms, "repository", &first);

	(void)state;
	jvm->reading = first;
	for (int i = 1; i < 3; i++)
		next[i] = next_of(&next[i - 1]);
	for (int i = 0; i < 3; i++)
		assert_true(jvms_should_wait(&jvms, "repository", &next[i]));
	jvm->last = first;
	jvms_put(&jvms, jvm);
	jvm->awaited_ns -= UINT64_C(3000000000);
	assert_false(jvms_should_wait(&jvms, "repository", &next[1]));
	jvms_deinit(&jvms);
}

/* Each may take longer than anyone waits for one that is gone. */
static void a_long_row_is_waited_for_as_long_as_it_goes_on(void **state)
{
	const uint64_t long_ns = UINT64_C(3000000000);
	struct chunk_header next[5] = { next_of(&first) };
	struct jvms jvms = { 0 };
	struct jvm *jvm = jvms_get(&jvms, "repository", &first);

	(void)state;
	jvm->reading = first;
	for (int i = 1; i < 5; i++)
		next[i] = next_of(&next[i - 1]);
	for (int i = 0; i < 5; i++)
		assert_true(jvms_should_wait(&jvms, "repository", &next[i]));
	for (int i = 0; i < 4; i++) {
		struct chunk c = { .header = i ? next[i - 1] : first };

		/* While it is read, ... */
		jvm->awaited_ns -= long_ns;
		assert_true(jvms_should_wait(&jvms, "repository", &next[i + 1]));
		/* ... when it was, and when the next one begins. */
		jvm_keep(jvm, &c);
		jvms_put(&jvms, jvm);
		assert_true(jvms_should_wait(&jvms, "repository", &next[i + 1]));
		assert_false(jvms_should_wait(&jvms, "repository", &next[i]));
		assert_ptr_equal(jvms_get(&jvms, "repository", &next[i]), jvm);
		jvm->reading = next[i];
	}
	jvms_put(&jvms, jvm);
	jvms_deinit(&jvms);
}

/* Another JVM's chunk may begin when this one was flushed, which goes on. */
static void none_waits_long_for_one_that_grows(void **state)
{
	struct chunk_header growing = first, next = next_of(&first);
	struct jvms jvms = { 0 };
	struct jvm *jvm = jvms_get(&jvms, "repository", &first);

	(void)state;
	growing.state = 1;
	jvm->reading = growing;
	assert_true(jvms_should_wait(&jvms, "repository", &next));
	jvm->reading.duration_ns += UINT64_C(1000000000);
	assert_true(jvms_should_wait(&jvms, "repository", &next));
	jvm->awaited_ns -= UINT64_C(3000000000);
	assert_false(jvms_should_wait(&jvms, "repository", &next));
	jvms_put(&jvms, jvm);
	jvms_deinit(&jvms);
}

static void those_that_were_used_longest_ago_are_forgotten(void **state)
{
	struct jvms jvms = { .max = 3 };
	struct jvm *held = jvms_get(&jvms, "held", &first);

	(void)state;
	for (int i = 0; i < 10; i++) {
		char place[16];

		snprintf(place, sizeof(place), "%d", i);
		jvms_put(&jvms, jvms_get(&jvms, place, &first));
	}
	assert_int_equal(jvms.n, 4);
	for (size_t i = 0; i < jvms.n; i++)
		assert_true(jvms.items[i] == held || *jvms.items[i]->place >= '7');
	jvms_put(&jvms, held);
	jvms_deinit(&jvms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chunk_that_follows_is_of_the_same_jvm),
		cmocka_unit_test(any_other_is_of_another),
		cmocka_unit_test(neither_is_one_in_another_directory_nor_after_the_last),
		cmocka_unit_test(one_whose_chunk_is_being_read_is_not_given_out),
		cmocka_unit_test(chunks_wait_for_those_before_them),
		cmocka_unit_test(none_waits_for_ever_for_one_that_is_gone),
		cmocka_unit_test(a_long_row_is_waited_for_as_long_as_it_goes_on),
		cmocka_unit_test(none_waits_long_for_one_that_grows),
		cmocka_unit_test(those_that_were_used_longest_ago_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
