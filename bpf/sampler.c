// SPDX-License-Identifier: Apache-2.0
#include "bpf/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/profile.h"
#include "weft.skel.h"

static int configure_ticks(const struct sampler_ops *s, struct weft_bpf *skel)
{
	skel->rodata->is_worth_period = s->event.is_frequency;
	return 0;
}

static void log_attach_error(const struct sampler_ops *s, int err)
{
	switch (err) {
	case -ENOTSUP:
		log_error("cannot sample %s: they need a hardware counter, and this machine "
			  "(virtual?) has none\n"
			  "  use -e cpu",
			  s->name);
		break;
	case -EINVAL:
		log_error(
			"cannot sample %s: the kernel refuses the rate\n"
			"  use a lower --freq, or sysctl kernel.perf_event_max_sample_rate=100000",
			s->name);
		break;
	default:
		log_error("cannot sample: perf_event_open: %s%s", strerror(-err),
			  err == -EPERM ? ": CAP_PERFMON is missing (see `weft doctor`)" : "");
	}
}

static int attach_ticks(const struct sampler_ops *s, struct weft_bpf *skel, uint64_t period_ns,
			struct ticker *ticker)
{
	int err = ticker_open(ticker, &s->event, period_ns, bpf_program__fd(skel->progs.cpu_tick),
			      bpf_map__fd(skel->maps.tick_lengths));

	/* No such counter, or one that cannot interrupt. */
	if (s->event.type != PERF_TYPE_SOFTWARE && (err == -ENOENT || err == -EOPNOTSUPP))
		err = -ENOTSUP;
	if (err)
		log_attach_error(s, err);
	return err;
}

static const struct sampler_ops sampler_cpu = {
	.name = "cpu",
	.type = "cpu",
	.unit = "nanoseconds",
	.event = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false },
	.configure = configure_ticks,
	.attach = attach_ticks,
};

static const struct sampler_ops sampler_cycles = {
	.name = "cycles",
	.type = "cycles",
	.unit = "count",
	.event = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	.is_hidden = true,
	.is_weighted = true,
	.configure = configure_ticks,
	.attach = attach_ticks,
};

static const struct sampler_ops sampler_async = {
	.name = "async",
	.type = "async_wall",
	.unit = "nanoseconds",
	.is_swept = true,
	.freq = 10,
};

static const struct sampler_ops *const samplers[] = { &sampler_cpu, &sampler_async, &sampler_gil,
						      &sampler_cycles };

#define N_SAMPLERS (sizeof(samplers) / sizeof(samplers[0]))

const struct sampler_ops *sampler_find(const char *name)
{
	if (!name)
		return samplers[0];
	for (size_t i = 0; i < N_SAMPLERS; i++)
		if (!strcmp(samplers[i]->name, name))
			return samplers[i];
	return NULL;
}

const char *sampler_names(char *out)
{
	size_t len = 0;

	for (size_t i = 0; i < N_SAMPLERS && len < SAMPLER_NAMES_MAX; i++)
		if (!samplers[i]->is_hidden)
			len += (size_t)snprintf(out + len, SAMPLER_NAMES_MAX - len, "%s%s",
						len ? ", " : "", samplers[i]->name);
	return out;
}

void sampler_begin_profile(const struct sampler_ops *s, struct profile *p, uint64_t period_ns)
{
	profile_begin(p, s->type, s->unit);
	if (!s->is_weighted)
		profile_header(p)->period = (int64_t)period_ns;
}

uint64_t sampler_count(const struct profile *p, const char *counter)
{
	uint64_t n;

	for (uint32_t i = 0; i < profile_n_counts(p); i++)
		if (!strcmp(profile_get_count(p, i, &n), counter))
			return n;
	return 0;
}

/* Samples that stand for others are right on average; what is known of all of them makes their sum
   right, and each a little steadier. */
static void fit_sum(struct profile *p, uint64_t sum, uint64_t exact)
{
	double factor = (double)exact / (double)sum, before = 0;

	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		const struct sample *s = profile_get_sample(p, i);
		double after = before + (double)s->values[1] * factor;
		int64_t fitted = (int64_t)after - (int64_t)before;

		profile_add(p, s->stack, s->labels, s->time_ns,
			    (int64_t[MAX_VALUES]){ 0, fitted - s->values[1] });
		before = after;
	}
}

void sampler_end_profile(const struct sampler_ops *s, struct profile *p)
{
	uint64_t n = 0, sum = 0, exact = s->sum ? sampler_count(p, s->sum) : 0;

	if (!s->is_weighted)
		return;
	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		n += (uint64_t)profile_get_sample(p, i)->values[0];
		sum += (uint64_t)profile_get_sample(p, i)->values[1];
	}
	if (exact && sum && !sampler_count(p, "samples.unread")) {
		fit_sum(p, sum, exact);
		sum = exact;
	}
	profile_header(p)->period = n ? (int64_t)(sum / n) : 0;
}
