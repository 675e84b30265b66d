// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_timer.h"

#include <string.h>

#include "runtimes/python_chain.h"
#include "runtimes/python_dict.h"

#define MAX_LOCALS 12	   /* looked at for the handle: none of the functions has more in front */
#define HANDLE_WORDS 16	   /* of a TimerHandle: at least all of its fields */
#define MAX_VALUES 64	   /* of a frame, looked at for a Timeout */
#define MAX_FRAMES 64	   /* of an await chain, from the innermost on */
#define WAIT_FOR_TIMEOUT 1 /* number of the parameter */
#define FLOAT_VALUE 16	   /* ob_fval */
#define MAX_SECONDS 1e9	   /* since the machine started, or to wait */
#define NS_PER_SECOND 1e9  /* as a float */

/* Which of their parameters is how long to wait. */
static const struct {
	const char *name;
	unsigned int parameter;
} waits[] = {
	{ "sleep", 0 },
	{ "wait_for", 1 }, /* to 3.11; then it has no handle of its own */
	{ "_wait", 1 },
};

/* A float or an int, as seconds. False: something else, or more than can be. */
static bool seconds_of(struct python_heap *h, uint64_t object, double *out)
{
	uint64_t bits, number;
	double seconds;

	if (python_kind(h, object) == PYTHON_FLOAT) {
		bits = python_field(h, object, FLOAT_VALUE);
		memcpy(&seconds, &bits, sizeof(seconds));
	} else if (python_kind(h, object) == PYTHON_INT && python_int_value(h, object, &number)) {
		seconds = (double)number;
	} else {
		return false;
	}
	if (!(seconds >= 0 && seconds < MAX_SECONDS))
		return false;
	*out = seconds;
	return true;
}

static uint64_t local(struct python_heap *h, uint64_t frame, unsigned int i)
{
	uint64_t value = python_frame_local(h, frame, i);

	/* A variable that nested functions use. */
	if (python_kind(h, value) == PYTHON_CELL)
		value = python_field(h, value, PYTHON_FIRST_FIELD);
	return value;
}

/* When its timer is due: the one float that a handle has. */
static bool due_of(struct python_heap *h, uint64_t frame, double *out)
{
	uint64_t handle = 0;

	for (unsigned int i = 0; i < MAX_LOCALS && !handle; i++) {
		uint64_t value = local(h, frame, i);

		handle = python_kind(h, value) == PYTHON_TIMER_HANDLE ? value : 0;
	}
	for (uint64_t i = 2; i < HANDLE_WORDS && handle; i++) {
		uint64_t field = python_field(h, handle, 8 * i);

		if (python_kind(h, field) == PYTHON_FLOAT)
			return seconds_of(h, field, out);
	}
	return false;
}

struct python_timer python_timer_read(struct python_heap *h, const char *name, uint64_t frame)
{
	struct python_timer timer = { 0 };
	double due, delay;
	size_t i = 0;

	while (i < sizeof(waits) / sizeof(*waits) && strcmp(waits[i].name, name) != 0)
		i++;
	if (i == sizeof(waits) / sizeof(*waits) || !due_of(h, frame, &due))
		return timer;
	timer.due_ns = (uint64_t)(due * NS_PER_SECOND);
	if (seconds_of(h, local(h, frame, waits[i].parameter), &delay) && delay <= due)
		timer.since_ns = (uint64_t)((due - delay) * NS_PER_SECOND);
	return timer;
}

/* A Timeout that this task has entered, and which is to end; 0: it is none. */
static uint64_t timeout_of(struct python_heap *h, uint64_t object, uint64_t task)
{
	uint64_t handle;
	char name[16];

	/* To 3.13 there is its __aexit__(). */
	if (python_kind(h, object) == PYTHON_METHOD)
		object = python_field(h, object, PYTHON_METHOD_SELF);
	if (!object || strcmp(python_type_name(h, object, name, sizeof(name)), "Timeout") != 0)
		return 0;
	handle = python_attribute(h, object, "_timeout_handler");
	if (python_kind(h, handle) != PYTHON_TIMER_HANDLE ||
	    python_attribute(h, object, "_task") != task)
		return 0;
	return object;
}

/* Of a frame that is suspended inside an asyncio.timeout(): until when. Since when it is in there
   is known of what asyncio's wait_for() waits for (3.12 on). */
static struct python_timer limit_of(struct python_heap *h, uint64_t task, uint64_t frame,
				    bool is_wait_for)
{
	unsigned int n = python_frame_depth(h, frame);
	struct python_timer timer = { 0 };
	double due, delay;

	for (unsigned int i = 0; i < n && i < MAX_VALUES; i++) {
		uint64_t timeout = timeout_of(h, python_frame_local(h, frame, i), task);

		if (!timeout || !seconds_of(h, python_attribute(h, timeout, "_when"), &due))
			continue;
		if (!timer.due_ns || timer.due_ns > (uint64_t)(due * NS_PER_SECOND))
			timer.due_ns = (uint64_t)(due * NS_PER_SECOND);
	}
	due = (double)timer.due_ns / NS_PER_SECOND;
	if (timer.due_ns && is_wait_for &&
	    seconds_of(h, local(h, frame, WAIT_FOR_TIMEOUT), &delay) && delay <= due)
		timer.since_ns = (uint64_t)((due - delay) * NS_PER_SECOND);
	return timer;
}

struct python_timer python_timer_of(struct python_heap *h, uint64_t task,
				    const struct python_await_chain *c,
				    const struct python_functions *fs,
				    const struct python_place *places)
{
	struct python_timer timer = { 0 }, limit;
	bool is_inner = true;

	for (size_t i = c->n; i > 0 && c->n - i < MAX_FRAMES; i--) {
		const struct python_function *f = python_functions_get(fs, places[i - 1].function);
		bool is_asyncio = f && f->is_asyncio;

		is_inner = is_inner && is_asyncio;
		if (is_inner && !timer.due_ns)
			timer = python_timer_read(h, f->name, c->frames[i - 1].frame);
		limit = limit_of(h, task, c->frames[i - 1].frame,
				 is_asyncio && !strcmp(f->name, "wait_for"));
		if (limit.due_ns && (!timer.due_ns || limit.due_ns < timer.due_ns))
			timer.due_ns = limit.due_ns;
		if (is_inner && !timer.since_ns)
			timer.since_ns = limit.since_ns;
	}
	return timer;
}
