// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_loop.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runtimes/python_code_names.h"
#include "runtimes/python_heap.h"

#define CACHE_BYTES (64u << 10)

static bool ends_in(const char *s, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && !memcmp(s + len - end_len, end, end_len);
}

bool python_loop_is_turn(const struct python_code *code)
{
	return ends_in(code->name, code->name_len, "_run_once") &&
	       ends_in(code->file, code->file_len, "/asyncio/base_events.py");
}

void python_loop_learn(struct python_loop *loop, struct python_part *part, struct mem *m,
		       const struct python_layout *l, uint64_t addr)
{
	struct python_search s;
	struct python_heap h;
	uint32_t variable;

	if (!m || !python_steps_left(part) ||
	    python_search_begin(&s, part, m, l, CACHE_BYTES, &h) < 0)
		return;
	variable = python_code_variable(&h, addr, "end_time");
	python_search_end(&s, part, &h);
	if (variable == PYTHON_NO_VARIABLE)
		return;
	*loop = (struct python_loop){ .code = addr, .variable = variable, .is_new = true };
}

/* Containers may have clocks that began at another time. */
static bool has_our_clock(pid_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	if (stat("/proc/self/ns/time", &ours))
		return true; /* the kernel has no such thing */
	return !stat(path, &theirs) && ours.st_ino == theirs.st_ino;
}

void python_loop_set(struct python_loop *loop, const struct python_layout *l, pid_t pid,
		     struct python_process *out)
{
	loop->is_new = false;
	if (!l->frame.localsplus || !has_our_clock(pid))
		return;
	out->object_head = l->object.type + 8u;
	out->loop_code = loop->code;
	out->loop_time = l->frame.localsplus + 8 * (uint64_t)loop->variable;
}

uint64_t python_loop_ns(const struct wire_python *python)
{
	double seconds;

	/* Rounded down, so that no sample is older. */
	if (python->loop_ms && python->loop_ms < UINT64_C(1000000000000))
		return python->loop_ms * 1000000;
	memcpy(&seconds, &python->loop_time, sizeof(seconds));
	return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
}
