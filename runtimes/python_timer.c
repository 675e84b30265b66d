// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_timer.h"

#include <string.h>

#include "runtimes/python_chain.h"

#define MAX_LOCALS 12	  /* looked at for the handle: none of the functions has more in front */
#define HANDLE_WORDS 16	  /* of a TimerHandle: at least all of its fields */
#define FLOAT_VALUE 16	  /* ob_fval */
#define MAX_SECONDS 1e9	  /* since the machine started, or to wait */
#define NS_PER_SECOND 1e9 /* as a float */

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
