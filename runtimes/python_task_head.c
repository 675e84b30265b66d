// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_task_head.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtimes/python_dict.h"
#include "runtimes/python_str.h"

#define MAX_NAME 1024 /* characters */

/* None is an object too. */
static uint64_t if_future(struct python_heap *h, uint64_t object)
{
	return python_kind_is_future(python_kind(h, object)) ? object : 0;
}

static bool is_done(struct python_heap *h, uint64_t future)
{
	uint64_t state;

	if (!python_kind_is_pure(python_kind(h, future)))
		return python_int(h, future + h->at.future.state) != 0;
	state = python_attribute(h, future, "_state"); /* of the class while it is pending */
	return state && !python_str_is(h, state, "PENDING");
}

static void read_pure(struct python_heap *h, uint64_t task, struct python_task_head *head)
{
	head->coro = python_attribute(h, task, "_coro");
	head->waiter = if_future(h, python_attribute(h, task, "_fut_waiter"));
	head->name = python_attribute(h, task, "_name");
	head->context = python_attribute(h, task, "_context");
}

uint64_t python_task_loop(struct python_heap *h, uint64_t task)
{
	if (python_kind_is_pure(python_kind(h, task)))
		return python_attribute(h, task, "_loop");
	return python_field(h, task, PYTHON_FUTURE_LOOP);
}

struct python_task_head python_task_head(struct python_heap *h, uint64_t task)
{
	struct python_task_head head = { 0 };

	if (python_kind_is_pure(python_kind(h, task))) {
		read_pure(h, task, &head);
	} else {
		head.coro = python_word(h, task + h->at.task.coro);
		head.waiter = python_word(h, task + h->at.task.waiter);
		head.context = python_word(h, task + h->at.task.context);
		head.name = h->at.task.name ? python_word(h, task + h->at.task.name) : 0;
	}
	head.loop = python_task_loop(h, task);
	head.is_done = is_done(h, task);
	head.is_woken =
		python_kind_is_future(python_kind(h, head.waiter)) && is_done(h, head.waiter);
	return head;
}

char *python_task_name(struct python_heap *h, uint64_t name)
{
	uint64_t number;
	char *text = NULL;
	size_t len;

	switch (python_kind(h, name)) {
	case PYTHON_STR:
		if (python_str_read(h->mem, h->layout, name, MAX_NAME, &text, &len) < 0)
			return NULL;
		return text;
	case PYTHON_INT: /* from 3.12 on, until somebody asks for it */
		if (!python_int_value(h, name, &number) ||
		    asprintf(&text, "Task-%" PRIu64, number) < 0)
			return NULL;
		return text;
	default:
		return NULL;
	}
}
