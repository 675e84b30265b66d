// SPDX-License-Identifier: Apache-2.0
#include "bpf/loop_blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sample_queue.h"
#include "bpf/waits.h"
#include "bpf/weft.h"
#include "core/array.h"
#include "core/clock.h"
#include "core/profile.h"
#include "runtimes/python_loop.h"

#define MAX_LOOPS 1024 /* threads known at a time */
#define MAX_HELD 32768 /* samples held back at a time */
#define MAX_TASKS 16   /* of one turn; further ones are not counted by name */
#define MAX_LABELS 16  /* in a set, the mark included */

/* A thread's loop, in the turn it was seen in last. */
struct loop {
	uint32_t tid, pid;
	bool is_blocked;   /* this turn; nothing is held back then */
	uint32_t n_unsure; /* samples beyond the limit that may be of no turn */
	uint64_t since_ns; /* when it began */
	uint64_t last_ns;  /* of its last sample */
	struct explained_sample *held;
	size_t n_held, cap_held;
	uint32_t n_tasks;
	struct culprit {
		uint32_t name, n;
		uint32_t span; /* that it was in last */
	} tasks[MAX_TASKS];
};

struct loop_blocks {
	struct profile *profile;
	uint64_t limit_ns;
	uint32_t key, blocked, span_key;
	size_t max, used; /* bytes of marked labels */
	size_t n_held;
	uint64_t n_over;
	uint64_t boot_offset_ns; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	struct loop *loops;
	size_t n_loops, cap_loops, next_reused;
	struct loop_summary summary;
};

struct loop_blocks *loop_blocks_new(struct profile *p, uint64_t limit_ns, size_t max)
{
	struct loop_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->profile = p;
	b->limit_ns = limit_ns;
	b->max = max;
	b->boot_offset_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	if (limit_ns) {
		b->key = profile_string(p, "loop");
		b->blocked = profile_string(p, "blocked");
		b->span_key = profile_string(p, "span_name");
	}
	return b;
}

void loop_blocks_free(struct loop_blocks *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n_loops; i++)
		free(b->loops[i].held);
	free(b->loops);
	free(b);
}

/* The same labels and the mark; as they are where there is no room for more. */
static uint32_t marked(struct loop_blocks *b, uint32_t labels)
{
	size_t n, before = profile_memory(b->profile);
	const struct label *old = profile_get_labels(b->profile, labels, &n);
	struct label set[MAX_LABELS];
	uint32_t id;

	if (n >= MAX_LABELS) {
		b->n_over++;
		return labels;
	}
	if (n)
		memcpy(set, old, n * sizeof(*set));
	set[n] = (struct label){ .key = b->key, .str = b->blocked };
	if (b->max && b->used >= b->max) {
		id = profile_find_label_set(b->profile, set, n + 1);
		b->n_over += !id;
		return id ? id : labels;
	}
	id = profile_label_set(b->profile, set, n + 1);
	b->used += profile_memory(b->profile) - before;
	return id;
}

static void add(struct loop_blocks *b, const struct explained_sample *s, bool is_blocked)
{
	uint32_t labels = is_blocked ? marked(b, s->labels) : s->labels;
	int64_t values[MAX_VALUES] = { 1, (int64_t)s->weight };

	profile_add(b->profile, s->stack, labels, s->time_ns, values);
}

static void release(struct loop_blocks *b, struct loop *loop, bool is_blocked)
{
	for (size_t i = 0; i < loop->n_held; i++)
		add(b, &loop->held[i], is_blocked);
	b->n_held -= loop->n_held;
	loop->n_held = 0;
}

/* Who has most of the turn's samples; of name 0: it was no task. */
static struct culprit culprit_of(const struct loop *loop)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < loop->n_tasks; i++)
		if (loop->tasks[i].n > loop->tasks[most].n)
			most = i;
	return loop->n_tasks ? loop->tasks[most] : (struct culprit){ 0 };
}

/* What was seen of the turn. */
static void count(struct loop_blocks *b, const struct loop *loop)
{
	struct loop_summary *s = &b->summary;
	uint64_t ns = loop->last_ns - loop->since_ns;
	struct culprit culprit = culprit_of(loop);

	s->n++;
	s->sum_ns += ns;
	if (ns <= s->longest_ns)
		return;
	s->longest_ns = ns;
	s->longest_pid = loop->pid;
	s->longest_task = culprit.name;
	s->longest_span = culprit.span;
}

static void end_turn(struct loop_blocks *b, struct loop *loop)
{
	release(b, loop, false);
	if (loop->is_blocked)
		count(b, loop);
	loop->is_blocked = false;
	loop->n_tasks = loop->n_unsure = 0;
}

/* NULL: no memory. */
static struct loop *find_or_add(struct loop_blocks *b, uint32_t tid)
{
	struct loop *loop;

	for (size_t i = 0; i < b->n_loops; i++)
		if (b->loops[i].tid == tid)
			return &b->loops[i];
	if (b->n_loops == MAX_LOOPS) {
		loop = &b->loops[b->next_reused++ % MAX_LOOPS];
		end_turn(b, loop);
		loop->tid = tid;
		return loop;
	}
	if (ARRAY_RESERVE(b->loops, b->cap_loops, b->n_loops) < 0)
		return NULL;
	loop = &b->loops[b->n_loops++];
	*loop = (struct loop){ .tid = tid };
	return loop;
}

static uint32_t span_of(const struct loop_blocks *b, uint32_t labels)
{
	size_t n;
	const struct label *set = profile_get_labels(b->profile, labels, &n);

	for (size_t i = 0; i < n; i++)
		if (set[i].key == b->span_key)
			return set[i].str;
	return 0;
}

static void blame(struct loop *loop, uint32_t task, uint32_t span)
{
	uint32_t i = 0;

	while (i < loop->n_tasks && loop->tasks[i].name != task)
		i++;
	if (i == MAX_TASKS)
		return;
	if (i == loop->n_tasks) {
		loop->tasks[i].name = task;
		loop->tasks[i].n = loop->tasks[i].span = 0;
		loop->n_tasks++;
	}
	loop->tasks[i].n++;
	if (span)
		loop->tasks[i].span = span;
}

/* False: there is no room. */
static bool hold(struct loop_blocks *b, struct loop *loop, const struct explained_sample *h)
{
	if (b->n_held == MAX_HELD || ARRAY_RESERVE(loop->held, loop->cap_held, loop->n_held) < 0) {
		b->n_over += loop->n_held + 1;
		release(b, loop, false);
		return false;
	}
	loop->held[loop->n_held++] = *h;
	b->n_held++;
	return true;
}

/* A loop may have a clock of its own, which says nothing. */
static bool is_time(const struct loop_blocks *b, const struct wire_sample *s, uint64_t since_ns)
{
	return since_ns && since_ns <= s->time_ns &&
	       since_ns + b->boot_offset_ns >= s->start_time_ns;
}

/* The thread's, in the turn that the sample is of; NULL: no memory. */
static struct loop *loop_of(struct loop_blocks *b, const struct wire_sample *s, uint64_t since_ns)
{
	struct loop *loop = find_or_add(b, s->tid);

	if (!loop)
		return NULL;
	if (loop->since_ns != since_ns || loop->pid != s->pid)
		end_turn(b, loop);
	loop->pid = s->pid;
	loop->since_ns = since_ns;
	return loop;
}

/* Where no task is executed the time may be that of the turn before, when the thread has just come
   back from its selector. There is but one such sample in a turn: the second one is none. */
static bool may_be_over(struct loop *loop, const struct wire_python *python, bool is_beyond)
{
	return is_beyond && python->h.flags & WIRE_PYTHON_LOOP_UNSURE && !loop->n_unsure++;
}

void loop_blocks_add(struct loop_blocks *b, const struct queued_sample *q, const char *task,
		     const struct explained_sample *sample)
{
	const struct wire_sample *s = q->sample;
	uint64_t since_ns = q->python ? python_loop_ns(q->python) : 0;
	bool is_loop = b->limit_ns && is_time(b, s, since_ns);
	struct loop *loop = is_loop ? loop_of(b, s, since_ns) : NULL;
	bool is_beyond = is_loop && s->time_ns - since_ns > b->limit_ns;

	b->summary.n_samples += task != NULL;
	if (!loop) {
		b->summary.n_unseen += task != NULL;
		add(b, sample, false);
		return;
	}
	if (may_be_over(loop, q->python, is_beyond)) {
		if (!hold(b, loop, sample))
			add(b, sample, false);
		return;
	}
	loop->last_ns = s->time_ns;
	blame(loop, task ? profile_find_string_n(b->profile, task, strlen(task)) : 0,
	      span_of(b, sample->labels));
	if (is_beyond) {
		loop->is_blocked = true;
		release(b, loop, true);
	}
	if (loop->is_blocked || !hold(b, loop, sample))
		add(b, sample, loop->is_blocked);
}

void loop_blocks_flush(struct loop_blocks *b)
{
	for (size_t i = 0; i < b->n_loops; i++)
		end_turn(b, &b->loops[i]);
}

const struct loop_summary *loop_blocks_summary(const struct loop_blocks *b)
{
	return &b->summary;
}

uint64_t loop_blocks_over_budget(const struct loop_blocks *b)
{
	return b->n_over;
}

size_t loop_blocks_memory(const struct loop_blocks *b)
{
	size_t sum = sizeof(*b) + b->cap_loops * sizeof(*b->loops);

	for (size_t i = 0; i < b->n_loops; i++)
		sum += b->loops[i].cap_held * sizeof(*b->loops[i].held);
	return sum;
}
