// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "runtimes/python_lines.h"
#include "tests/unit/mutation.h"

#define FIRST_LINE 10
#define NO_LINE_DELTA 0x80

/* Line 11 from the start, 13 from byte 6 on, 12 from byte 10 on. */
static const uint8_t lnotab[] = { 0, 1, 6, 2, 4, 0xff };

/* Four bytes of line 11, an empty range, six of none, two of line 12. */
static const uint8_t linetable[] = { 4, 1, 0, 3, 6, NO_LINE_DELTA, 2, 0xfe };

#define ENTRY(kind, units) (0x80 | (kind) << 3 | ((units)-1))
static const uint8_t locations[] = {
	ENTRY(13, 2), 4,		      /* +2, no columns: line 12 */
	ENTRY(15, 1),			      /* none */
	ENTRY(3, 3),  0x11,		      /* short: line 12 */
	ENTRY(12, 1), 5,    9,		      /* one line, +2: line 14 */
	ENTRY(14, 1), 7,    1, 0x41, 0x01, 2, /* long, -3: line 11, columns over 63 */
	ENTRY(14, 8), 0x60, 2, 0,    0,	   0, /* long, +80: line 91 */
};

static int line_at(enum python_lines format, const uint8_t *table, size_t len, int64_t position)
{
	int line = -1, err = python_line(format, table, len, FIRST_LINE, position, &line);

	return err < 0 ? err : line;
}

static void every_position_has_its_line(void **state)
{
	static const struct {
		enum python_lines format;
		int64_t position;
		int line;
	} cases[] = {
		{ PYTHON_LNOTAB, -1, 10 },
		{ PYTHON_LNOTAB, 0, 11 },
		{ PYTHON_LNOTAB, 5, 11 },
		{ PYTHON_LNOTAB, 6, 13 },
		{ PYTHON_LNOTAB, 9, 13 },
		{ PYTHON_LNOTAB, 10, 12 },
		{ PYTHON_LNOTAB, 1000, 12 },
		{ PYTHON_LINETABLE, -2, 10 },
		{ PYTHON_LINETABLE, 0, 11 },
		{ PYTHON_LINETABLE, 3, 11 },
		{ PYTHON_LINETABLE, 4, -ENOENT },
		{ PYTHON_LINETABLE, 9, -ENOENT },
		{ PYTHON_LINETABLE, 10, 12 },
		{ PYTHON_LINETABLE, 11, 12 },
		{ PYTHON_LINETABLE, 12, -ENOENT },
		{ PYTHON_LOCATIONS, -2, 10 },
		{ PYTHON_LOCATIONS, 0, 12 },
		{ PYTHON_LOCATIONS, 3, 12 },
		{ PYTHON_LOCATIONS, 4, -ENOENT },
		{ PYTHON_LOCATIONS, 6, 12 },
		{ PYTHON_LOCATIONS, 11, 12 },
		{ PYTHON_LOCATIONS, 12, 14 },
		{ PYTHON_LOCATIONS, 14, 11 },
		{ PYTHON_LOCATIONS, 16, 91 },
		{ PYTHON_LOCATIONS, 31, 91 },
		{ PYTHON_LOCATIONS, 32, -ENOENT },
		{ PYTHON_LOCATIONS, INT64_MAX, -ENOENT },
	};
	static const struct {
		const uint8_t *bytes;
		size_t len;
	} tables[] = {
		[PYTHON_LNOTAB] = { lnotab, sizeof(lnotab) },
		[PYTHON_LINETABLE] = { linetable, sizeof(linetable) },
		[PYTHON_LOCATIONS] = { locations, sizeof(locations) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(line_at(cases[i].format, tables[cases[i].format].bytes,
					 tables[cases[i].format].len, cases[i].position),
				 cases[i].line);
}

static void no_table_has_no_lines_but_the_oldest_has_the_first(void **state)
{
	(void)state;
	assert_int_equal(line_at(PYTHON_LNOTAB, NULL, 0, 4), FIRST_LINE);
	assert_int_equal(line_at(PYTHON_LINETABLE, NULL, 0, 4), -ENOENT);
	assert_int_equal(line_at(PYTHON_LOCATIONS, NULL, 0, 4), -ENOENT);
}

static void damage_is_said_unless_it_is_behind_the_position(void **state)
{
	static const struct {
		enum python_lines format;
		int err;
		size_t len;
		uint8_t bytes[10];
	} cases[] = {
		{ PYTHON_LNOTAB, -EBADMSG, 1, { 0 } },
		{ PYTHON_LNOTAB, -EBADMSG, 2, { 0, 0x80 } }, /* line -118 */
		{ PYTHON_LINETABLE, -EBADMSG, 1, { 8 } },
		{ PYTHON_LINETABLE, 11, 3, { 8, 1, 8 } },
		{ PYTHON_LOCATIONS, -EBADMSG, 1, { 0x00 } },
		{ PYTHON_LOCATIONS, -EBADMSG, 1, { ENTRY(13, 1) } },
		{ PYTHON_LOCATIONS, -EBADMSG, 2, { ENTRY(11, 1), 0 } },
		{ PYTHON_LOCATIONS,
		  -EBADMSG,
		  8,
		  { ENTRY(13, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0 } },
		{ PYTHON_LOCATIONS,
		  -EBADMSG,
		  7,
		  { ENTRY(13, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 3 } },
		{ PYTHON_LOCATIONS, 10, 3, { ENTRY(0, 1), 0, 0x00 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(line_at(cases[i].format, cases[i].bytes, cases[i].len, 0),
				 cases[i].err);
}

static void ask_all(const uint8_t *bytes, size_t len)
{
	for (int format = PYTHON_LNOTAB; format <= PYTHON_LOCATIONS; format++)
		for (int64_t position = -1; position < 40; position++) {
			int line = line_at((enum python_lines)format, bytes, len, position);

			assert_true(line >= 0 || line == -ENOENT || line == -EBADMSG);
		}
}

static void survives_mutation(void **state)
{
	(void)state;
	mutate(lnotab, sizeof(lnotab), ask_all);
	mutate(linetable, sizeof(linetable), ask_all);
	mutate(locations, sizeof(locations), ask_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_position_has_its_line),
		cmocka_unit_test(no_table_has_no_lines_but_the_oldest_has_the_first),
		cmocka_unit_test(damage_is_said_unless_it_is_behind_the_position),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
