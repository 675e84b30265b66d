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

#define N_CHUNKS 100
#define CHUNK_NS (UINT64_C(1000) * MS_NS)

static uint64_t n_read, n_exported; /* chunks that were read to their end, and exported */

/* Each when the one before it was read to its end, as the exporter does. */
static int export_after_another(void *ctx, const struct export_job *job,
				struct export_result *result)
{
	if ((uint64_t)job->header->start_ns > start + n_read * CHUNK_NS) {
		n_asked++;
		return -EAGAIN;
	}
	n_exported++;
	*job->state = &n_exported;
	return export_toys(ctx, job, result);
}

static void count_read(void *ctx, void *state, bool is_read)
{
	(void)ctx;
	(void)state;
	n_read += is_read;
}

static const struct watch_ops chain_ops = {
	.export_piece = export_after_another,
	.sync = sync_nothing,
	.release = count_read,
	.is_stopped = never,
};

static struct session begin_ordered_with(const struct watch_ops *these_ops)
{
	struct watch_settings settings = quick();
	struct session s = { 0 };

	settings.look_ns = 500 * MS_NS;
	n_asked = 0;
	is_first_read = false;
	if (ledger_open("ledger", &s.ledger))
		abort();
	s.w = watch_new(&settings, s.ledger, these_ops, NULL);
	if (!s.w || watch_add_root(s.w, "in") || watch_start(s.w))
		abort();
	return s;
}

static struct session begin_ordered(void)
{
	return begin_ordered_with(&ordered_ops);
}

static void of_many_chunks_of_a_jvm_each_is_asked_about_in_its_turn(void **state)
{
	struct session s;

	(void)state;
	n_read = n_exported = 0;
	for (uint64_t i = 0; i < N_CHUNKS; i++) {
		struct toy_header h = toy_final(start + i * CHUNK_NS, 3);
		char path[32];
		int fd;

		/* Whatever order they are found in. */
		snprintf(path, sizeof(path), "in/%03d", (int)(i * 37 % N_CHUNKS));
		fd = toy_open(path);
		h.duration_ns = CHUNK_NS;
		toy_write_head(fd, 0, &h);
		toy_write_events(fd, 0, start + i * CHUNK_NS, 0, 3);
		close(fd);
	}
	s = begin_ordered_with(&chain_ops);
	run(&s);
	assert_int_equal(n_read, N_CHUNKS);
	assert_int_equal(n_exported, N_CHUNKS);
	/* Once when it is found, and now and then while it waits for long. */
	assert_in_range(n_asked, 1, 4 * N_CHUNKS);
	for (uint64_t i = 0; i < N_CHUNKS; i++)
		assert_exported(start + i * CHUNK_NS, 0, 3);
	end(&s);
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
		OWN_DIR(of_many_chunks_of_a_jvm_each_is_asked_about_in_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
