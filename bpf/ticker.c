// SPDX-License-Identifier: Apache-2.0
#include "bpf/ticker.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/cpus.h"
#include "bpf/shared.h"
#include "core/clock.h"

#define MIN_TICK_NS 10000 /* the kernel's own limit for cpu-clock */
/* Ticks come at a rate within 30 % of the mean: the further apart, the fewer of their lengths a
   program is in step with. */
#define SPREAD 0.3
/* Ticks between two changes, on average. Fewer would not help (simulated), and a change costs a
   system call and an interrupt of the CPU: this is a few hundredths of what its samples cost. */
#define TICKS_PER_CHANGE 64
#define MIN_CHANGE_NS (20 * UINT64_C(1000000))
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */

struct ticker_cpu {
	int fd;		   /* -1: offline */
	bool is_refused;   /* it came online, and no event could be opened: that was counted */
	uint64_t since_ns; /* when this length began */
	uint64_t choice; /* of the length: moves on by the golden ratio, so none comes back soon */
};

static uint64_t next_random(struct ticker *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static uint64_t choose_length(const struct ticker *t, struct ticker_cpu *cpu)
{
	double part = (double)(cpu->choice += GOLDEN) / 18446744073709551616.0;
	uint64_t tick_ns = (uint64_t)((double)t->tick_ns / (1 + SPREAD * (2 * part - 1)));

	if (t->is_fixed)
		return t->tick_ns;
	return tick_ns < MIN_TICK_NS ? MIN_TICK_NS : tick_ns;
}

static int open_event(const struct ticker *t, uint64_t tick_ns, int cpu)
{
	const struct tick_event *event = &t->event;
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.disabled = 1,
		.freq = event->is_frequency,
		/* Only the software clock ticks while a CPU is idle; some counters refuse this. */
		.exclude_idle = event->type == PERF_TYPE_SOFTWARE,
	};
	int fd;

	if (event->is_frequency)
		attr.sample_freq = NS_PER_S / tick_ns;
	else
		attr.sample_period = tick_ns;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, t->prog_fd) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static int open_cpu(struct ticker *t, int cpu)
{
	uint64_t tick_ns = choose_length(t, &t->cpus[cpu]);
	int fd = open_event(t, tick_ns, cpu);

	if (fd < 0)
		return fd;
	t->lengths[cpu].tick_ns = tick_ns;
	t->cpus[cpu].fd = fd;
	return 0;
}

static int map_lengths(struct ticker *t, int n_cpus, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = ((size_t)n_cpus * sizeof(*t->lengths) + page - 1) / page * page;
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	t->lengths = at;
	t->map_len = len;
	return 0;
}

static uint64_t mean_pause_ns(uint64_t tick_ns)
{
	uint64_t pause_ns = tick_ns * TICKS_PER_CHANGE;

	return pause_ns > MIN_CHANGE_NS ? pause_ns : MIN_CHANGE_NS;
}

/* A change makes one tick of two, the one under way and the next, so ticks are that much shorter
   than samples are apart. The kernel wants whole Hz. */
static uint64_t mean_tick(const struct tick_event *event, uint64_t sample_ns)
{
	uint64_t tick_ns = sample_ns;

	if (event->is_frequency)
		return NS_PER_S / ((NS_PER_S + tick_ns / 2) / tick_ns);
	tick_ns -= tick_ns / (2 * mean_pause_ns(tick_ns) / tick_ns);
	return tick_ns < MIN_TICK_NS ? MIN_TICK_NS : tick_ns;
}

int ticker_open(struct ticker *t, const struct tick_event *event, uint64_t sample_ns, int prog_fd,
		int lengths_fd)
{
	int n_cpus = cpus_possible(), err;

	*t = (struct ticker){ .tick_ns = mean_tick(event, sample_ns),
			      .is_fixed = event->is_frequency,
			      .event = *event,
			      .prog_fd = prog_fd,
			      .random = clock_ns(CLOCK_MONOTONIC) | 1 };
	err = map_lengths(t, n_cpus, lengths_fd);
	if (err)
		return err;
	t->cpus = calloc((size_t)n_cpus, sizeof(*t->cpus));
	if (!t->cpus)
		return -ENOMEM;
	for (int cpu = 0; cpu < n_cpus; cpu++)
		t->cpus[t->n_cpus++] = (struct ticker_cpu){ .fd = -1, .choice = next_random(t) };
	for (int cpu = 0; cpu < n_cpus; cpu++) {
		err = open_cpu(t, cpu);
		if (err && err != -ENODEV) /* the CPU is offline */
			return err;
	}
	return 0;
}

/* Does what moves the CPU's grid of ticks. Returns about when it did. */
static uint64_t move_grid(const struct ticker_cpu *cpu, unsigned long request, uint64_t *arg)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), after;

	if (ioctl(cpu->fd, request, arg) < 0)
		return 0;
	after = clock_ns(CLOCK_MONOTONIC);
	return before + (after - before) / 2;
}

static int start_cpu(struct ticker_cpu *cpu)
{
	if (cpu->fd < 0)
		return 0;
	cpu->since_ns = move_grid(cpu, PERF_EVENT_IOC_ENABLE, NULL);
	return cpu->since_ns ? 0 : -errno;
}

int ticker_start(struct ticker *t)
{
	int err = 0;

	for (size_t i = 0; i < t->n_cpus && !err; i++)
		err = start_cpu(&t->cpus[i]);
	return err;
}

static void close_cpu(struct ticker_cpu *cpu)
{
	if (cpu->fd >= 0)
		close(cpu->fd);
	cpu->fd = -1;
}

/* Did it come or go? */
static bool follow_cpu(struct ticker *t, int number, bool is_online)
{
	struct ticker_cpu *cpu = &t->cpus[number];

	if (is_online == (cpu->fd >= 0) || (is_online && cpu->is_refused))
		return false;
	if (!is_online) {
		close_cpu(cpu);
	} else if (open_cpu(t, number) || start_cpu(cpu)) {
		close_cpu(cpu);
		cpu->is_refused = true;
		t->n_refused++;
	}
	return true;
}

size_t ticker_follow(struct ticker *t, const struct cpus *cpus)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_cpus && i < (size_t)cpus->n_possible; i++)
		n += follow_cpu(t, (int)i, cpus->is_online[i]);
	return n;
}

void ticker_stop(struct ticker *t)
{
	for (size_t i = 0; i < t->n_cpus; i++)
		if (t->cpus[i].fd >= 0)
			ioctl(t->cpus[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	t->is_fixed = true;
}

void ticker_close(struct ticker *t)
{
	for (size_t i = 0; i < t->n_cpus; i++)
		close_cpu(&t->cpus[i]);
	free(t->cpus);
	if (t->lengths)
		munmap(t->lengths, t->map_len);
	*t = (struct ticker){ .is_fixed = true };
}

/* The tick that was under way is cut off: the first of the new ones stands for its time too. */
static void change_length(const struct ticker *t, size_t number)
{
	struct ticker_cpu *cpu = &t->cpus[number];
	struct tick_length *length = &t->lengths[number];
	uint64_t tick_ns = choose_length(t, cpu);
	uint64_t now = move_grid(cpu, PERF_EVENT_IOC_PERIOD, &tick_ns);

	if (!now)
		return; /* nothing has changed, then */
	length->cut_ns = (now - cpu->since_ns) % length->tick_ns;
	length->since_ns = now;
	length->tick_ns = tick_ns;
	__atomic_store_n(&length->n_changes, length->n_changes + 1, __ATOMIC_RELEASE);
	cpu->since_ns = now;
}

int ticker_wander(struct ticker *t, int max_ms)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), pause_ns, left_ms;

	if (t->is_fixed)
		return max_ms;
	if (now >= t->next_change_ns) {
		for (size_t i = 0; i < t->n_cpus; i++)
			if (t->cpus[i].fd >= 0)
				change_length(t, i);
		/* 3/4 to 5/4 of the mean: changes must not be in step with anything either. */
		pause_ns = mean_pause_ns(t->tick_ns);
		pause_ns += next_random(t) % (pause_ns / 2) - pause_ns / 4;
		now = clock_ns(CLOCK_MONOTONIC);
		t->next_change_ns = now + pause_ns;
	}
	left_ms = (t->next_change_ns - now) / 1000000 + 1;
	return left_ms < (uint64_t)max_ms ? (int)left_ms : max_ms;
}
