// SPDX-License-Identifier: Apache-2.0
/* Killed again and again among a thousand files. */
#include "tests/unit/jfr_watch_room.h"

#define N_FILES 1000
#define N_EVENTS 40

static void watch_for_ever(void)
{
	struct session s = begin();

	for (;;)
		if (watch_round(s.w, 10))
			_exit(1);
}

/* One step of all the JVMs: files appear, grow, are renamed and deleted when they are done. */
static void step(unsigned int now, uint8_t *deleted)
{
	char path[64], other[64];

	for (unsigned int i = 0; i < N_FILES; i++) {
		unsigned int age = now - i / 40, n = age * 20;
		struct toy_header h = toy_live(start + i, n);
		int fd;

		if (i / 40 > now || age > 5)
			continue;
		snprintf(path, sizeof(path), "in/%u/%u.jfr", i % 7, i);
		snprintf(other, sizeof(other), "in/%u/done-%u", i % 7, i);
		if (age == 3 && i % 3 == 0)
			rename(path, other);
		if (age == 5 && i % 5 == 0)
			deleted[i] = !unlink(i % 3 ? path : other);
		if (age > 2)
			continue;
		fd = toy_open(path);
		toy_write_events(fd, 0, start + i, 0, age == 2 ? n : n + 1);
		if (age == 2)
			h.state = 0;
		toy_write_head(fd, 0, &h);
		close(fd);
	}
}

static uint64_t lost_bytes;

static int add_lost(void *ctx, const char *reason, uint64_t n, uint64_t bytes)
{
	(void)ctx;
	(void)n;
	assert_string_equal(reason, "vanished");
	lost_bytes += bytes;
	return 0;
}

static unsigned int counts[N_FILES][N_EVENTS];

static void count_one(void *ctx, uint64_t start_ns, uint64_t number)
{
	(void)ctx;
	assert_in_range(start_ns, start, start + N_FILES - 1);
	assert_in_range(number, 0, N_EVENTS - 1);
	counts[start_ns - start][number]++;
}

static void killed_at_any_moment_each_event_is_there_once(void **state)
{
	static uint8_t deleted[N_FILES];
	uint64_t missing = 0;
	struct session s;
	pid_t pid = 0;

	(void)state;
	for (int i = 0; i < 7; i++) {
		char path[16];

		snprintf(path, sizeof(path), "in/%d", i);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	srand(7);
	for (unsigned int now = 0; now < N_FILES / 40 + 6; now++) {
		if (!pid && !(pid = fork()))
			watch_for_ever();
		step(now, deleted);
		usleep((useconds_t)(50000 + rand() % 100000));
		if (now % 3) {
			let_go(pid);
			pid = 0;
		}
	}
	if (pid)
		let_go(pid);
	s = begin();
	run(&s);
	lost_bytes = 0;
	assert_int_equal(ledger_each_lost(s.ledger, add_lost, NULL), 0);
	end(&s);
	each_exported(count_one, NULL);
	for (unsigned int i = 0; i < N_FILES; i++)
		for (unsigned int j = 0; j < N_EVENTS; j++) {
			assert_in_range(counts[i][j], deleted[i] ? 0 : 1, 1);
			missing += TOY_EVENT * !counts[i][j];
		}
	/* Of files that came and went while nobody watched nothing can be said. */
	assert_true(lost_bytes <= missing + N_FILES * TOY_HEAD);
	printf("# %llu bytes of deleted files missing, %llu counted as lost\n",
	       (unsigned long long)missing, (unsigned long long)lost_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN_DIR(killed_at_any_moment_each_event_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
