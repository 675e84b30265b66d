// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_memory.h"

#define FUNCTION_BYTES (512u << 10) /* about */

struct python_functions *python_memory_functions(struct python_memory *m)
{
	if (m->functions && python_functions_memory(m->functions) > FUNCTION_BYTES) {
		python_functions_free(m->functions);
		m->functions = NULL;
	}
	if (!m->functions)
		m->functions = python_functions_new();
	return m->functions;
}

size_t python_memory_size(const struct python_memory *m)
{
	return m->functions ? python_functions_memory(m->functions) : 0;
}

void python_memory_forget(struct python_memory *m)
{
	python_functions_free(m->functions);
	*m = (struct python_memory){ 0 };
}
