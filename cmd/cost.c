// SPDX-License-Identifier: Apache-2.0
#include "cmd/cost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bpf/live.h"
#include "core/mem.h"
#include "core/scoped.h"

/* With all that the reader of core/mem.h takes, which is in the kernel. */
static uint64_t user_cpu_ns(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return mem_live_cpu_ns() + (uint64_t)used.ru_utime.tv_sec * 1000000000 +
	       (uint64_t)used.ru_utime.tv_usec * 1000;
}

/* A line of /proc/self/status, in bytes; 0 when it is not there. */
static uint64_t status_bytes(const char *key)
{
	SCOPED(fclose) FILE *f = fopen("/proc/self/status", "re");
	size_t len = strlen(key);
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10) * 1024;
	return 0;
}

void cost_begin(struct cost *c)
{
	*c = (struct cost){ .cpu_ns = user_cpu_ns() };
}

static void count_bytes(struct cost *c, uint64_t bytes)
{
	if (bytes > c->peak_bytes)
		c->peak_bytes = bytes;
}

void cost_update(struct cost *c, uint64_t map_bytes)
{
	count_bytes(c, status_bytes("RssAnon") + map_bytes);
}

void cost_begin_writing(struct cost *c)
{
	SCOPED(fclose) FILE *f = fopen("/proc/self/clear_refs", "we");

	cost_update(c, 0);
	c->is_peak_reset = f && fputs("5\n", f) >= 0 && fflush(f) == 0;
}

void cost_end_writing(struct cost *c)
{
	uint64_t peak = status_bytes("VmHWM"), files = status_bytes("RssFile");

	if (c->is_peak_reset && peak > files)
		count_bytes(c, peak - files);
}

static void print_programs(const struct live_stats *stats, uint64_t samples, FILE *out)
{
	for (size_t i = 0; i < stats->n_programs; i++) {
		const struct live_program *p = &stats->programs[i];

		if (!p->run_cnt)
			continue;
		fprintf(out, "  kernel, program %s: %.0f ns a run (%" PRIu64 " runs)", p->name,
			(double)p->run_time_ns / (double)p->run_cnt, p->run_cnt);
		if (samples)
			fprintf(out, ", %.0f ns a sample",
				(double)p->run_time_ns / (double)samples);
		fputc('\n', out);
	}
}

static void print_sweeps(const struct sweep_stats *s, FILE *out)
{
	if (!s->n_sweeps)
		return;
	fprintf(out,
		"  sweeps: %" PRIu64 ", of %" PRIu64
		" tasks in all; %.2f ms of user CPU each, %.2f "
		"ms with the kernel's\n",
		s->n_sweeps, s->n_tasks, (double)s->user_ns / 1e6 / (double)s->n_sweeps,
		(double)s->cpu_ns / 1e6 / (double)s->n_sweeps);
	fprintf(out, "  the largest: %" PRIu64 " tasks, %.2f ms of user CPU\n", s->most_tasks,
		(double)s->dearest_ns / 1e6);
}

void cost_print(const struct cost *c, const struct live_stats *stats, uint64_t samples,
		uint64_t written, FILE *out)
{
	double used_s = (double)(user_cpu_ns() - c->cpu_ns) / 1e9,
	       start_s = (double)c->cpu_ns / 1e9;

	fputs("what weft cost:\n", out);
	print_programs(stats, samples, out);
	print_sweeps(&stats->sweeps, out);
	fprintf(out, "  user CPU: %.3f s, and %.3f s to start", used_s, start_s);
	if (samples)
		fprintf(out, "; %.1f s per million samples", used_s * 1e6 / (double)samples);
	fprintf(out, "\n  peak memory: %.1f MiB (anonymous and BPF), BPF maps %.1f MiB\n",
		(double)c->peak_bytes / 0x1p20, (double)stats->map_bytes / 0x1p20);
	fprintf(out, "  of the memory budget at the end: %.1f MiB, %.1f MiB of it in user space\n",
		(double)(stats->user_bytes + stats->map_bytes) / 0x1p20,
		(double)stats->user_bytes / 0x1p20);
	if (written)
		fprintf(out, "  written: %" PRIu64 " bytes\n", written);
	fprintf(out, "  sampling began after %.1f ms", (double)stats->attach_ns / 1e6);
	if (stats->first_sample_ns)
		fprintf(out, ", the first sample came after %.1f ms",
			(double)stats->first_sample_ns / 1e6);
	fputc('\n', out);
}
