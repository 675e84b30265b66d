// SPDX-License-Identifier: Apache-2.0
/* For how long the kernel half takes what it read of a code object for true, over memory made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/python_frames.h"

/* What another code object at the same address would have. */
static uint32_t id_in_epoch(const struct python_process *p, struct python_reads *reads,
			    uint32_t pid, uint32_t image, uint64_t word)
{
	struct python_walk w = { 0 };
	struct wire_python_frame out = { 0 };

	put(code_at(0) + 64, word);
	reads->sample++;
	assert_true(python_begin(&w, p, reads, THREAD));
	python_begin_epoch(reads, p, w.inner, pid, image);
	assert_int_equal(python_step(&w, p, reads, &out), 0);
	return out.id;
}

/* From 3.14 on: at one address there is another code object only after one was freed. */
static void identities_hold_while_nothing_is_freed(void **state)
{
	enum { INTERP = RUNTIME + 0x100, OTHER = RUNTIME + 0x200, FREED = 40 };
	struct python_process p = with_shims();
	struct python_reads reads = { 0 };
	uint32_t id;

	(void)state;
	put_shim_frames("a^");
	id = id_in_epoch(&p, &reads, 1, 1, 5);
	assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 6), id); /* nobody counts */
	p.tstate_interp = 16;
	p.interp_freed = FREED;
	id = id_in_epoch(&p, &reads, 1, 1, 5);
	assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 6), id); /* there is no interpreter */
	put(TSTATE + 0x100 + 16, INTERP);
	id = id_in_epoch(&p, &reads, 1, 1, 5);
	assert_int_equal(id_in_epoch(&p, &reads, 1, 1, 6), id);
	put(INTERP + FREED, 1);
	assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 6), id);
	assert_int_equal(id_in_epoch(&p, &reads, 1, 1, 5), id_in_epoch(&p, &reads, 1, 1, 6));
	assert_int_equal(id_in_epoch(&p, &reads, 2, 1, 5), id); /* another process, program */
	assert_int_not_equal(id_in_epoch(&p, &reads, 2, 2, 6), id);
	put(TSTATE + 0x100 + 16, OTHER);
	put(OTHER + FREED, 1);
	assert_int_equal(id_in_epoch(&p, &reads, 2, 2, 5), id); /* another interpreter */
	put(OTHER + FREED, 2);
	assert_int_not_equal(id_in_epoch(&p, &reads, 2, 2, 6), id);
	put(OTHER + FREED, 1); /* numbers that come back, as in a lie, are new */
	assert_int_equal(id_in_epoch(&p, &reads, 2, 2, 5), id);
}

/* 3.13 numbers in each interpreter the code objects that it makes, 3.12 in one place. */
static void identities_hold_while_nothing_is_made(void **state)
{
	enum { INTERP = RUNTIME + 0x100, MADE = 40 };
	struct python_process p = with_shims();

	(void)state;
	p.tstate_interp = 16;
	for (int i = 0; i < 2; i++) {
		struct python_reads reads = { 0 };
		uint32_t id;

		p.interp_made = i ? 0 : MADE;
		p.made = i ? INTERP + MADE : 0;
		put_shim_frames("a^");
		put(TSTATE + 0x100 + 16, INTERP);
		put(INTERP + MADE, 7 | 1ull << 40); /* what is behind the number is none of it */
		id = id_in_epoch(&p, &reads, 1, 1, 5);
		put(INTERP + MADE, 7 | 2ull << 40);
		assert_int_equal(id_in_epoch(&p, &reads, 1, 1, 6), id);
		put(INTERP + MADE, 8);
		assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 6), id);
		put(INTERP + MADE, 0); /* they were too many to number */
		id = id_in_epoch(&p, &reads, 1, 1, 5);
		assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 6), id);
	}
}

/* To 3.11: the object is read each time, its name while no interned str comes or goes. */
static void names_hold_while_no_interned_str_comes_or_goes(void **state)
{
	enum { INTERNED = RUNTIME + 0x100, DICT = RUNTIME + 0x200, NAME = RUNTIME + 0x300 };
	enum { HASH = NAME + 24, STATE = NAME + 32, VERSION = DICT + 24 };
	struct python_process p = with_shims();
	struct python_reads reads = { 0 };
	uint32_t id;

	(void)state;
	p.code_name = 72;
	p.str_hash = 24;
	p.interned = INTERNED;
	put_shim_frames("a^");
	put(code_at(0) + 72, NAME);
	put(HASH, 1000);
	put(STATE, 1);
	id = id_in_epoch(&p, &reads, 1, 1, 5);
	put(HASH, 1001);
	assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 5), id); /* there is no dict yet */
	put(INTERNED, DICT);
	put(VERSION, 1);
	put(HASH, 1000);
	assert_int_equal(id_in_epoch(&p, &reads, 1, 1, 5), id);
	put(HASH, 1001);
	assert_int_equal(id_in_epoch(&p, &reads, 1, 1, 5), id);
	assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 6), id); /* the object is another one */
	put(HASH, 1000);
	assert_int_equal(id_in_epoch(&p, &reads, 1, 1, 5), id);
	put(HASH, 1001);
	put(VERSION, 2);
	assert_int_not_equal(id_in_epoch(&p, &reads, 1, 1, 5), id);
	put(HASH, 1000);
	assert_int_equal(id_in_epoch(&p, &reads, 2, 1, 5), id); /* another process */
	/* A name that is not interned may be another one at any time. */
	put(STATE, 0xe4);
	put(VERSION, 3);
	assert_int_equal(id_in_epoch(&p, &reads, 2, 1, 5), id);
	put(HASH, 1001);
	assert_int_not_equal(id_in_epoch(&p, &reads, 2, 1, 5), id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identities_hold_while_nothing_is_freed),
		cmocka_unit_test(identities_hold_while_nothing_is_made),
		cmocka_unit_test(names_hold_while_no_interned_str_comes_or_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
