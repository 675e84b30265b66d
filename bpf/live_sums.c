// SPDX-License-Identifier: Apache-2.0
/* What a live source took, counted and lost. */
#include "bpf/live.h"

#include "bpf/live_state.h"
#include "bpf/loop_blocks.h"
#include "bpf/sample_labels.h"
#include "bpf/sampler.h"
#include "bpf/sideband.h"
#include "bpf/sweeper.h"
#include "bpf/tables.h"
#include "bpf/unwind_maps.h"
#include "core/clock.h"
#include "core/hurry.h"
#include "core/profile.h"
#include "runtimes/process.h"
#include "runtimes/python.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/kallsyms.h"
#include "symbolizer/object.h"

static uint64_t user_memory(const struct live *l)
{
	uint64_t sum = objects_memory(l->objects) + processes_memory(l->processes) +
		       sample_queue_memory(l->queue) + tables_memory(l->tables);

	if (l->kernel_symbols.symbols)
		sum += kallsyms_memory(l->kernel_symbols.symbols);
	if (l->explain)
		sum += explain_memory(l->explain);
	if (l->loops)
		sum += loop_blocks_memory(l->loops);
	if (l->sweeper)
		sum += sweeper_memory(l->sweeper);
	if (l->profile)
		sum += profile_memory(l->profile);
	return sum;
}

static uint64_t map_memory(const struct live *l)
{
	return kernel_half_memory(&l->kernel) + sideband_memory(l->sideband);
}

uint64_t live_memory(void *ctx)
{
	return user_memory(ctx) + map_memory(ctx);
}

void live_counters(struct source *src, uint64_t counters[N_COUNTERS])
{
	struct live *l = src->priv;
	const uint64_t *of_processes = processes_counters(l->processes);

	for (int i = 0; i < N_COUNTERS; i++)
		counters[i] = l->counters[i] + of_processes[i];
	kernel_half_count(&l->kernel, counters);
	counters[CPUS_CHANGED] += l->hotplug.n_changes;
	counters[CPUS_REFUSED] += l->kernel.ticker.n_refused;
	counters[EVENTS_LOST] += sideband_lost(l->sideband);
	counters[TABLES_OVER_BUDGET] += tables_over_budget(l->tables);
	counters[FILES_CUT] += objects_cut(l->objects);
	counters[SYMBOLS_REFUSED] += objects_refused(l->objects);
	if (l->sweeper)
		sweeper_count(l->sweeper, counters);
	if (l->loops) {
		counters[LOOP_BLOCKS] += loop_blocks_summary(l->loops)->n;
		counters[LABELS_OVER_BUDGET] += loop_blocks_over_budget(l->loops);
	}
	if (l->labels)
		counters[LABELS_OVER_BUDGET] += sample_labels_over_budget(l->labels);
	python_count(l->processes, counters);
	counters[PYTHON_REFUSED] += unwind_maps_pythons_refused(l->maps);
	counters[JIT_OVER_BUDGET] += processes_jit_room(l->processes)->n_forgotten;
}

/* Names are looked for in what the stacks have left of the budget: file after file that is possible
   in little memory, only slower. */
static void leave_room(struct live *l)
{
	uint64_t budget = l->budget.bytes, least = budget / 32;
	uint64_t others = live_memory(l) - objects_memory(l->objects);

	if (budget)
		objects_limit(l->objects, others + least < budget ? budget - others : least);
}

size_t live_finish(struct source *src, struct profile *p, bool (*is_stopped)(void))
{
	static const char *const names[] = {
#define X(id, name, text) name,
		TICK_COUNTERS(X) END_REASONS(X) OTHER_COUNTERS(X)
#undef X
	};
	struct live *l = src->priv;
	uint64_t counters[N_COUNTERS];
	size_t n_left = 0;

	leave_room(l);
	if (l->sweeper)
		sweeper_say(l->sweeper);
	if (l->loops)
		loop_blocks_flush(l->loops);
	if (l->explain)
		n_left = explain_symbolize(l->explain, is_stopped);
	live_counters(src, counters);
	if (!l->sweeper && hurry_is_on() && counters[TICK_SAMPLED] > l->n_added)
		counters[SAMPLES_UNREAD] = counters[TICK_SAMPLED] - l->n_added;
	for (int i = 0; i < N_COUNTERS; i++)
		profile_count(p, names[i], counters[i]);
	sampler_end_profile(l->kernel.sampler, p);
	profile_header(p)->duration_ns = (int64_t)(clock_ns(CLOCK_MONOTONIC) - l->start_ns);
	return n_left;
}

void live_stats(struct source *src, struct live_stats *out)
{
	struct live *l = src->priv;

	*out = (struct live_stats){
		.attach_ns = l->start_ns - l->open_ns,
		.first_sample_ns = l->first_sample_ns ? l->first_sample_ns - l->open_ns : 0,
		.map_bytes = map_memory(l),
		.user_bytes = user_memory(l),
	};
	if (l->sweeper)
		out->sweeps = sweeper_stats(l->sweeper);
	out->n_programs = kernel_half_programs(&l->kernel, out->programs);
}

const struct loop_summary *live_loops(struct source *src)
{
	const struct live *l = src->priv;

	return l->loops ? loop_blocks_summary(l->loops) : NULL;
}
