// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_memory.h"

#include <stdlib.h>

#define FUNCTION_BYTES (512u << 10) /* about */

struct python_memory *python_memory_new(void)
{
	return calloc(1, sizeof(struct python_memory));
}

void python_memory_free(struct python_memory *m)
{
	if (m)
		python_functions_free(m->functions);
	free(m);
}

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
	return sizeof(*m) + (m->functions ? python_functions_memory(m->functions) : 0);
}
