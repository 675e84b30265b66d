// SPDX-License-Identifier: Apache-2.0
/*
 * How long a recording takes to become a profile, in one process again and again.
 *	jfr_bench PASSES FILE GROUP,GROUP...|all
 * The groups are those of `weft jfr --events`. Prints CPU seconds and the profile's samples of each
 * pass; writing the profile is not in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/profile.h"
#include "jfr/interpreter.h"
#include "jfr/late_scopes.h"
#include "jfr/recording.h"
#include "jfr/samples.h"
#include "jfr/scope_search.h"

static double cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int read_into(int fd, struct samples *samples, uint32_t groups)
{
	struct late_scopes late = { 0 };
	struct interpreter in = { .groups = groups, .late = &late, .n_sinks = 1 };
	struct recording_report report = { 0 };
	struct seen_chunks seen = { 0 };
	struct event_visitor visitor;
	int err;

	in.sinks[0] = samples_sink(samples);
	visitor = interpreter_visitor(&in);
	err = scope_search(fd, 0, true, 1, &late, &in.known);
	if (!err)
		err = recording_read(fd, &visitor, &seen, &report);
	samples_finish(samples, report.start_ns, report.end_ns);
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	interpreter_deinit(&in);
	late_scopes_deinit(&late);
	return err;
}

static int pass(const char *path, uint32_t groups)
{
	double began = cpu_now();
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct profile *p = profile_new();
	struct samples *samples = p ? samples_new(p) : NULL;

	if (!err)
		err = samples ? read_into(fd, samples, groups) : -ENOMEM;
	if (!err)
		printf("%.6f %u samples\n", cpu_now() - began, profile_n_samples(p));
	samples_free(samples);
	profile_free(p);
	if (fd >= 0)
		close(fd);
	return err;
}

int main(int argc, char **argv)
{
	char wrong[64];
	uint32_t groups;

	/* As cmd/main.c and cmd/jfr.c have it. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	if (argc != 4 || !event_groups_parse(argv[3], &groups, wrong, sizeof(wrong)))
		return 2;
	for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
		int err = pass(argv[2], groups);

		if (err) {
			fprintf(stderr, "%s: %s\n", argv[2], strerror(-err));
			return 1;
		}
	}
	return 0;
}
