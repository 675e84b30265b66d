// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_row.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORD 128 /* of a list of events */
#define DIFFERENT 4  /* the place in a name where most differ: behind "jdk." */

static const struct event_row rows[] = {
	/* CPU time. NativeMethodSample is none: nearly all its threads wait. */
	{ "jdk.ExecutionSample", GROUP_CPU, RULE_EXECUTION, COLUMN_CPU, NULL, NULL, NULL },
	{ "jdk.CPUTimeSample", GROUP_CPU, RULE_CPU_TIME, COLUMN_CPU, "samplingPeriod", NULL, NULL },
	{ "jdk.CPUTimeSamplesLost", GROUP_CPU, RULE_CPU_LOST, COLUMN_CPU, "lostSamples", NULL,
	  NULL },
	{ "datadog.ExecutionSample", GROUP_CPU, RULE_DATADOG_CPU, COLUMN_CPU, "weight", NULL,
	  NULL },
	{ "profiler.WallClockSample", GROUP_WALL, RULE_WALL, COLUMN_WALL, NULL, NULL, NULL },
	{ "datadog.MethodSample", GROUP_WALL, RULE_DATADOG_WALL, COLUMN_WALL, "weight", NULL,
	  NULL },
	{ "jdk.NativeMethodSample", GROUP_NATIVE, RULE_NATIVE, COLUMN_NATIVE, NULL, NULL, NULL },
	/* memory */
	{ "jdk.ObjectAllocationSample", GROUP_ALLOC, RULE_BYTES, COLUMN_ALLOC_OBJECTS, "weight",
	  "objectClass", NULL },
	{ "jdk.ObjectAllocationInNewTLAB", GROUP_ALLOC, RULE_TLAB, COLUMN_ALLOC_OBJECTS, "tlabSize",
	  "objectClass", NULL },
	{ "jdk.ObjectAllocationOutsideTLAB", GROUP_ALLOC, RULE_TLAB, COLUMN_ALLOC_OBJECTS,
	  "allocationSize", "objectClass", NULL },
	{ "datadog.ObjectSample", GROUP_ALLOC, RULE_SCALED, COLUMN_ALLOC_OBJECTS, "size",
	  "objectClass", NULL },
	{ "profiler.LiveObject", GROUP_LIVE, RULE_BYTES, COLUMN_LIVE_OBJECTS, "allocationSize",
	  "objectClass", NULL },
	{ "jdk.OldObjectSample", GROUP_LIVE, RULE_BYTES, COLUMN_LIVE_OBJECTS, "objectSize",
	  "object", NULL },
	{ "datadog.HeapLiveObject", GROUP_LIVE, RULE_SCALED, COLUMN_LIVE_OBJECTS, "size",
	  "objectClass", NULL },
	{ "profiler.Malloc", GROUP_MALLOC, RULE_BYTES, COLUMN_MALLOC_OBJECTS, "size", NULL, NULL },
	/* waiting */
	{ "jdk.JavaMonitorEnter", GROUP_LOCK, RULE_DURATION, COLUMN_LOCK, NULL, "monitorClass",
	  NULL },
	{ "profiler.NativeLock", GROUP_LOCK, RULE_DURATION, COLUMN_LOCK, NULL, NULL, NULL },
	{ "jdk.ThreadPark", GROUP_PARK, RULE_PARK, COLUMN_PARK, NULL, "parkedClass", NULL },
	{ "jdk.JavaMonitorWait", GROUP_WAIT, RULE_DURATION, COLUMN_WAIT, NULL, "monitorClass",
	  NULL },
	{ "jdk.ThreadSleep", GROUP_SLEEP, RULE_DURATION, COLUMN_SLEEP, NULL, NULL, NULL },
	{ "jdk.SocketRead", GROUP_IO, RULE_DURATION, COLUMN_IO, NULL, NULL, "bytesRead" },
	{ "jdk.SocketWrite", GROUP_IO, RULE_DURATION, COLUMN_IO, NULL, NULL, "bytesWritten" },
	{ "jdk.FileRead", GROUP_IO, RULE_DURATION, COLUMN_IO, NULL, NULL, "bytesRead" },
	{ "jdk.FileWrite", GROUP_IO, RULE_DURATION, COLUMN_IO, NULL, NULL, "bytesWritten" },
	{ "jdk.FileForce", GROUP_IO, RULE_DURATION, COLUMN_IO, NULL, NULL, NULL },
	{ "jdk.VirtualThreadPinned", GROUP_PINNED, RULE_DURATION, COLUMN_PINNED, NULL, NULL, NULL },
	{ "datadog.QueueTime", GROUP_WAIT, RULE_DURATION, COLUMN_QUEUE, NULL, "task", NULL },
	/* the rest of what has stacks */
	{ "jdk.JavaExceptionThrow", GROUP_EXCEPTION, RULE_COUNT, COLUMN_EXCEPTIONS, NULL,
	  "thrownClass", NULL },
	{ "jdk.JavaErrorThrow", GROUP_EXCEPTION, RULE_ERROR, COLUMN_EXCEPTIONS, NULL, "thrownClass",
	  NULL },
	{ "datadog.ExceptionSample", GROUP_EXCEPTION, RULE_ERROR, COLUMN_EXCEPTIONS, NULL, "type",
	  NULL },
	{ "jdk.MethodTrace", GROUP_METHOD, RULE_DURATION, COLUMN_METHOD, NULL, NULL, NULL },
	/* no samples, and not found in their group by their names */
	{ "jdk.GarbageCollection", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.GCPhasePause", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.GCHeapSummary", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.MetaspaceSummary", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.SafepointBegin", GROUP_SAFEPOINT, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.Compilation", GROUP_COMPILE, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.YoungGarbageCollection", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.OldGarbageCollection", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.ExecuteVMOperation", GROUP_SAFEPOINT, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.StateSynchronization", GROUP_SAFEPOINT, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.Deoptimization", GROUP_COMPILE, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.CPULoad", GROUP_LOAD, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.ThreadCPULoad", GROUP_LOAD, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.PhysicalMemory", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.ResidentSetSize", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.NativeMemoryUsageTotal", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.ClassLoadingStatistics", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.ThreadAllocationStatistics", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.ExceptionStatistics", GROUP_EXCEPTION, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.JavaThreadStatistics", GROUP_THREAD, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.MethodTiming", GROUP_METHOD, RULE_NONE, 0, NULL, NULL, NULL },
	{ "jdk.DataLoss", GROUP_OTHER, RULE_NONE, 0, NULL, NULL, NULL },
	{ "profiler.Free", GROUP_MALLOC, RULE_NONE, 0, NULL, NULL, NULL },
	{ "profiler.Log", GROUP_LOG, RULE_NONE, 0, NULL, NULL, NULL },
	{ "profiler.UserEvent", GROUP_LOG, RULE_NONE, 0, NULL, NULL, NULL },
	{ "profiler.Span", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "profiler.Window", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "io.opentelemetry.context.Scope", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "io.opentelemetry.trace.Span", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "datadog.Timeline", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "datadog.Scope", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "datadog.Endpoint", GROUP_SPAN, RULE_NONE, 0, NULL, NULL, NULL },
	{ "datadog.ExceptionCount", GROUP_EXCEPTION, RULE_NONE, 0, NULL, NULL, NULL },
};

/* Types that are not in the table, by how their names begin. */
static const struct {
	const char *start;
	struct event_row row;
} families[] = {
	{ "jdk.GC", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.G1", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Z", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Shenandoah", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.PS", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Parallel", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Promot", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Metaspace", { "", GROUP_GC, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Safepoint", { "", GROUP_SAFEPOINT, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Compil", { "", GROUP_COMPILE, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.CodeCache", { "", GROUP_COMPILE, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.NativeMemory", { "", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.DirectBuffer", { "", GROUP_MEMORY, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.JavaMonitor", { "", GROUP_LOCK, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.Thread", { "", GROUP_THREAD, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "jdk.VirtualThread", { "", GROUP_THREAD, RULE_NONE, 0, NULL, NULL, NULL } },
	{ "", { "", GROUP_OTHER, RULE_NONE, 0, NULL, NULL, NULL } },
};

const struct event_row *event_row_find(const char *name)
{
	static const char old[] = "com.oracle.jdk."; /* in JDK 9 and 10 */
	bool is_long;
	size_t i;

	if (!strncmp(name, old, sizeof(old) - 1))
		name += sizeof(old) - 1 - strlen("jdk.");
	is_long = strlen(name) > DIFFERENT;
	for (i = 0; is_long && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].name[DIFFERENT] == name[DIFFERENT] && !strcmp(rows[i].name, name))
			return &rows[i];
	for (i = 0; strncmp(name, families[i].start, strlen(families[i].start)); i++)
		;
	return &families[i].row;
}

struct event_row event_row_named(const char *name)
{
	struct event_row row = *event_row_find(name);

	if (row.rule == RULE_NONE) {
		row.rule = RULE_NAMED;
		row.column = COLUMN_EVENTS;
	}
	return row;
}

static const char *const group_names[N_GROUPS] = {
	[GROUP_CPU] = "cpu",	     [GROUP_WALL] = "wall",
	[GROUP_NATIVE] = "native",   [GROUP_ALLOC] = "alloc",
	[GROUP_LIVE] = "live",	     [GROUP_MALLOC] = "malloc",
	[GROUP_LOCK] = "lock",	     [GROUP_PARK] = "park",
	[GROUP_WAIT] = "wait",	     [GROUP_SLEEP] = "sleep",
	[GROUP_IO] = "io",	     [GROUP_EXCEPTION] = "exception",
	[GROUP_METHOD] = "method",   [GROUP_PINNED] = "pinned",
	[GROUP_GC] = "gc",	     [GROUP_SAFEPOINT] = "safepoint",
	[GROUP_COMPILE] = "compile", [GROUP_LOAD] = "load",
	[GROUP_MEMORY] = "memory",   [GROUP_THREAD] = "thread",
	[GROUP_SPAN] = "span",	     [GROUP_LOG] = "log",
	[GROUP_OTHER] = "other",
};

const char *event_group_name(enum event_group group)
{
	return (unsigned int)group < N_GROUPS ? group_names[group] : "other";
}

void event_groups_all(char *out, size_t size)
{
	size_t len = 0;

	*out = '\0';
	for (unsigned int i = 0; i < N_GROUPS && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "",
					group_names[i]);
}

static bool add_group(const char *word, size_t len, uint32_t *groups)
{
	if (len == 3 && !strncmp(word, "all", len)) {
		*groups = (1u << N_GROUPS) - 1;
		return true;
	}
	for (unsigned int i = 0; i < N_GROUPS; i++)
		if (strlen(group_names[i]) == len && !strncmp(group_names[i], word, len)) {
			*groups |= 1u << i;
			return true;
		}
	return false;
}

/* Groups are in small letters, and types of events have a package, or a class's name at least. */
static bool is_type(const char *word, size_t len)
{
	return len && len < MAX_WORD &&
	       ((*word >= 'A' && *word <= 'Z') || memchr(word, '.', len) || memchr(word, '*', len));
}

const char *event_list_next(const char *list, char *word, size_t size)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		bool is_found = is_type(list, len);

		if (is_found)
			snprintf(word, size, "%.*s", (int)len, list);
		list += len + (list[len] == ',');
		if (is_found)
			return list;
	}
	return NULL;
}

bool event_list_has(const char *list, const char *type)
{
	static const char jdk[] = "jdk.";
	const char *brief = strncmp(type, jdk, sizeof(jdk) - 1) ? type : type + sizeof(jdk) - 1;
	char word[MAX_WORD];

	while ((list = event_list_next(list, word, sizeof(word))))
		if (!fnmatch(word, type, 0) || !fnmatch(word, brief, 0))
			return true;
	return false;
}

bool event_groups_parse(const char *list, uint32_t *groups, char *wrong, size_t size)
{
	*groups = 0;
	for (;;) {
		size_t len = strcspn(list, ",");

		if (!is_type(list, len) && !add_group(list, len, groups)) {
			snprintf(wrong, size, "%.*s", (int)(len < size ? len : size), list);
			return false;
		}
		if (!list[len])
			return true;
		list += len + 1;
	}
}

void event_column_type(enum event_column column, const char **type, const char **unit)
{
	static const char ns[] = "nanoseconds", count[] = "count", bytes[] = "bytes";
	static const struct {
		const char *type, *unit;
	} columns[N_COLUMNS] = {
		[COLUMN_SAMPLES] = { "samples", count },
		[COLUMN_CPU] = { "cpu", ns },
		[COLUMN_CPU_EXEC] = { "cpu_exec", ns },
		[COLUMN_WALL] = { "wall", ns },
		[COLUMN_NATIVE] = { "native", ns },
		[COLUMN_ALLOC_OBJECTS] = { "alloc_objects", count },
		[COLUMN_ALLOC_SPACE] = { "alloc_space", bytes },
		[COLUMN_LIVE_OBJECTS] = { "inuse_objects", count },
		[COLUMN_LIVE_SPACE] = { "inuse_space", bytes },
		[COLUMN_MALLOC_OBJECTS] = { "malloc_objects", count },
		[COLUMN_MALLOC_SPACE] = { "malloc_space", bytes },
		[COLUMN_LOCK] = { "lock", ns },
		[COLUMN_PARK] = { "park", ns },
		[COLUMN_WAIT] = { "wait", ns },
		[COLUMN_SLEEP] = { "sleep", ns },
		[COLUMN_IO] = { "io", ns },
		[COLUMN_IO_SPACE] = { "io_space", bytes },
		[COLUMN_EXCEPTIONS] = { "exceptions", count },
		[COLUMN_METHOD] = { "method", ns },
		[COLUMN_PINNED] = { "pinned", ns },
		[COLUMN_QUEUE] = { "queue", ns },
		[COLUMN_EVENTS] = { "events", count },
		[COLUMN_DURATION] = { "duration", ns },
	};

	*type = columns[column].type;
	*unit = columns[column].unit;
}
