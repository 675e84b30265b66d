// SPDX-License-Identifier: Apache-2.0
/* Unwind data that is made to cost as much time and memory as it can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unwinders/cfi.h"

#define SECTION_VADDR 0x10000000

/* A CIE whose instructions are no operations, and n FDEs, which begin `step` bytes apart and end at
   the same distance from one place. */
static struct cfi_section many_fdes(uint32_t n, uint32_t step, uint32_t n_nops, uint8_t **out)
{
	static const uint8_t cie[] = { 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0 };
	uint32_t cie_len = sizeof(cie) + n_nops, fde_len = 21;
	size_t len = 4 + cie_len + (size_t)n * (4 + fde_len);
	uint8_t *at = calloc(1, len);

	*out = at;
	memcpy(at, &cie_len, 4);
	memcpy(at + 4, cie, sizeof(cie));
	at += 4 + cie_len;
	for (uint32_t i = 0; i < n; i++, at += 4 + fde_len) {
		uint32_t back = (uint32_t)(at + 4 - *out);
		uint64_t start = 0x1000 + (uint64_t)step * i, size = 16 + i;

		memcpy(at, &fde_len, 4);
		memcpy(at + 4, &back, 4);
		memcpy(at + 8, &start, 8);
		memcpy(at + 16, &size, 8);
	}
	return (struct cfi_section){ *out, len, SECTION_VADDR };
}

static uint64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void fdes_of_one_start_cost_little(void **state)
{
	uint8_t *data;
	struct cfi_input in = { .eh_frame = many_fdes(300000, 0, 0, &data) };
	struct unwind_table t = { 0 };
	uint64_t start = cpu_ms();

	(void)state;
	cfi_build(&in, &t);
	assert_in_range(cpu_ms() - start, 0, 5000); /* a minute without a bound */
	unwind_table_deinit(&t);
	free(data);
}

static void what_stands_for_fdes_is_no_larger_than_the_table_may_be(void **state)
{
	static const struct {
		uint32_t n, step;
		int err;
	} cases[] = { { 5000, 16, 0 }, { 11000, 16, -E2BIG }, { 11000, 0, -E2BIG } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t *data;
		struct cfi_input in = { .eh_frame = many_fdes(cases[i].n, cases[i].step, 0, &data),
					.max_words = 30000 };
		struct unwind_table t = { 0 };

		assert_int_equal(cfi_build(&in, &t), cases[i].err);
		unwind_table_deinit(&t);
		free(data);
	}
}

static void a_cie_without_end_is_none(void **state)
{
	(void)state;
	for (uint32_t n = 4000; n <= 5000; n += 1000) {
		uint8_t *data;
		struct cfi_input in = { .eh_frame = many_fdes(10, 16, n, &data) };
		struct unwind_table t = { 0 };

		assert_int_equal(cfi_build(&in, &t), n == 4000 ? 0 : -EBADMSG);
		unwind_table_deinit(&t);
		free(data);
	}
}

/* Two FDEs, the first of them with so many instructions that do nothing. */
static void an_fde_without_end_is_none(void **state)
{
	static const uint32_t lens[] = { 1000000, 2000000 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint8_t *small, *data;
		struct cfi_section s = many_fdes(2, 16, 0, &small);
		uint32_t first = (uint32_t)s.len - 2 * 25, len = 21 + lens[i], back;
		struct cfi_input in = { 0 };
		struct unwind_table t = { 0 };

		data = calloc(1, s.len + lens[i]);
		memcpy(data, small, first + 25);
		memcpy(data + first, &len, 4);
		memcpy(data + first + 25 + lens[i], small + first + 25, 25);
		back = first + 25 + lens[i] + 4;
		memcpy(data + back, &back, 4);
		in.eh_frame = (struct cfi_section){ data, s.len + lens[i], SECTION_VADDR };
		assert_int_equal(cfi_build(&in, &t), 0);
		assert_int_equal(t.n_fdes, i ? 1 : 2);
		assert_int_equal(t.n_bad_fdes, i);
		unwind_table_deinit(&t);
		free(small);
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fdes_of_one_start_cost_little),
		cmocka_unit_test(what_stands_for_fdes_is_no_larger_than_the_table_may_be),
		cmocka_unit_test(a_cie_without_end_is_none),
		cmocka_unit_test(an_fde_without_end_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
