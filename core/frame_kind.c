// SPDX-License-Identifier: Apache-2.0
#include "core/frame_kind.h"

#include <string.h>

static const char *const kind_names[N_FRAME_KINDS] = {
	[FRAME_UNKNOWN] = "unknown", [FRAME_NATIVE] = "native",	 [FRAME_KERNEL] = "kernel",
	[FRAME_JIT] = "jit",	     [FRAME_PYTHON] = "cpython", [FRAME_GO] = "go",
	[FRAME_JAVA] = "jvm",	     [FRAME_MARK] = "mark",
};

const char *frame_kind_name(enum frame_kind kind)
{
	return (unsigned int)kind < N_FRAME_KINDS ? kind_names[kind] : kind_names[FRAME_UNKNOWN];
}

enum frame_kind frame_kind_of_name(const char *name)
{
	for (int i = 0; i < N_FRAME_KINDS; i++)
		if (!strcmp(kind_names[i], name))
			return (enum frame_kind)i;
	return FRAME_UNKNOWN;
}
