// SPDX-License-Identifier: Apache-2.0
/* What is lost is said once, and added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/jfr_world.h"

static void damage_within_what_turns_out_to_be_lost_whole_is_not_counted_beside_it(void **state)
{
	struct recording_report r = { 0 };

	(void)state;
	assert_int_equal(recording_report_note(&r, 100, 120, "before"), 0);
	assert_int_equal(recording_report_note(&r, 208, 232, "its header"), 0);
	assert_int_equal(recording_report_note(&r, 200, 900, "all of it"), 0);
	assert_int_equal(recording_report_note(&r, 900, 910, "behind"), 0);
	assert_int_equal(r.n_damages, 3);
	assert_string_equal(r.damages[1].what, "all of it");
	assert_int_equal(r.n_lost, 20 + 700 + 10);
	recording_report_deinit(&r);
}

/* Its offsets make no sense, and it has no metadata either. */
static void a_chunk_that_is_lost_with_its_header_is_lost_once(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct world_reading got = { 0 };

	(void)state;
	for (int i = 0; i < 200; i++)
		put_u8(&b, 0xff);
	jfr_chunk_end(&c);
	memset(b.data + 16, 0xff, 16); /* both offsets */
	world_read(&got, b.data, b.len);
	assert_int_equal(got.report.n_damages, 1);
	assert_int_equal(got.report.damages[0].at, 0);
	assert_int_equal(got.report.damages[0].len, b.len);
	assert_int_equal(got.report.n_lost, b.len);
	world_reading_deinit(&got);
	free(b.data);
}

static void reports_of_parts_add_up(void **state)
{
	struct recording_report a = { .n_chunks = 1, .start_ns = 50, .end_ns = 60 };
	struct recording_report b = { .n_chunks = 2, .start_ns = 20, .end_ns = 55, .n_open = 1 };

	(void)state;
	assert_int_equal(recording_report_note(&a, 0, 10, "a"), 0);
	assert_int_equal(recording_report_note(&b, 5, 10, "b"), 0);
	assert_int_equal(recording_report_merge(&a, &b), 0);
	assert_int_equal(a.n_chunks, 3);
	assert_int_equal(a.n_open, 1);
	assert_int_equal(a.start_ns, 20);
	assert_int_equal(a.end_ns, 60);
	assert_int_equal(a.n_damages, 2);
	assert_int_equal(a.n_lost, 15);
	recording_report_deinit(&a);
	recording_report_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			damage_within_what_turns_out_to_be_lost_whole_is_not_counted_beside_it),
		cmocka_unit_test(a_chunk_that_is_lost_with_its_header_is_lost_once),
		cmocka_unit_test(reports_of_parts_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
