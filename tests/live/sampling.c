// SPDX-License-Identifier: Apache-2.0
/* The live source, whole: this program forks its targets and samples them. Exit 77 without BPF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/live.h"
#include "bpf/sampler.h"
#include "core/log.h"
#include "core/options.h"
#include "core/profile.h"
#include "tests/live/can_sample.h"

#define NS_PER_S UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static volatile unsigned int sink;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t cpu_ns)
{
	uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + cpu_ns;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end) {
		for (unsigned int i = 0; i < 20000; i++)
			sink += i;
	}
}

/* A target: it waits for a byte, works, and exits. */
struct target {
	pid_t pid;
	int go;
};

static struct target target_new(void (*work)(void))
{
	struct target t;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	t.pid = fork();
	assert_true(t.pid >= 0);
	if (t.pid == 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 1)
			work();
		_exit(0);
	}
	close(fds[0]);
	t.go = fds[1];
	return t;
}

static void target_go(struct target *t)
{
	assert_int_equal(write(t->go, "x", 1), 1);
	close(t->go);
}

/* What a recording came to. */
struct result {
	uint64_t counters[N_COUNTERS];
	uint64_t ticks, ends, runs;
	uint64_t n_of_target;	    /* without its children */
	uint64_t n_samples, cpu_ns; /* in the profile */
	uint64_t period;
	uint64_t target_ns; /* CPU time of the target and the children it waited for */
	uint64_t stolen_ns; /* by the hypervisor meanwhile, from all CPUs */
};

static int64_t pid_of(const struct profile *p, const struct sample *s)
{
	size_t n;
	const struct label *labels = profile_get_labels(p, s->labels, &n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(profile_get_string(p, labels[i].key), "pid"))
			return labels[i].num;
	}
	return 0;
}

static void sum_profile(struct result *r, const struct profile *p, pid_t target)
{
	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		const struct sample *s = profile_get_sample(p, i);

		r->n_samples += (uint64_t)s->values[0];
		r->cpu_ns += (uint64_t)s->values[1];
		if (pid_of(p, s) == target)
			r->n_of_target += (uint64_t)s->values[0];
	}
}

static void sum_counters(struct result *r, struct source *src)
{
	struct live_stats stats;

	live_counters(src, r->counters);
	live_stats(src, &stats);
	r->runs = stats.programs[0].run_cnt;
	for (int i = TICK_SAMPLED; i < END_ROOT; i++)
		r->ticks += r->counters[i];
	for (int i = END_ROOT; i < SNAPSHOTS; i++)
		r->ends += r->counters[i];
}

static uint64_t stolen_ns(void)
{
	unsigned long long steal = 0;
	FILE *f = fopen("/proc/stat", "re");

	if (f && fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
		steal = 0;
	if (f)
		fclose(f);
	return steal * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void wait_for_cpu_time(pid_t pid, uint64_t cpu_ns)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	while (clock_ns(clock) < cpu_ns)
		usleep(10000);
}

/* Samples a target until it is gone; stall_ns: nobody reads the ring for so much of its CPU time.
 */
static struct result record_with(struct options opt, void (*work)(void), uint64_t stall_ns)
{
	int nice = getpriority(PRIO_PROCESS, 0);
	struct target t = target_new(work);
	struct profile *p = profile_new();
	struct result r = { .ticks = 0 };
	struct rusage usage = { 0 };
	struct source *src;
	int err;

	opt.snapshot_size = 65536;
	opt.stats = true;
	opt.pids = (struct pid_list){ &t.pid, 1 };
	src = source_open(&source_live, NULL, &opt, &err);
	if (!src)
		fail_msg("cannot sample: %s", strerror(-err));
	r.stolen_ns = stolen_ns();
	target_go(&t);
	wait_for_cpu_time(t.pid, stall_ns);
	while (wait4(t.pid, NULL, WNOHANG, &usage) == 0)
		assert_true(source_pump(src, p, 10) >= 0);
	live_stop(src);
	/* What is left is done at the priority of before. */
	assert_int_equal(getpriority(PRIO_PROCESS, 0), nice);
	while (source_pump(src, p, 0) > 0)
		;
	live_finish(src, p, NULL);
	sum_counters(&r, src);
	sum_profile(&r, p, t.pid);
	r.period = (uint64_t)profile_get_header(p)->period;
	r.target_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
		      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	r.stolen_ns = stolen_ns() - r.stolen_ns;
	source_close(src);
	profile_free(p);
	return r;
}

static struct result record(void (*work)(void), unsigned int freq, uint64_t memory,
			    uint64_t stall_ns)
{
	return record_with((struct options){ .freq = freq, .memory = memory }, work, stall_ns);
}

static void assert_conserved(const struct result *r)
{
	assert_int_equal(r->ticks, r->runs);
	assert_int_equal(r->n_samples, r->counters[TICK_SAMPLED]);
	assert_int_equal(r->ends, r->counters[TICK_SAMPLED]);
	assert_int_equal(r->counters[TICK_LOST_ERROR], 0);
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

/* Time that the hypervisor stole is the target's to the kernel, but has no ticks. */
static void assert_worth_its_time(const struct result *r)
{
	assert_true(ratio(r->cpu_ns + r->stolen_ns, r->target_ns) > 0.95);
	assert_true(ratio(r->cpu_ns, r->target_ns) < 1.05);
}

/* The length of ticks wanders: within a few seconds their mean is near what was asked for. */
static void assert_as_often(const struct result *r, uint64_t freq)
{
	double mean = ratio(r->cpu_ns, r->n_samples) * (double)freq / (double)NS_PER_S;

	print_message("# samples are %.4f of their period apart\n", mean);
	assert_true(mean > 0.93 && mean < 1.07);
}

static uint64_t complete(const struct result *r)
{
	return r->counters[END_ROOT] + r->counters[END_KERNEL_ONLY];
}

static void burn_two_seconds(void)
{
	burn(2 * NS_PER_S);
}

static void every_tick_ends_in_one_counter_and_is_worth_its_time(void **state)
{
	struct result r = record(burn_two_seconds, 997, 0, 0);

	(void)state;
	assert_conserved(&r);
	print_message("# cpu/ns is %.4f of the target's CPU time, %.4f of the stacks complete\n",
		      ratio(r.cpu_ns, r.target_ns), ratio(complete(&r), r.n_samples));
	assert_worth_its_time(&r);
	assert_as_often(&r, 997);
	assert_true(ratio(complete(&r), r.n_samples) > 0.99);
}

/* What cycles are, but for the counter, which virtual machines do not have: an event whose rate the
   kernel keeps, each tick worth the period that it says. This one counts ns, so the sum is known.
 */
static void an_event_with_a_rate_is_worth_what_it_counted(void **state)
{
	struct sampler_ops sampler = *sampler_find("cycles");
	struct result r;

	(void)state;
	sampler.type = "clock";
	sampler.event.type = PERF_TYPE_SOFTWARE;
	sampler.event.config = PERF_COUNT_SW_CPU_CLOCK;
	r = record_with((struct options){ .freq = 1499, .sampler = &sampler }, burn_two_seconds, 0);
	assert_conserved(&r);
	print_message("# the values are %.4f of the target's CPU time, mean %.0f ns\n",
		      ratio(r.cpu_ns, r.target_ns), ratio(r.cpu_ns, r.n_samples));
	assert_worth_its_time(&r);
	assert_int_equal(r.period, r.cpu_ns / r.n_samples);
	assert_as_often(&r, 1499);
	assert_true(ratio(complete(&r), r.n_samples) > 0.99);
}

static void cycles_are_refused_where_no_counter_is(void **state)
{
	struct options opt = { .freq = 99, .all = true, .event = "cycles" };
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.disabled = 1 };
	int err = 0, fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	struct source *src = source_open(&source_live, NULL, &opt, &err);

	(void)state;
	if (fd >= 0) {
		close(fd);
		assert_non_null(src);
	} else {
		assert_null(src);
		assert_int_equal(err, -ENOTSUP);
	}
	source_close(src);
}

static void only_targets_are_sampled(void **state)
{
	struct target other = target_new(burn_two_seconds);
	struct result r;

	(void)state;
	target_go(&other);
	r = record(burn_two_seconds, 997, 0, 0);
	waitpid(other.pid, NULL, 0);
	assert_conserved(&r);
	assert_true(r.n_samples > 0);
	assert_int_equal(r.n_of_target, r.n_samples);
	assert_true(r.counters[TICK_FILTERED] > 0);
}

static void fork_short_children(void)
{
	for (int i = 0; i < 150; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(10 * MS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void short_children_of_a_fork_are_sampled_from_their_first_tick(void **state)
{
	struct result r = record(fork_short_children, 997, 0, 0);

	(void)state;
	assert_conserved(&r);
	print_message("# cpu/ns is %.4f of their CPU time, %.4f of the stacks complete\n",
		      ratio(r.cpu_ns, r.target_ns), ratio(complete(&r), r.n_samples));
	assert_true(ratio(r.cpu_ns + r.stolen_ns, r.target_ns) > 0.9);
	assert_true(ratio(complete(&r), r.n_samples) > 0.97);
}

static void a_full_ring_is_counted(void **state)
{
	struct result r = record(burn_two_seconds, 9970, UINT64_C(8) << 20, 1800 * MS);

	(void)state;
	assert_conserved(&r);
	assert_true(r.counters[TICK_LOST_RING] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tick_ends_in_one_counter_and_is_worth_its_time),
		cmocka_unit_test(an_event_with_a_rate_is_worth_what_it_counted),
		cmocka_unit_test(cycles_are_refused_where_no_counter_is),
		cmocka_unit_test(only_targets_are_sampled),
		cmocka_unit_test(short_children_of_a_fork_are_sampled_from_their_first_tick),
		cmocka_unit_test(a_full_ring_is_counted),
	};

	if (!can_sample()) {
		puts("skipped: no permission to sample here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
