// SPDX-License-Identifier: Apache-2.0
/* The words of a stack are what is there, read in few pieces; nothing behind its end is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tests/unit/bpf_fake.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf/maps.bpf.h"
#include "unwinders/unwind.bpf.h"
#pragma GCC diagnostic pop

#define BASE 0x7ffd00000000
#define N_PAGES 8
#define END (BASE + N_PAGES * PAGE_LEN)

static uint64_t memory[N_PAGES * PAGE_LEN / sizeof(uint64_t)];

static int set_up(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		memory[i] = i * 0x0101010101010101;
	memset(&fake, 0, sizeof(fake));
	fake.scratches = &scratches;
	fake.scratch = s;
	fake.memory = (const uint8_t *)memory;
	fake.memory_at = BASE;
	fake.memory_len = sizeof(memory);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

/* A sample whose stack begins there. */
static void begin(struct scratch *s, uint64_t sp)
{
	s->window_start = s->window_len = 0;
	s->missed = sp;
	fake.n_reads = 0;
}

/* Negative, or they are what the memory has. */
static int read_words(struct scratch *s, uint64_t addr, uint32_t n)
{
	__u64 words[2] = { 0 };

	if (read_stack(&s->u, addr, words, n))
		return -1;
	assert_memory_equal(words, fake.memory + (addr - fake.memory_at), n * sizeof(*words));
	return 0;
}

static void words_are_what_is_there_wherever_frames_are(void **state)
{
	struct scratch *s = *state;

	for (uint64_t sp = BASE; sp < BASE + 2 * PAGE_LEN; sp += 8)
		for (uint64_t step = 16; step < 3 * PAGE_LEN; step = step * 2 + 8) {
			begin(s, sp);
			for (uint64_t at = sp; at + 16 <= END; at += step)
				assert_int_equal(read_words(s, at, 2), 0);
		}
}

static void stack_of_small_frames_is_read_in_few_pieces(void **state)
{
	struct scratch *s = *state;

	for (uint64_t sp = BASE; sp < BASE + PAGE_LEN; sp += 8) {
		begin(s, sp);
		for (uint64_t at = sp; at + 16 <= END; at += 48)
			assert_int_equal(read_words(s, at, 2), 0);
		assert_in_range(fake.n_reads, N_PAGES - 1, N_PAGES * 3 / 2);
	}
}

/* What the last page has is had, to its last word, for two reads at most that fail. */
static void stack_ends_with_its_mapping(void **state)
{
	struct scratch *s = *state;

	for (uint64_t at = END - 3 * PAGE_LEN; at < END; at += 8) {
		begin(s, END - 3 * PAGE_LEN);
		assert_int_equal(read_words(s, at, 1), 0);
		assert_int_equal(read_words(s, END - 8, 1), 0);
		assert_in_range(fake.n_reads, 1, 4);
		fake.n_reads = 0;
		assert_int_equal(read_words(s, END - 8, 2), -1);
		assert_in_range(fake.n_reads, 1, 2);
		assert_int_equal(read_words(s, END, 1), -1);
		assert_int_equal(read_words(s, BASE - 8, 2), -1);
		assert_int_equal(read_words(s, UINT64_MAX - 7, 1), -1);
	}
}

/* A page that is not there is asked for once. */
static void what_is_not_there_is_not_read_twice(void **state)
{
	struct scratch *s = *state;

	begin(s, END);
	assert_int_equal(read_words(s, END, 2), -1);
	assert_int_equal(fake.n_reads, 1);
	begin(s, END);
	assert_int_equal(read_words(s, END + 3 * PAGE_LEN, 2), -1); /* a large frame */
	assert_int_equal(fake.n_reads, 1);
}

/* A read that fails leaves zeros, which are nobody's words. */
static void failed_read_leaves_no_words(void **state)
{
	struct scratch *s = *state;

	begin(s, BASE);
	assert_int_equal(read_words(s, BASE, 2), 0);
	assert_int_equal(read_words(s, END + 8, 1), -1);
	assert_int_equal(read_words(s, END + 16, 1), -1);
	assert_int_equal(read_words(s, BASE + 16, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words_are_what_is_there_wherever_frames_are, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(stack_of_small_frames_is_read_in_few_pieces, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(stack_ends_with_its_mapping, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_not_read_twice, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(failed_read_leaves_no_words, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
