// SPDX-License-Identifier: Apache-2.0
/* The memory of a CPython from its _PyRuntime on, behind a byte that is its minor version. */
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"
#include "runtimes/python_dump.h"
#include "runtimes/python_logical.h"
#include "tests/unit/python_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_stacks(const struct python_dump *d)
{
	static uint32_t locations[PYTHON_LOGICAL_MAX];
	struct python_logical *l = python_logical_new(d);
	struct profile *p = profile_new();

	for (size_t i = 0; i < d->tasks.n && l && p; i++)
		python_logical_locations(l, python_logical_id(l, i), p, locations);
	python_logical_free(l);
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	struct python_dump d;
	char reason[PYTHON_REASON_MAX];

	if (size < 2)
		return 0;
	world_init(&w, 7 + *data % 9);
	w.bytes = data + 1;
	w.len = size - 1;
	if (!python_dump_memory(&w.m, 0, &w.l, WORLD_ADDR, NULL, 0, PYTHON_DUMP_ALL, NULL, &d))
		read_stacks(&d);
	for (size_t i = 0; i < d.tasks.n; i++)
		python_task_reason(&d.tasks.tasks[i], d.functions, reason);
	python_dump_deinit(&d);
	return 0;
}
