// SPDX-License-Identifier: Apache-2.0
/* The memory of a CPython from its _PyRuntime on, behind a byte that is its minor version. */
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_dump.h"
#include "tests/unit/python_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	python_dump_memory(&w.m, 0, &w.l, WORLD_ADDR, NULL, 0, &d);
	for (size_t i = 0; i < d.tasks.n; i++)
		python_task_reason(&d.tasks.tasks[i], d.functions, reason);
	python_dump_deinit(&d);
	return 0;
}
