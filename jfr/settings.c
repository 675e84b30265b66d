// SPDX-License-Identifier: Apache-2.0
#include "jfr/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/saturated.h"

int64_t settings_duration(const char *text)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = {
		{ "", 1 },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", 60 * INT64_C(1000000000) },
		{ "h", 3600 * INT64_C(1000000000) },
		{ "d", 86400 * INT64_C(1000000000) },
	};
	char *end;
	long long n;
	int64_t ns;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	n = strtoll(text, &end, 10);
	end += strspn(end, " ");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].unit))
			return errno || __builtin_mul_overflow(n, units[i].ns, &ns) ? -1 : ns;
	return -1;
}

static void set_duration(int64_t *to, const char *value)
{
	int64_t ns = settings_duration(value);

	if (ns > 0)
		*to = ns;
}

/* "500/s": so many samples of all CPUs together. */
static int64_t rate_ns(const char *value)
{
	const char *slash = strchr(value, '/');
	long long n = strtoll(value, NULL, 10);
	char unit[16];
	int64_t ns;

	if (n <= 0 || !slash)
		return 0;
	snprintf(unit, sizeof(unit), "1%s", slash + 1);
	ns = settings_duration(unit);
	return ns > 0 ? ns / n : 0;
}

/* "10ms" is a period, "500/s" a rate. */
static void note_throttle(struct settings *s, const char *value)
{
	int64_t share_ns = rate_ns(value);

	/* What it is already is said again in each chunk. */
	if (share_ns != s->cpu_time_share_ns)
		s->sampled_ns = 0;
	s->cpu_time_ns = 0;
	set_duration(&s->cpu_time_ns, value);
	s->cpu_time_share_ns = share_ns;
}

void settings_note_sampled(struct settings *s, int64_t ns)
{
	/* Only of a rate it is not known already. Timers that were late make longer ones. */
	if (!s->cpu_time_share_ns || ns <= 0 ||
	    (s->sampled_ns && !s->is_sampled_before && ns >= s->sampled_ns))
		return;
	s->sampled_ns = ns;
	s->is_sampled_before = false;
}

void settings_begin_chunk(struct settings *s)
{
	s->is_sampled_before = true;
}

int64_t settings_cpu_time_ns(const struct settings *s)
{
	if (s->cpu_time_ns)
		return s->cpu_time_ns;
	/* How many CPUs it may use a JVM does not always write. */
	return s->sampled_ns ? s->sampled_ns : mul_saturated(s->cpu_time_share_ns, s->n_cpus);
}

static void note_async_profiler(struct settings *s, const char *name, const char *value)
{
	static const char *const clocks[] = { "cpu", "itimer", "ctimer", "wall" };
	bool is_clock = false;

	if (!strcmp(name, "interval"))
		set_duration(&s->interval_ns, value);
	if (!strcmp(name, "wall"))
		set_duration(&s->wall_ns, value);
	if (strcmp(name, "event"))
		return;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		is_clock |= !strcmp(value, clocks[i]);
	s->is_wall = !strcmp(value, "wall");
	s->is_counter = *value && !is_clock && strcmp(value, "null") && strcmp(value, "none");
}

static void note_execution_period(struct settings *s, const char *value)
{
	set_duration(&s->execution_ns, value);
}

static void note_native_period(struct settings *s, const char *value)
{
	set_duration(&s->native_ns, value);
}

static bool is_on(const char *value)
{
	return !strcmp(value, "true");
}

static void note_cpu_time(struct settings *s, const char *value)
{
	s->has_cpu_time = is_on(value);
}

static void note_allocation_sample(struct settings *s, const char *value)
{
	s->has_allocation_sample = is_on(value);
}

static void note_exceptions(struct settings *s, const char *value)
{
	s->has_exceptions = is_on(value);
}

/* Those of HotSpot's that decide what an event is worth. */
static const struct {
	const char *event, *name;
	void (*note)(struct settings *s, const char *value);
} deciding[] = {
	{ "jdk.ExecutionSample", "period", note_execution_period },
	{ "jdk.NativeMethodSample", "period", note_native_period },
	{ "jdk.CPUTimeSample", "enabled", note_cpu_time },
	{ "jdk.CPUTimeSample", "throttle", note_throttle },
	{ "jdk.ObjectAllocationSample", "enabled", note_allocation_sample },
	{ "jdk.JavaExceptionThrow", "enabled", note_exceptions },
};

#define N_DECIDING (sizeof(deciding) / sizeof(*deciding))

bool settings_depend_on(const struct settings *s, const char *event)
{
	for (size_t i = 0; i < N_DECIDING; i++)
		if (!strcmp(event, deciding[i].event))
			return true;
	return s->is_async_profiler;
}

void settings_note(struct settings *s, const char *event, const char *name, const char *value)
{
	if (s->is_async_profiler)
		note_async_profiler(s, name, value);
	for (size_t i = 0; i < N_DECIDING; i++)
		if (!strcmp(event, deciding[i].event) && !strcmp(name, deciding[i].name))
			deciding[i].note(s, value);
}

bool settings_equal(const struct settings *a, const struct settings *b)
{
	return a->execution_ns == b->execution_ns && a->native_ns == b->native_ns &&
	       a->has_cpu_time == b->has_cpu_time && a->cpu_time_ns == b->cpu_time_ns &&
	       a->cpu_time_share_ns == b->cpu_time_share_ns && a->n_cpus == b->n_cpus &&
	       a->sampled_ns == b->sampled_ns && a->is_sampled_before == b->is_sampled_before &&
	       a->has_allocation_sample == b->has_allocation_sample &&
	       a->has_exceptions == b->has_exceptions &&
	       a->is_async_profiler == b->is_async_profiler && a->is_wall == b->is_wall &&
	       a->is_counter == b->is_counter && a->interval_ns == b->interval_ns &&
	       a->wall_ns == b->wall_ns && a->datadog_cpu_ns == b->datadog_cpu_ns &&
	       a->datadog_wall_ns == b->datadog_wall_ns;
}
