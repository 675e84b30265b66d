// SPDX-License-Identifier: Apache-2.0
#include "bpf/sweeper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bpf/sweep.h"
#include "bpf/target_list.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/privileges.h"
#include "runtimes/process.h"
#include "runtimes/python_memory.h"

#define LIST_NS NS_PER_S    /* between two searches for targets that take long */
#define MAX_KEPT (2u << 20) /* bytes of what is remembered of programs */
#define SETTLING 16	    /* rounds until what a round costs is believed */
#define SUDDEN 4	    /* times what is usual: a program has other tasks now */

/* A target. */
struct swept {
	pid_t pid;
	uint64_t last_ns;    /* when its last sweep was, or could have been first */
	uint32_t generation; /* mappings in which no interpreter was found that can be read */
	bool is_said;	     /* why it cannot be swept */
	bool is_target;	     /* still */
	uint32_t serial;     /* of the program that is remembered */
	struct python_memory *memory; /* NULL: nothing is, as of most processes of a machine */
};

struct sweeper {
	struct processes *ps;
	const struct targets *targets;
	struct sweep *sweep;
	uint64_t period_ns, pause_ns; /* pause_ns: the mean that is kept now */
	uint64_t usual_ns, before_ns; /* of CPU a round; of the one before */
	uint64_t last_ns, next_ns, listed_ns;
	uint64_t random;
	uint64_t n_rounds, n_slowed;
	uint64_t pauses_ns; /* the sum of the means that were kept */
	struct swept *swept;
	size_t n, cap;
	struct sweep_stats stats;
};

struct sweeper *sweeper_new(struct processes *ps, const struct targets *targets, uint64_t period_ns)
{
	struct sweeper *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ps = ps;
	s->targets = targets;
	s->period_ns = s->pause_ns = period_ns;
	s->random = clock_ns(CLOCK_MONOTONIC) | 1;
	return s;
}

void sweeper_free(struct sweeper *s)
{
	if (!s)
		return;
	sweep_free(s->sweep);
	for (size_t i = 0; i < s->n; i++)
		python_memory_free(s->swept[i].memory);
	free(s->swept);
	free(s);
}

static uint64_t next_random(struct sweeper *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

/* From half of the mean to half more. */
static uint64_t some_pause(struct sweeper *s)
{
	return s->pause_ns / 2 + next_random(s) % s->pause_ns;
}

int sweeper_begin(struct sweeper *s, struct profile *p, struct budget *budget,
		  uint64_t unix_offset_ns)
{
	s->sweep = sweep_new(s->ps, p, budget, unix_offset_ns);
	if (!s->sweep)
		return -ENOMEM;
	s->last_ns = clock_ns(CLOCK_MONOTONIC);
	s->next_ns = s->last_ns + some_pause(s);
	return 0;
}

int sweeper_wait_ms(const struct sweeper *s, int max_ms)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t left_ms = s->next_ns > now ? (s->next_ns - now) / 1000000 + 1 : 0;

	return left_ms < (uint64_t)max_ms ? (int)left_ms : max_ms;
}

static struct swept *swept_of(struct sweeper *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->swept[i].pid == pid)
			return &s->swept[i];
	if (ARRAY_RESERVE(s->swept, s->cap, s->n) < 0)
		return NULL;
	/* What is found now counts for all of the time since the last round, as everything does. */
	s->swept[s->n] = (struct swept){ .pid = pid, .last_ns = s->last_ns };
	return &s->swept[s->n++];
}

static void list_targets(struct sweeper *s, uint64_t now_ns)
{
	struct pid_set pids = { 0 };
	size_t n = 0;

	if (target_list_is_dear(s->targets) && s->listed_ns && now_ns - s->listed_ns < LIST_NS)
		return;
	s->listed_ns = now_ns;
	target_list(s->targets, &pids);
	for (size_t i = 0; i < pids.n_slots; i++) {
		struct swept *w = pids.slots[i] ? swept_of(s, pids.slots[i]) : NULL;

		if (w)
			w->is_target = true;
	}
	pid_set_deinit(&pids);
	for (size_t i = 0; i < s->n; i++) {
		if (!s->swept[i].is_target) {
			python_memory_free(s->swept[i].memory);
			continue;
		}
		s->swept[n] = s->swept[i];
		s->swept[n++].is_target = false;
	}
	s->n = n;
}

/* What a person can do something about, once for each process. */
static void say_why(struct swept *w, int err)
{
	if (w->is_said || err == -ESRCH || err == -ENOENT)
		return;
	w->is_said = true;
	if (err == -ENOTSUP)
		log_info("pid %d runs a Python whose asyncio tasks cannot be read", (int)w->pid);
	else if (err == -EPERM)
		log_info("cannot read the memory of pid %d: %s", (int)w->pid,
			 privileges_why_refused());
	else
		log_debug("pid %d: asyncio tasks: %s", (int)w->pid, strerror(-err));
}

static uint64_t user_ns(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return (uint64_t)used.ru_utime.tv_sec * NS_PER_S + (uint64_t)used.ru_utime.tv_usec * 1000;
}

static void count_sweep(struct sweeper *s, size_t n_tasks, uint64_t spent_ns)
{
	s->stats.n_sweeps++;
	s->stats.n_tasks += n_tasks;
	s->stats.user_ns += spent_ns;
	if (n_tasks >= s->stats.most_tasks) {
		s->stats.most_tasks = n_tasks;
		s->stats.dearest_ns = spent_ns;
	}
}

/* Bytes that are remembered of all processes. */
static size_t kept(const struct sweeper *s)
{
	size_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->swept[i].memory)
			sum += python_memory_size(s->swept[i].memory);
	return sum;
}

static void forget(struct swept *w)
{
	python_memory_free(w->memory);
	w->memory = NULL;
}

/* What was learned counts only if it was of a program with tasks. */
static int sweep_with_memory(struct sweeper *s, struct swept *w, const struct process *proc,
			     uint64_t now, size_t *n_tasks)
{
	int err;

	if (w->serial != proc->serial)
		forget(w);
	w->serial = proc->serial;
	if (!w->memory)
		w->memory = python_memory_new();
	if (!w->memory)
		return -ENOMEM;
	err = sweep_process(s->sweep, proc, w->memory, now, now - w->last_ns, n_tasks);
	if (err || kept(s) > MAX_KEPT)
		forget(w);
	return err;
}

/* No time counts that is after end_ns. */
static void sweep_target(struct sweeper *s, struct swept *w, uint64_t end_ns)
{
	struct process *proc = processes_find(s->ps, w->pid, 0, 0);
	uint64_t now = clock_ns(CLOCK_MONOTONIC), user = user_ns();
	size_t n_tasks = 0;
	int err;

	if (!proc || proc->exit_time_ns || proc->generation == w->generation)
		return;
	if (now > end_ns)
		now = end_ns;
	err = sweep_with_memory(s, w, proc, now, &n_tasks);
	w->last_ns = now;
	if (!err)
		count_sweep(s, n_tasks, user_ns() - user);
	else
		say_why(w, err);
	if (err == -ENOENT || err == -ENOTSUP)
		w->generation = proc->generation;
}

uint64_t sweeper_usual_cost(uint64_t usual_ns, uint64_t before_ns, uint64_t cost_ns,
			    uint64_t n_rounds)
{
	uint64_t n = n_rounds < SETTLING ? n_rounds : SETTLING;
	uint64_t least_ns = before_ns < cost_ns ? before_ns : cost_ns;

	if (n_rounds == 1)
		return 0;
	if (n_rounds == 2)
		return cost_ns;
	if (least_ns / SUDDEN > usual_ns)
		return least_ns;
	if (cost_ns / SUDDEN > usual_ns)
		cost_ns = usual_ns * SUDDEN;
	return usual_ns - usual_ns / n + cost_ns / n;
}

/* So that the share is kept. */
static void choose_pause(struct sweeper *s, uint64_t cost_ns)
{
	s->usual_ns = sweeper_usual_cost(s->usual_ns, s->before_ns, cost_ns, s->n_rounds);
	s->before_ns = cost_ns;
	s->pause_ns = s->period_ns;
	if (s->pause_ns / SWEEP_SHARE < s->usual_ns) {
		s->pause_ns = s->usual_ns * SWEEP_SHARE;
		s->n_slowed++;
	}
	s->pauses_ns += s->pause_ns;
}

/* Of this thread and of the process that reads for it. */
static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + mem_live_cpu_ns();
}

void sweeper_run(struct sweeper *s, bool is_last)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), cpu = cpu_ns(), end;

	if (!s->sweep || (!is_last && start < s->next_ns))
		return;
	list_targets(s, start);
	for (size_t i = 0; i < s->n; i++)
		sweep_target(s, &s->swept[i], is_last ? start : UINT64_MAX);
	cpu = cpu_ns() - cpu;
	end = clock_ns(CLOCK_MONOTONIC);
	s->stats.cpu_ns += cpu;
	s->n_rounds++;
	choose_pause(s, cpu);
	s->last_ns = start;
	s->next_ns = start + some_pause(s);
	/* A machine that has little time for weft has less for the targets. */
	if (s->next_ns < end + s->pause_ns / 4)
		s->next_ns = end + s->pause_ns / 4;
}

void sweeper_count(const struct sweeper *s, uint64_t counters[N_COUNTERS])
{
	counters[ASYNC_SWEEPS] += s->stats.n_sweeps;
	counters[ASYNC_SLOWED] += s->n_slowed;
	if (s->sweep)
		sweep_count(s->sweep, counters);
}

bool sweeper_is_slow(uint64_t mean_ns, uint64_t period_ns)
{
	return mean_ns > period_ns + period_ns / 10;
}

void sweeper_say(const struct sweeper *s)
{
	uint64_t mean_ns = s->n_rounds ? s->pauses_ns / s->n_rounds : 0;
	uint64_t counters[N_COUNTERS] = { 0 };

	if (sweeper_is_slow(mean_ns, s->period_ns))
		log_info("sweeps were made every %.2f s instead of %.2f s: they take %.0f ms of "
			 "CPU, of which at most %d %% may be theirs",
			 (double)mean_ns / 1e9, (double)s->period_ns / 1e9,
			 (double)s->stats.cpu_ns / 1e6 / (double)s->n_rounds, 100 / SWEEP_SHARE);
	sweeper_count(s, counters);
	if (counters[ASYNC_STOPPED])
		log_info("%" PRIu64
			 " times a task was left out as no thread ran its loop: a process "
			 "that was forked has its parent's",
			 counters[ASYNC_STOPPED]);
}

size_t sweeper_memory(const struct sweeper *s)
{
	return sizeof(*s) + s->cap * sizeof(*s->swept) + kept(s) +
	       (s->sweep ? sweep_memory(s->sweep) : 0);
}

struct sweep_stats sweeper_stats(const struct sweeper *s)
{
	return s->stats;
}
