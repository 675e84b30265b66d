// SPDX-License-Identifier: Apache-2.0
#include "bpf/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/build_ids.h"
#include "bpf/follow.h"
#include "bpf/live_state.h"
#include "bpf/loop_blocks.h"
#include "bpf/sample_labels.h"
#include "bpf/sample_queue.h"
#include "bpf/sampler.h"
#include "bpf/sideband.h"
#include "bpf/sweeper.h"
#include "bpf/tables.h"
#include "bpf/unwind_maps.h"
#include "bpf/waits.h"
#include "core/clock.h"
#include "core/hurry.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/options.h"
#include "core/profile.h"
#include "runtimes/process.h"
#include "runtimes/python.h"
#include "runtimes/thread_context.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/object.h"
#include "weft.skel.h"

/* Records are stamped a little before they can be read; a time this long past is complete. */
#define SETTLE_NS 500000
/* Samples and events between two looks into the ring: some 10 ms of snapshots. */
#define N_SAMPLES_A_BREATH 64
/* Samples of a process that ended may still be under way for that long. */
#define EXPIRE_NS (5 * NS_PER_S)

static int on_record(void *ctx, void *record, size_t len)
{
	struct live *l = ctx;

	int err = sample_queue_add(l->queue, record, len);

	if (err == -ENOENT)
		waits_end(l->waits, l->profile, record);
	else if (err)
		l->counters[TICK_LOST_ERROR]++;
	l->ring_left -= (int64_t)len;
	return l->ring_left > 0 ? 0 : -EAGAIN;
}

/* What came since the last time, into the queues in order. Up to max bytes of samples: while the
   ring fills as fast as it is emptied, which targets can bring about, it would never be empty. */
static void take_over(struct live *l, size_t max)
{
	sideband_read(l->sideband);
	l->ring_left = (int64_t)max;
	if (max)
		ring_buffer__consume(l->ring);
	sample_queue_sort(l->queue);
}

/* While something else takes long. Beyond its share of memory the queue gets no more: what does not
   fit the ring then is counted. */
static void on_breath(void *ctx)
{
	struct live *l = ctx;
	size_t queued = sample_queue_memory(l->queue);

	take_over(l, queued < l->max_queued ? l->max_queued - queued : 0);
}

static void on_drop(void *ctx, struct process *proc)
{
	struct live *l = ctx;

	if (l->explain)
		explain_drop_process(l->explain, proc);
	follower_drop(l->follower, proc);
}

static void flush_symbols(void *ctx)
{
	objects_flush(((struct live *)ctx)->objects);
}

static int make_parts(struct live *l, const struct options *opt)
{
	struct object_options objects = {
		.debug_dirs = opt->debug_dirs.items,
		.debuginfod = opt->debuginfod,
		.memory = opt->memory / 4,
	};
	const struct bpf_map *words = l->kernel.skel->maps.table_words;
	const struct bpf_map *processes = l->kernel.skel->maps.unwind_processes;

	l->objects = objects_new(&objects);
	l->processes = l->objects ? processes_new(l->objects) : NULL;
	l->maps =
		unwind_maps_new(bpf_map__fd(words), l->kernel.n_table_words, bpf_map__fd(processes),
				bpf_map__fd(l->kernel.skel->maps.python_processes));
	l->tables = l->maps ? tables_new(l->maps, opt->memory / 16) : NULL;
	if (!l->processes || !l->tables)
		return -ENOMEM;
	l->follower = follower_new(l->processes, l->maps, l->tables, &l->kernel.targets);
	l->finisher = finisher_new(l->processes, l->tables);
	l->queue = sample_queue_new();
	l->waits = waits_new();
	l->ring = ring_buffer__new(bpf_map__fd(l->kernel.skel->maps.ring), on_record, l, NULL);
	if (!l->follower || !l->finisher || !l->queue || !l->waits || !l->ring)
		return -ENOMEM;
	if (l->kernel.sampler->is_swept) {
		l->sweeper = sweeper_new(l->processes, &l->kernel.targets, l->kernel.period_ns);
		if (!l->sweeper)
			return -ENOMEM;
	}
	l->max_queued = opt->memory / 10;
	l->is_eval_shown = opt->native_eval;
	l->is_logical = opt->logical;
	l->block_ns = opt->block_ms * UINT64_C(1000000);
	if (l->block_ns)
		processes_want_loops(l->processes);
	*processes_jit_room(l->processes) =
		(struct jit_room){ .max = opt->memory / 4, .max_each = opt->memory / 8 };
	python_limit(l->processes, opt->memory);
	processes_on_drop(l->processes, on_drop, l);
	tables_on_breath(l->tables, on_breath, l);
	l->budget = (struct budget){
		.bytes = opt->memory, .used = live_memory, .flush = flush_symbols, .ctx = l
	};
	return 0;
}

/* Events are followed before the first tick; what was there before is read when it is first seen.
 */
static int open_with(struct live *l, const struct options *opt)
{
	int err;

	l->wakeup.epoll_fd = -1;
	l->open_ns = clock_ns(CLOCK_MONOTONIC);
	l->unix_offset_ns = clock_ns(CLOCK_REALTIME) - l->open_ns;
	priority_raise(&l->priority);
	mem_live_begin(); /* with that priority, and while we are small */
	if (!opt->user_only)
		kernel_symbols_begin(&l->kernel_symbols);
	err = kernel_half_open(&l->kernel, opt, &l->hotplug.cpus);
	if (err)
		return err;
	err = make_parts(l, opt);
	if (err) {
		log_error("cannot set up sampling: %s", strerror(-err));
		return err;
	}
	l->sideband = sideband_new(l->kernel.plan.sideband_len, &err);
	err = err ? err : wakeup_open(&l->wakeup);
	err = err ? err : wakeup_add(&l->wakeup, ring_buffer__epoll_fd(l->ring));
	err = err ? err : sideband_watch(l->sideband, l->wakeup.epoll_fd);
	if (err) {
		log_error("cannot follow processes: perf_event_open: %s", strerror(-err));
		return err;
	}
	if (!l->sweeper)
		follower_begin_targets(l->follower, l->kernel.sampler->is_of_known);
	/* A target that is released now runs at once; nothing may keep its first events waiting. */
	kernel_symbols_wait(&l->kernel_symbols);
	if (l->kernel_symbols.symbols)
		kernel_half_show_orc(&l->kernel, l->kernel_symbols.symbols);
	err = kernel_half_start(&l->kernel, opt);
	l->start_ns = clock_ns(CLOCK_MONOTONIC);
	return err;
}

static bool is_swept(const struct options *opt)
{
	const struct sampler_ops *sampler = opt->sampler ? opt->sampler : sampler_find(opt->event);

	return sampler && sampler->is_swept;
}

static int live_open(struct source *src, const struct options *opt)
{
	struct options with_defaults = *opt;
	struct live *l = src->priv;
	int err = hotplug_init(&l->hotplug, opt->cpus_online);

	with_defaults.user_only |= is_swept(opt); /* no kernel frames: no kernel symbols */
	if (!with_defaults.memory && !err)
		with_defaults.memory =
			memory_default(l->hotplug.cpus.n_possible, l->hotplug.cpus.n_online);
	return err ? err : open_with(l, &with_defaults);
}

static void live_close(struct source *src)
{
	struct live *l = src->priv;

	priority_restore(&l->priority);
	kernel_half_stop(&l->kernel);
	sweeper_free(l->sweeper);
	mem_live_end();
	processes_free(l->processes);
	explain_free(l->explain);
	sample_labels_free(l->labels);
	loop_blocks_free(l->loops);
	finisher_free(l->finisher);
	follower_free(l->follower);
	tables_free(l->tables);
	unwind_maps_free(l->maps);
	objects_free(l->objects);
	kernel_symbols_deinit(&l->kernel_symbols);
	sample_queue_free(l->queue);
	waits_free(l->waits);
	ring_buffer__free(l->ring);
	sideband_free(l->sideband);
	wakeup_close(&l->wakeup);
	kernel_half_close(&l->kernel);
	hotplug_deinit(&l->hotplug);
}

static void set_header(const struct live *l, struct profile *p)
{
	sampler_begin_profile(l->kernel.sampler, p, l->kernel.period_ns);
	profile_header(p)->time_ns = (int64_t)(l->start_ns + l->unix_offset_ns);
}

static int begin_profile(struct live *l, struct profile *p)
{
	if (l->profile)
		return l->profile == p ? 0 : -EINVAL;
	if (l->kernel_symbols.err)
		kernel_symbols_explain(&l->kernel_symbols);
	l->explain = explain_new(l->processes, l->objects, l->kernel_symbols.symbols, p);
	l->labels = sample_labels_new(p, l->budget.bytes / 8);
	l->loops = loop_blocks_new(p, l->block_ns, l->budget.bytes / 16);
	if (!l->explain || !l->labels || !l->loops)
		return -ENOMEM;
	explain_show_eval(l->explain, l->is_eval_shown);
	explain_logical(l->explain, l->is_logical);
	l->profile = p;
	set_header(l, p);
	return l->sweeper ? sweeper_begin(l->sweeper, p, &l->budget, l->unix_offset_ns) : 0;
}

static void apply_event(struct live *l, const struct process_event *ev)
{
	if (!targets_want(&l->kernel.targets, ev))
		return;
	processes_apply(l->processes, ev);
	if (!l->sweeper) /* else nothing is walked */
		follower_event(l->follower, ev);
}

/* A walk that went wrong may have used the rules of a file that is not mapped there any more. */
static bool is_suspect(int end)
{
	return end == END_BAD_RULE || end == END_READ_FAULT || end == END_NOT_ADVANCING;
}

/* Does the kernel half know the process otherwise than it is? */
static bool is_stale(struct live *l, struct process *proc, const struct wire_sample *s, int end)
{
	return process_recheck(l->processes, proc, is_suspect(end), s->n_code_pages) ||
	       python_settles(l->processes, proc) || thread_context_settles(l->processes, proc) ||
	       s->snapshot_reason == END_NO_PROCESS || s->snapshot_reason == END_NO_MAPPING;
}

/* The stack as it was walked. Over the budget a new one is a mark, so that the sample with
   its time and labels is not lost. */
static uint32_t stack_of(struct live *l, struct process *proc, uint64_t time_ns,
			 const struct walked *walked, enum budget_state state)
{
	uint32_t stack = 0, mark;
	size_t n = 0;

	if (state != BUDGET_FAR_OVER)
		n = explain_stack(l->explain, proc, time_ns, walked, l->locations);
	if (state == BUDGET_FITS)
		return profile_stack(l->profile, l->locations, n);
	if (state == BUDGET_OVER)
		stack = profile_find_stack(l->profile, l->locations, n);
	if (stack)
		return stack;
	l->counters[MEMORY_OVER_BUDGET]++;
	mark = explain_mark(l->explain, "[over memory budget]");
	return profile_stack(l->profile, &mark, 1);
}

static void add_sample(struct live *l, const struct queued_sample *q)
{
	const struct wire_sample *s = q->sample;
	struct explained_sample explained = { .id = s->id,
					      .time_ns = s->time_ns + l->unix_offset_ns,
					      .weight = s->weight,
					      .tid = s->tid };
	enum budget_state state = budget_check(&l->budget, s->time_ns);
	struct walked walked = { .frames = l->frames,
				 .python = q->python,
				 .task = q->task,
				 .codes = q->codes,
				 .n_codes = q->n_codes };
	struct sample_names names;
	struct process *proc;

	proc = processes_find(l->processes, (pid_t)s->pid, s->start_time_ns, s->time_ns);
	if (proc)
		build_ids_learn(l->processes, proc, q->build_ids);
	walked.end = finish_frames(l->finisher, proc, q, l->frames, &walked.n);
	l->counters[walked.end]++;
	if (proc)
		follower_sample(l->follower, proc, s->start_time_ns, s->time_ns,
				is_stale(l, proc, s, walked.end));
	explained.stack = stack_of(l, proc, s->time_ns, &walked, state);
	sample_names_find(&names, l->processes, proc, q);
	explained.labels = sample_labels_get(l->labels, q, proc, l->processes, &names, state);
	if (l->block_ns && s->weight)
		loop_blocks_add(l->loops, q, names.task, &explained);
	else if (!waits_add(l->waits, l->profile, &explained))
		l->counters[MEMORY_OVER_BUDGET]++;
	if (proc)
		process_count_stuck(l->processes, proc);
	l->n_added++;
	l->counters[SPANS_FOUND] += q->span != NULL;
	if (!l->first_sample_ns)
		l->first_sample_ns = s->time_ns;
}

/* Events and samples in the order they happened, up to a time. */
static void merge(struct live *l, uint64_t until_ns)
{
	processes_lost(l->processes, sideband_lost(l->sideband) + l->hotplug.n_changes);
	while (!hurry_is_on()) {
		const struct process_event *ev;
		struct queued_sample q;
		uint64_t sample_ns;

		if (++l->n_since_breath % N_SAMPLES_A_BREATH == 0)
			on_breath(l);
		sample_ns = sample_queue_time(l->queue);
		ev = sideband_next(l->sideband, sample_ns < until_ns ? sample_ns : until_ns);
		if (ev)
			apply_event(l, ev);
		else if (sample_ns <= until_ns && sample_queue_take(l->queue, &q))
			add_sample(l, &q);
		else
			return;
	}
}

static int live_pump(struct source *src, struct profile *p, int timeout_ms)
{
	struct live *l = src->priv;
	int err = begin_profile(l, p);
	uint64_t now;

	if (err)
		return err;
	if (l->sweeper)
		timeout_ms = sweeper_wait_ms(l->sweeper, timeout_ms);
	if (l->is_logical && sample_queue_time(l->queue) != UINT64_MAX)
		timeout_ms = 1; /* a sample that was too new a moment ago */
	if (!l->is_stopped)
		wakeup_wait(&l->wakeup, ticker_wander(&l->kernel.ticker, timeout_ms));
	now = clock_ns(CLOCK_MONOTONIC);
	take_over(l, bpf_map__max_entries(l->kernel.skel->maps.ring));
	merge(l, l->is_stopped ? UINT64_MAX : now - SETTLE_NS);
	follower_flush(l->follower);
	if (l->sweeper && !l->is_stopped)
		sweeper_run(l->sweeper, false);
	if (now - l->last_expire_ns > NS_PER_S) {
		processes_expire(l->processes, now - EXPIRE_NS);
		targets_settle(&l->kernel.targets);
		if (!l->is_stopped)
			hotplug_look(&l->hotplug, &l->kernel.ticker, l->sideband);
		l->last_expire_ns = now;
	}
	err = profile_error(p);
	return err ? err : !l->is_stopped;
}

const struct source_ops source_live = {
	.name = "live",
	.help = "samples running processes",
	.priv_size = sizeof(struct live),
	.open = live_open,
	.pump = live_pump,
	.close = live_close,
};

void live_stop(struct source *src)
{
	struct live *l = src->priv;

	if (l->sweeper)
		sweeper_run(l->sweeper, true);
	kernel_half_stop(&l->kernel);
	priority_restore(&l->priority);
	l->is_stopped = true;
}
