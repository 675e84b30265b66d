// SPDX-License-Identifier: Apache-2.0
#include "cmd/recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/live.h"
#include "bpf/sampler.h"
#include "cmd/accounting.h"
#include "cmd/output.h"
#include "cmd/targets.h"
#include "cmd/verb.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/text.h"

void recording_init(struct recording *r, const struct options *opt)
{
	*r = (struct recording){ .opt = *opt, .child = { .go = -1, .failed = -1 } };
	if (!r->opt.freq)
		r->opt.freq = sampler_find(opt->event)->freq;
	if (!r->opt.freq)
		r->opt.freq = DEFAULT_FREQ;
	r->has_status_line = isatty(STDERR_FILENO) && !opt->quiet;
	r->time_ns = (int64_t)clock_ns(CLOCK_REALTIME);
}

void recording_deinit(struct recording *r)
{
	child_release(&r->child);
	while (!r->is_running && !child_wait(&r->child, false))
		; /* it was released before it ran */
	source_close(r->src);
	profile_free(r->profile);
	free(r->pids.items);
	free(r->path);
}

int recording_add_pid(struct recording *r, pid_t pid)
{
	pid_t *items = realloc(r->pids.items, (r->pids.n + 1) * sizeof(*items));

	if (!items) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	r->pids.items = items;
	r->pids.items[r->pids.n++] = pid;
	return EXIT_OK;
}

static uint64_t targets_cpu_ns(const struct recording *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->pids.n; i++)
		sum += target_cpu_ns(r->pids.items[i]);
	return sum;
}

int recording_prepare(struct recording *r)
{
	r->opt.pids = r->pids;
	r->profile = profile_new();
	if (!r->profile) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	sampler_begin_profile(sampler_find(r->opt.event), r->profile, NS_PER_S / r->opt.freq);
	r->cpu_before_ns = targets_cpu_ns(r);
	if (r->pids.n)
		target_comm(r->pids.items[0], r->comm);
	return EXIT_OK;
}

void recording_start_clock(struct recording *r)
{
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->time_ns = (int64_t)clock_ns(CLOCK_REALTIME);
}

uint64_t recording_elapsed(const struct recording *r)
{
	return clock_ns(CLOCK_MONOTONIC) - r->start_ns;
}

char *recording_path(const struct recording *r)
{
	char host[256] = "", comm[16];
	struct output_facts facts = { .command = "all", .time_ns = r->time_ns, .host = host };
	char *path;

	gethostname(host, sizeof(host) - 1);
	if (r->pids.n) {
		facts.pid = r->pids.items[0];
		facts.command = target_comm(facts.pid, comm);
	} else if (r->opt.comms.n) {
		facts.command = r->opt.comms.items[0];
	}
	if (r->opt.command)
		facts.command = path_basename(r->opt.command[0]);
	path = output_expand(r->opt.output ? r->opt.output : "weft.pb.gz", &facts);
	if (!path)
		log_error("out of memory");
	return path;
}

struct accounting recording_accounting(const struct recording *r)
{
	uint64_t counters[N_COUNTERS] = { 0 };

	live_counters(r->src, counters);
	return accounting_of_counters(counters);
}

void recording_set_loops(struct recording *r)
{
	const struct loop_summary *loops = live_loops(r->src);

	if (loops)
		r->loops = *loops;
}

void recording_set_header(struct recording *r)
{
	struct profile_header *h = profile_header(r->profile);
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	h->hostname = profile_string(r->profile, host);
	h->time_ns = r->time_ns;
	h->duration_ns = (int64_t)r->duration_ns;
}
