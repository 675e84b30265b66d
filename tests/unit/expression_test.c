// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unwinders/expression.h"
#include "tests/unit/mutation.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const uint64_t regs[17] = { [6] = 0x6000, [7] = 0x7000, [12] = 3 };

/* Memory where each byte is the low byte of its address, from 0x7000 to 0x8000. */
static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	(void)ctx;
	if (addr < 0x7000 || addr + len > 0x8000)
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(addr + i);
	return 0;
}

static int eval(const uint8_t *code, size_t len, const uint64_t *initial, uint64_t *value)
{
	const struct expression_env env = {
		.regs = regs,
		.n_regs = 17,
		.valid_regs = 1 << 6 | 1 << 7 | 1 << 12,
		.bias = 0x10000,
		.initial = initial,
		.read = read_memory,
	};

	return expression_eval(code, len, &env, value);
}

static void computes_what_dwarf_says(void **state)
{
	const struct {
		const uint8_t *code;
		size_t len;
		uint64_t value;
	} cases[] = {
		{ CODE(0x77, 8), 0x7008 },
		{ CODE(0x76, 0x78), 0x5ff8 },
		{ CODE(0x92, 12, 1), 4 },
		{ CODE(0x77, 0, 0x06), 0x0706050403020100 },
		{ CODE(0x77, 0, 0x94, 2), 0x0100 },
		{ CODE(0x77, 0, 0x06, 0x23, 8), 0x0706050403020108 },
		{ CODE(0x03, 0, 0x20, 0, 0, 0, 0, 0, 0), 0x12000 },
		{ CODE(0x08, 200), 200 },
		{ CODE(0x09, 200), (uint64_t)-56 },
		{ CODE(0x0a, 0, 128), 0x8000 },
		{ CODE(0x0b, 0, 128), (uint64_t)-0x8000 },
		{ CODE(0x0c, 0, 0, 0, 128), 0x80000000 },
		{ CODE(0x0d, 0, 0, 0, 128), (uint64_t)-0x80000000LL },
		{ CODE(0x0e, 1, 0, 0, 0, 0, 0, 0, 128), 0x8000000000000001 },
		{ CODE(0x10, 0x80, 1), 128 },
		{ CODE(0x11, 0x7f), UINT64_MAX },
		{ CODE(0x31, 0x12, 0x22), 2 },			 /* dup, plus */
		{ CODE(0x31, 0x32, 0x13), 1 },			 /* drop */
		{ CODE(0x31, 0x32, 0x14, 0x1c), 1 },		 /* over: 1 2 1, minus */
		{ CODE(0x31, 0x32, 0x33, 0x15, 2), 1 },		 /* pick */
		{ CODE(0x31, 0x35, 0x16, 0x1c), 4 },		 /* swap */
		{ CODE(0x31, 0x32, 0x34, 0x17, 0x1c, 0x1c), 5 }, /* rot: 4 1 2, 1-2, 4-(-1) */
		{ CODE(0x09, 0xfb, 0x19), 5 },			 /* abs */
		{ CODE(0x3f, 0x36, 0x1a), 6 },
		{ CODE(0x09, 0xf9, 0x32, 0x1b), (uint64_t)-3 }, /* -7 / 2 */
		{ CODE(0x37, 0x33, 0x1d), 1 },
		{ CODE(0x37, 0x33, 0x1e), 21 },
		{ CODE(0x31, 0x1f), UINT64_MAX },
		{ CODE(0x30, 0x20), UINT64_MAX },
		{ CODE(0x31, 0x34, 0x21), 5 },
		{ CODE(0x31, 0x33, 0x24), 8 },
		{ CODE(0x31, 0x08, 64, 0x24), 0 },
		{ CODE(0x11, 0x70, 0x32, 0x25), 0x3ffffffffffffffc },
		{ CODE(0x11, 0x70, 0x32, 0x26), (uint64_t)-4 },
		{ CODE(0x11, 0x70, 0x08, 99, 0x26), UINT64_MAX },
		{ CODE(0x36, 0x35, 0x27), 3 },
		{ CODE(0x11, 0x7f, 0x31, 0x2d), 1 }, /* -1 < 1 */
		{ CODE(0x31, 0x31, 0x2a), 1 },
		{ CODE(0x31, 0x31, 0x2b), 0 },
		{ CODE(0x31, 0x31, 0x2c), 1 },
		{ CODE(0x31, 0x31, 0x29), 1 },
		{ CODE(0x31, 0x31, 0x2e), 0 },
		{ CODE(0x2f, 1, 0, 0x31, 0x32), 2 },		 /* skip over lit1 */
		{ CODE(0x33, 0x31, 0x28, 1, 0, 0x31, 0x96), 3 }, /* bra over lit1 */
		/* what linkers write for a PLT, at pc 0 of column 16 it cannot know */
		{ CODE(0x77, 8, 0x3b, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), 0x7010 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t value = 0;

		assert_int_equal(eval(cases[i].code, cases[i].len, NULL, &value), 0);
		assert_int_equal(value, cases[i].value);
	}
}

static void begins_with_the_cfa_on_the_stack(void **state)
{
	const uint64_t cfa = 0x7100;
	uint64_t value;

	(void)state;
	assert_int_equal(eval(CODE(0x23, 8), &cfa, &value), 0);
	assert_int_equal(value, 0x7108);
	assert_int_equal(eval(NULL, 0, &cfa, &value), 0);
	assert_int_equal(value, 0x7100);
}

static void says_what_is_wrong(void **state)
{
	uint8_t deep[100];
	const struct {
		const uint8_t *code;
		size_t len;
		int err;
	} cases[] = {
		{ CODE(0x22), -EBADMSG },	      /* nothing to add */
		{ CODE(0x96), -EBADMSG },	      /* nothing left at the end */
		{ CODE(0x31, 0x15, 1), -EBADMSG },    /* pick below the stack */
		{ CODE(0x0a, 1), -EBADMSG },	      /* cut short */
		{ CODE(0x31, 0x30, 0x1b), -EBADMSG }, /* division by zero */
		{ CODE(0x31, 0x30, 0x1d), -EBADMSG },
		{ CODE(0x31, 0x2f, 5, 0), -EBADMSG }, /* out of the expression */
		{ CODE(0x77, 0, 0x94, 9), -EBADMSG },
		{ CODE(0x73, 0), -ENODATA }, /* rbx is not known */
		{ CODE(0x8f, 0), -ENODATA }, /* no such register */
		{ CODE(0x31, 0x06), -EFAULT },
		{ CODE(0x9c), -ENOTSUP },
		{ CODE(0x2f, 0xfd, 0xff), -E2BIG }, /* for ever */
		{ deep, sizeof(deep), -E2BIG },
	};

	(void)state;
	memset(deep, 0x31, sizeof(deep));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t value = 42;

		assert_int_equal(eval(cases[i].code, cases[i].len, NULL, &value), cases[i].err);
		assert_int_equal(value, 42);
	}
}

static void divides_the_smallest_number(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(eval(CODE(0x0e, 0, 0, 0, 0, 0, 0, 0, 128, 0x11, 0x7f, 0x1b), NULL, &value),
			 0);
	assert_int_equal(value, UINT64_C(1) << 63);
}

static void eval_damaged(const uint8_t *code, size_t len)
{
	uint64_t value;

	eval(code, len, NULL, &value);
}

static void survives_mutation(void **state)
{
	static const uint8_t good[] = { 0x77, 8,    0x7c, 0, 0x38, 0x1e, 0x22, 0x06, 0x23, 16,
					0x12, 0x33, 0x28, 2, 0,	   0x31, 0x22, 0x94, 4 };

	(void)state;
	for (size_t len = 0; len <= sizeof(good); len++)
		mutate(good, len, eval_damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_what_dwarf_says),
		cmocka_unit_test(begins_with_the_cfa_on_the_stack),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(divides_the_smallest_number),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
