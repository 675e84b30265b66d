/* SPDX-License-Identifier: Apache-2.0 */
/* A watch whose output is a folder of files of toy events: each has to be there once. */
#ifndef TESTS_UNIT_JFR_WATCH_ROOM_H
#define TESTS_UNIT_JFR_WATCH_ROOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "core/log.h"
#include "jfr/ledger.h"
#include "jfr/watch.h"
#include "tests/unit/jfr_toy.h"

#define NOW_S UINT64_C(4000000000) /* chunks of the future are never history */
#define MS_NS UINT64_C(1000000)

static char dir[64];
static int output_err;	   /* what the output says to everything */
static uint64_t piece_len; /* it takes no more at a time; 0: all */

static inline int enter_dir(void **state)
{
	(void)state;
	log_set_level(LOG_QUIET);
	strcpy(dir, "/tmp/weft-watch-XXXXXX");
	output_err = 0;
	piece_len = 0;
	return mkdtemp(dir) ? chdir(dir) || mkdir("in", 0700) || mkdir("out", 0700) : -1;
}

static inline int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "cd / && rm -rf %s", dir);
	return system(command) || chdir("/");
}

static inline void copy_event(const struct export_job *job, uint64_t at, FILE *out,
			      struct export_result *result)
{
	uint8_t bytes[TOY_EVENT];

	if (pread(job->fd, bytes, sizeof(bytes), (off_t)(job->at + at)) != TOY_EVENT)
		abort();
	fwrite(bytes, 1, sizeof(bytes), out);
	result->n_events++;
}

static inline int export_toys(void *ctx, const struct export_job *job, struct export_result *result)
{
	char path[256];
	uint64_t to = job->to;
	FILE *out;

	(void)ctx;
	if (output_err)
		return output_err;
	if (piece_len && to - job->from > piece_len)
		to = job->from + piece_len;
	out = fopen("out/.new", "w");
	for (uint64_t at = job->from; at + TOY_EVENT <= to; at += TOY_EVENT)
		copy_event(job, at, out, result);
	fclose(out);
	snprintf(path, sizeof(path), "out/%s", job->name);
	rename("out/.new", path);
	result->to = to;
	return 0;
}

static inline int sync_nothing(void *ctx)
{
	(void)ctx;
	return output_err;
}

static inline void release_nothing(void *ctx, void *chunk, bool is_read)
{
	(void)ctx;
	(void)chunk;
	(void)is_read;
}

static inline bool never(void)
{
	return false;
}

static const struct watch_ops ops = {
	.export_piece = export_toys,
	.sync = sync_nothing,
	.release = release_nothing,
	.is_stopped = never,
};

struct session {
	struct ledger *ledger;
	struct watch *w;
};

static inline struct watch_settings quick(void)
{
	struct watch_settings s = watch_settings_default;

	s.look_ns = s.linger_ns = s.ask_ns = 20 * MS_NS;
	s.rotate_age_ns = 0;
	s.rescan_ns = 200 * MS_NS;
	s.stale_ns = 3600 * UINT64_C(1000) * MS_NS;
	return s;
}

static inline struct session begin_with(const struct watch_settings *settings)
{
	struct session s = { 0 };

	if (ledger_open("ledger", &s.ledger))
		abort();
	s.w = watch_new(settings, s.ledger, &ops, NULL);
	if (!s.w || watch_add_root(s.w, "in") || watch_start(s.w))
		abort();
	return s;
}

static inline struct session begin(void)
{
	struct watch_settings settings = quick();

	return begin_with(&settings);
}

static inline void end(struct session *s)
{
	watch_free(s->w);
	ledger_close(s->ledger);
}

/* Rounds until nothing happens any more. */
static inline void run(struct session *s)
{
	int quiet = 0;

	for (int i = 0; i < 2000 && quiet < 3; i++) {
		assert_int_equal(watch_round(s->w, 10), 0);
		quiet = watch_is_idle(s->w) ? quiet + 1 : 0;
		if (quiet)
			usleep(25000);
	}
}

/* Is told of each event that was exported: the start of its chunk and its number there. */
typedef void (*exported_fn)(void *ctx, uint64_t start_ns, uint64_t number);

static inline void each_exported(exported_fn fn, void *ctx)
{
	DIR *d = opendir("out");
	const struct dirent *e;

	while ((e = readdir(d))) {
		char path[300];
		uint8_t bytes[TOY_EVENT];
		FILE *f;

		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "out/%s", e->d_name);
		f = fopen(path, "r");
		while (fread(bytes, TOY_EVENT, 1, f) == 1) {
			uint64_t start = 0, i = 0;

			for (int b = 0; b < 8; b++) {
				start = start << 8 | bytes[b];
				i = i << 8 | bytes[8 + b];
			}
			fn(ctx, start, i);
		}
		fclose(f);
	}
	closedir(d);
}

struct chunk_counts {
	uint64_t start_ns;
	unsigned int counts[4096];
};

static inline void count_of_chunk(void *ctx, uint64_t start_ns, uint64_t number)
{
	struct chunk_counts *c = (struct chunk_counts *)ctx;

	if (start_ns == c->start_ns && number < 4096)
		c->counts[number]++;
}

/* Of a chunk's events from `from` to `to` each was exported once, the others never. */
static inline void assert_exported(uint64_t start_ns, unsigned int from, unsigned int to)
{
	struct chunk_counts c = { .start_ns = start_ns };

	each_exported(count_of_chunk, &c);
	for (unsigned int i = 0; i < 4096; i++)
		assert_int_equal(c.counts[i], i >= from && i < to ? 1 : 0);
}

static const uint64_t start = NOW_S * UINT64_C(1000000000);

static inline void write_chunk(const char *path, uint64_t start_ns, unsigned int n)
{
	int fd = toy_open(path);

	toy_write_chunk(fd, 0, start_ns, n);
	close(fd);
}

/* A JVM that has open what is open now: what this process has open does not count. */
static inline pid_t hold(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static inline void let_go(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define OWN_DIR(test) cmocka_unit_test_setup_teardown(test, enter_dir, remove_dir)

#endif
