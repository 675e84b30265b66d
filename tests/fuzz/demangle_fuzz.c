// SPDX-License-Identifier: Apache-2.0
/* One mangled name. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1);

	memcpy(name, data, size);
	name[size] = 0;
	free(demangle(name));
	free(name);
	return 0;
}
