// SPDX-License-Identifier: Apache-2.0
/* The copied name of an asyncio task, a str or an int, behind a byte that is its minor version. */
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_label.h"
#include "tests/unit/python_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the object says its type is, it is one of them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wire_python_task task = { .addr = WORLD_ADDR };
	char label[PYTHON_LABEL_MAX];
	struct python_name_format format;
	static struct world w;
	uint64_t type = 0;

	if (size < 2 || size - 1 > sizeof(task.name))
		return 0;
	world_init(&w, 7 + *data % 9);
	task.len = (uint32_t)(size - 1);
	memcpy(task.name, data + 1, size - 1);
	memcpy(&type, task.name + w.l.object.type, sizeof(type));
	format = (struct python_name_format){ &w.l, type, 0 };
	python_task_label(&task, &format, label);
	format = (struct python_name_format){ &w.l, 0, type };
	python_task_label(&task, &format, label);
	return 0;
}
