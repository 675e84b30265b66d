// SPDX-License-Identifier: Apache-2.0
/* CPUs that come online and go while they are sampled, by a list that says so: this machine's own
   stay where they are. Exit 77 without BPF or a second CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/cpus.h"
#include "bpf/live.h"
#include "bpf/sideband.h"
#include "core/clock.h"
#include "core/options.h"
#include "core/profile.h"
#include "tests/live/can_sample.h"

static bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static void write_list(const char *path, const char *list)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(list, f);
	assert_int_equal(fclose(f), 0);
}

static uint64_t count(struct source *src, enum counter c)
{
	uint64_t counters[N_COUNTERS];

	live_counters(src, counters);
	return counters[c];
}

/* Pumps for so much of the target's CPU time; returns how many samples that made. */
static uint64_t samples_in(struct source *src, struct profile *p, pid_t target, uint64_t cpu_ns)
{
	uint64_t before = count(src, TICK_SAMPLED), end;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(target, &clock), 0);
	end = clock_ns(clock) + cpu_ns;
	while (clock_ns(clock) < end)
		assert_true(source_pump(src, p, 10) >= 0);
	return count(src, TICK_SAMPLED) - before;
}

/* Not for ever. */
static void pump_until(struct source *src, struct profile *p, uint64_t n_changes)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 20 * NS_PER_S;

	while (count(src, CPUS_CHANGED) < n_changes && clock_ns(CLOCK_MONOTONIC) < end)
		assert_true(source_pump(src, p, 10) >= 0);
	assert_int_equal(count(src, CPUS_CHANGED), n_changes);
}

static pid_t spin_on_cpu_1(void)
{
	pid_t pid = fork();

	if (!pid) {
		run_on(1);
		for (volatile unsigned int i = 0;; i++)
			;
	}
	return pid;
}

static void a_cpu_that_comes_ticks_and_one_that_goes_does_not(void **state)
{
	char list[] = "/tmp/weft-online-XXXXXX";
	pid_t target = spin_on_cpu_1();
	struct options opt = { .freq = 997, .pids = { &target, 1 }, .cpus_online = list };
	struct profile *p = profile_new();
	struct source *src;
	int err;

	(void)state;
	close(mkstemp(list));
	write_list(list, "0-1\n");
	src = source_open(&source_live, NULL, &opt, &err);
	assert_non_null(src);
	assert_true(samples_in(src, p, target, NS_PER_S / 2) > 250);
	write_list(list, "0\n");
	pump_until(src, p, 1);
	assert_int_equal(samples_in(src, p, target, NS_PER_S / 2), 0);
	write_list(list, "0-1\n");
	pump_until(src, p, 2);
	assert_true(samples_in(src, p, target, NS_PER_S / 2) > 250);
	assert_int_equal(count(src, CPUS_REFUSED), 0);
	assert_int_equal(count(src, TICK_LOST_ERROR), 0);
	source_close(src);
	profile_free(p);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	unlink(list);
}

/* Is there, among all that waits, that this process took the name? */
static bool has_told(struct sideband *sb, const char *name)
{
	const struct process_event *ev;
	bool is_heard = false;

	sideband_read(sb);
	while ((ev = sideband_next(sb, UINT64_MAX)))
		is_heard |=
			ev->type == PROCESS_COMM && ev->pid == getpid() && !strcmp(ev->name, name);
	return is_heard;
}

static bool hears(struct sideband *sb, const char *name)
{
	prctl(PR_SET_NAME, name);
	return has_told(sb, name);
}

static void a_cpu_that_comes_is_heard_and_one_that_goes_leaves_what_it_said(void **state)
{
	struct cpus cpus;
	struct sideband *sb;
	int err;

	(void)state;
	assert_int_equal(cpus_load(&cpus, NULL), 0);
	assert_true(run_on(1));
	sb = sideband_new(64 << 10, &err);
	assert_non_null(sb);
	assert_true(hears(sb, "first"));
	prctl(PR_SET_NAME, "left behind");
	cpus.is_online[1] = false;
	sideband_follow(sb, &cpus);
	assert_true(has_told(sb, "left behind"));
	assert_false(hears(sb, "unheard"));
	cpus.is_online[1] = true;
	sideband_follow(sb, &cpus);
	assert_true(hears(sb, "again"));
	sideband_free(sb);
	cpus_deinit(&cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_that_comes_ticks_and_one_that_goes_does_not),
		cmocka_unit_test(a_cpu_that_comes_is_heard_and_one_that_goes_leaves_what_it_said),
	};

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || !can_sample()) {
		puts("skipped: no permission to sample here, or one CPU only");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
