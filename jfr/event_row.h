/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a recording mean: one table for all JVMs and profilers that write them. What
 * an event's fields are is not said here (its metadata does), only which of them is what.
 */
#ifndef JFR_EVENT_ROW_H
#define JFR_EVENT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The groups that --events names; a bit each. */
enum event_group {
	GROUP_CPU,
	GROUP_WALL,
	GROUP_NATIVE, /* threads in native code, most of which wait there */
	GROUP_ALLOC,
	GROUP_LIVE, /* objects that are still there */
	GROUP_MALLOC,
	GROUP_LOCK,
	GROUP_PARK,
	GROUP_WAIT,
	GROUP_SLEEP,
	GROUP_IO,
	GROUP_EXCEPTION,
	GROUP_METHOD,
	GROUP_PINNED,
	GROUP_GC,
	GROUP_SAFEPOINT,
	GROUP_COMPILE,
	GROUP_LOAD,   /* of CPUs and threads */
	GROUP_MEMORY, /* sizes that are looked at now and then */
	GROUP_THREAD,
	GROUP_SPAN,
	GROUP_LOG,
	GROUP_OTHER,
	N_GROUPS
};

/* The values of a sample. */
enum event_column {
	COLUMN_SAMPLES,
	COLUMN_CPU,
	COLUMN_CPU_EXEC, /* of ExecutionSample, when CPUTimeSample says what cpu is */
	COLUMN_WALL,
	COLUMN_NATIVE,
	COLUMN_ALLOC_OBJECTS,
	COLUMN_ALLOC_SPACE,
	COLUMN_LIVE_OBJECTS,
	COLUMN_LIVE_SPACE,
	COLUMN_MALLOC_OBJECTS,
	COLUMN_MALLOC_SPACE,
	COLUMN_LOCK,
	COLUMN_PARK,
	COLUMN_WAIT,
	COLUMN_SLEEP,
	COLUMN_IO,
	COLUMN_IO_SPACE,
	COLUMN_EXCEPTIONS,
	COLUMN_METHOD,
	COLUMN_PINNED,
	COLUMN_QUEUE,
	COLUMN_EVENTS,	 /* of a hardware counter, or of a type that was asked for by its name */
	COLUMN_DURATION, /* of these */
	N_COLUMNS
};

/* How an event's values follow from its fields. */
enum event_rule {
	RULE_NONE,	  /* it is no sample */
	RULE_EXECUTION,	  /* the period of the sampler */
	RULE_NATIVE,	  /* the same */
	RULE_CPU_TIME,	  /* the field, a timespan */
	RULE_CPU_LOST,	  /* the field times the period */
	RULE_WALL,	  /* "timeSpan", else "samples" times the interval */
	RULE_DURATION,	  /* how long it took */
	RULE_PARK,	  /* the same: a lock if it was parked for one */
	RULE_COUNT,	  /* one */
	RULE_ERROR,	  /* one, unless all exceptions are counted beside, which errors are too */
	RULE_NAMED,	  /* one, and how long it took if it says so */
	RULE_BYTES,	  /* one object, so many bytes as the field says */
	RULE_TLAB,	  /* the same, unless allocation samples are taken beside */
	RULE_SCALED,	  /* as many objects as "weight" says, each of the field's bytes */
	RULE_DATADOG_CPU, /* "weight" times the interval */
	RULE_DATADOG_WALL,
};

struct event_row {
	const char *name;
	enum event_group group;
	enum event_rule rule;
	enum event_column column; /* the first one that is filled */
	const char *weight;	  /* the field that the rule needs */
	const char *class;	  /* the field with the class it is about */
	const char *bytes;	  /* of I/O */
};

/* The meaning of an event type; never NULL: what is not in the table belongs to a group by its name
   and is no sample. */
const struct event_row *event_row_find(const char *name);
/* The same of a type with stacks that was asked for by its name: if nothing is known of it, events
   count as they are. */
struct event_row event_row_named(const char *name);
/* "cpu", "wall", ... */
const char *event_group_name(enum event_group group);
/* The names of all, with commas. */
void event_groups_all(char *out, size_t size);
/* A comma list of them ("cpu,alloc", "all") as bits, in which event types may be, too, for
   event_list_has(); false: *wrong is what nobody knows. */
bool event_groups_parse(const char *list, uint32_t *groups, char *wrong, size_t size);
/* Does the list name this type? As jdk.CPULoad, as CPULoad, or as a pattern: jdk.GC*. */
bool event_list_has(const char *list, const char *type);
/* The next word of a list that is a type, in word[size]; NULL: there are no more. */
const char *event_list_next(const char *list, char *word, size_t size);
/* What a column is called in a profile, and its unit. */
void event_column_type(enum event_column column, const char **type, const char **unit);

#endif
