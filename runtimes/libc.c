// SPDX-License-Identifier: Apache-2.0
#include "runtimes/libc.h"

#include <string.h>

#include "runtimes/process.h"
#include "symbolizer/object.h"

bool libc_is_musl(const struct process *proc)
{
	static const char name[] = "/ld-musl-";
	const void *path;
	uint64_t vaddr;
	size_t len;

	for (size_t i = 0; i < proc->n_mappings; i++)
		if (proc->mappings[i].object &&
		    object_section(proc->mappings[i].object, ".interp", &path, &len, &vaddr) &&
		    memmem(path, len, name, sizeof(name) - 1))
			return true;
	return false;
}
