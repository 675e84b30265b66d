// SPDX-License-Identifier: Apache-2.0
/* Which futexes are the GIL's, over memory made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "unwinders/python_walk.h"

#define BASE 0x10000
#define LEN 0x4000
#define HEAD BASE /* where the address of the newest interpreter is, and of the main one */
#define GILS (BASE + 0x2000)
#define WAIT 32
#define WAIT_LEN 176
#define NEXT 16
#define GIL 24

static uint8_t memory[LEN];
static unsigned int n_reads;

static int read_user(__u64 addr, void *buf, __u32 len)
{
	n_reads++;
	if (addr < BASE || addr - BASE > LEN || len > LEN - (addr - BASE))
		return -1;
	memcpy(buf, memory + (addr - BASE), len);
	return 0;
}

#include "unwinders/python_gil.bpf.h"

static void put(uint64_t addr, uint64_t word)
{
	memcpy(memory + (addr - BASE), &word, sizeof(word));
}

static uint64_t interp_at(int i)
{
	return BASE + 0x100 + (uint64_t)i * 0x40;
}

static uint64_t gil_at(int i)
{
	return GILS + (uint64_t)i * 0x100;
}

/* So many interpreters, each with a GIL of its own. */
static struct python_process with_interpreters(int n)
{
	memset(memory, 0, sizeof(memory));
	for (int i = 0; i < n; i++) {
		put(i ? interp_at(i - 1) + NEXT : HEAD, interp_at(i));
		put(interp_at(i) + GIL, gil_at(i));
		put(HEAD + 8, interp_at(i));
	}
	return (struct python_process){ .interpreters = HEAD,
					.interp_next = NEXT,
					.interp_gil = GIL,
					.gil_wait = WAIT,
					.gil_wait_len = WAIT_LEN };
}

static void words_of_the_gil_are_and_others_are_not(void **state)
{
	static const struct {
		int64_t at;
		bool is_gil;
	} cases[] = { { 0, false },
		      { 8, false },
		      { WAIT - 4, false },
		      { WAIT, true },
		      { 72, true },
		      { WAIT + WAIT_LEN - 4, true },
		      { WAIT + WAIT_LEN, false },
		      { -8, false } };
	struct python_process own = with_interpreters(1);
	struct python_process one = { .gil = gil_at(0),
				      .gil_wait = WAIT,
				      .gil_wait_len = WAIT_LEN };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t futex = gil_at(0) + (uint64_t)cases[i].at;

		assert_int_equal(python_gil_has(&own, futex), cases[i].is_gil);
		assert_int_equal(python_gil_has(&one, futex), cases[i].is_gil);
	}
}

static void each_interpreter_may_have_a_gil_of_its_own(void **state)
{
	struct python_process p = with_interpreters(3);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(python_gil_has(&p, gil_at(i) + 72));
	assert_false(python_gil_has(&p, gil_at(3) + 72));
	/* They share one. */
	put(interp_at(1) + GIL, gil_at(0));
	assert_false(python_gil_has(&p, gil_at(1) + 72));
	assert_true(python_gil_has(&p, gil_at(0) + 72));
}

static void an_interpreter_that_is_not_there_yet_has_none(void **state)
{
	struct python_process p = with_interpreters(0), nothing = { 0 };

	(void)state;
	assert_false(python_gil_has(&p, 72));
	assert_false(python_gil_has(&nothing, 72));
	p = with_interpreters(1);
	put(interp_at(0) + GIL, 0);
	assert_false(python_gil_has(&p, 72));
	/* Memory that cannot be read. */
	p.interpreters = 8;
	assert_false(python_gil_has(&p, gil_at(0) + 72));
}

static void a_list_that_leads_in_a_circle_ends(void **state)
{
	struct python_process p = with_interpreters(3);

	(void)state;
	put(interp_at(1) + NEXT, interp_at(0));
	n_reads = 0;
	assert_false(python_gil_has(&p, 0x1234));
	assert_true(n_reads <= 2 * PYTHON_MAX_INTERPRETERS + 3);
	assert_true(python_gil_has(&p, gil_at(1) + 72));
	assert_true(python_gil_has(&p, gil_at(2) + 72));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_the_gil_are_and_others_are_not),
		cmocka_unit_test(each_interpreter_may_have_a_gil_of_its_own),
		cmocka_unit_test(an_interpreter_that_is_not_there_yet_has_none),
		cmocka_unit_test(a_list_that_leads_in_a_circle_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
