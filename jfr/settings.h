/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording was made with, as far as the weight of its samples depends on it: events that
 * say it (jdk.ActiveSetting and Datadog's own) change these as they come. They stay from chunk to
 * chunk, as async-profiler writes them in its first one only.
 */
#ifndef JFR_SETTINGS_H
#define JFR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct settings {
	int64_t execution_ns, native_ns; /* periods; 0: nothing was said */
	bool has_cpu_time;		 /* CPUTimeSample is on */
	int64_t cpu_time_ns;		 /* its period; 0: it has none that is fixed, */
	int64_t cpu_time_share_ns;	 /* but one of so much for each CPU: "500/s" */
	int64_t n_cpus;			 /* 0: unknown */
	int64_t sampled_ns;		 /* the shortest that its samples say; 0: none does */
	bool is_sampled_before;		 /* in the chunk before this one */
	bool has_allocation_sample;	 /* ObjectAllocationSample is on */
	bool has_exceptions;		 /* JavaExceptionThrow is on */
	/* of async-profiler */
	bool is_async_profiler;
	bool is_wall;	 /* it samples wall-clock time, as ExecutionSample */
	bool is_counter; /* it samples something that is no time */
	int64_t interval_ns, wall_ns;
	/* of Datadog's profiler */
	int64_t datadog_cpu_ns, datadog_wall_ns;
};

/* Do any of an event type's settings say something? Of hundreds of types few do. */
bool settings_depend_on(const struct settings *s, const char *event);
/* One setting: of which event type ("" when that is not known), its name and value. */
void settings_note(struct settings *s, const char *event, const char *name, const char *value);
/* A sample of CPUTimeSample was worth so much; and another chunk begins. */
void settings_note_sampled(struct settings *s, int64_t ns);
void settings_begin_chunk(struct settings *s);
/* The period of CPUTimeSample; 0: unknown. */
int64_t settings_cpu_time_ns(const struct settings *s);
bool settings_equal(const struct settings *a, const struct settings *b);
/* "20 ms" in nanoseconds; -1: it is no length of time. A bare number is in nanoseconds. */
int64_t settings_duration(const char *text);

#endif
