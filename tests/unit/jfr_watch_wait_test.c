// SPDX-License-Identifier: Apache-2.0
/* A chunk that waits for the one before it: it is asked about when that may have ended. */
#include "tests/unit/jfr_watch_room.h"

#include "core/clock.h"

static uint64_t n_asked;
static bool is_first_read;

static int export_in_order(void *ctx, const struct export_job *job, struct export_result *result)
{
	int err;

	if ((uint64_t)job->header->start_ns != start && !is_first_read) {
		n_asked++;
		return -EAGAIN;
	}
	err = export_toys(ctx, job, result);
	is_first_read |= result->to == job->header->size;
	return err;
}

static const struct watch_ops ordered_ops = {
	.export_piece = export_in_order,
	.sync = sync_nothing,
	.release = release_nothing,
	.is_stopped = never,
};

static struct session begin_ordered(void)
{
	struct watch_settings settings = quick();
	struct session s = { 0 };

	settings.look_ns = 500 * MS_NS;
	n_asked = 0;
	is_first_read = false;
	if (ledger_open("ledger", &s.ledger))
		abort();
	s.w = watch_new(&settings, s.ledger, &ordered_ops, NULL);
	if (!s.w || watch_add_root(s.w, "in") || watch_start(s.w))
		abort();
	return s;
}

static void one_that_waits_is_asked_about_when_another_has_ended(void **state)
{
	struct session s;

	(void)state;
	piece_len = TOY_EVENT;
	write_chunk("in/a", start, 200);
	write_chunk("in/b", start + 1, 2);
	s = begin_ordered();
	for (int i = 0; i < 100; i++)
		assert_int_equal(watch_round(s.w, 10), 0);
	assert_false(is_first_read);
	assert_in_range(n_asked, 1, 50);
	run(&s);
	assert_exported(start, 0, 200);
	assert_exported(start + 1, 0, 2);
	end(&s);
}

static void while_there_is_only_that_it_sleeps(void **state)
{
	uint64_t begin_ns;
	struct session s;

	(void)state;
	write_chunk("in/b", start + 1, 2);
	s = begin_ordered();
	assert_int_equal(watch_round(s.w, 10), 0);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < 20; i++)
		assert_int_equal(watch_round(s.w, 20), 0);
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns >= 200 * MS_NS);
	assert_true(n_asked >= 1);
	is_first_read = true;
	run(&s);
	assert_exported(start + 1, 0, 2);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(one_that_waits_is_asked_about_when_another_has_ended),
		OWN_DIR(while_there_is_only_that_it_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
