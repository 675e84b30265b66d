/* SPDX-License-Identifier: Apache-2.0 */
/* The copied parts of a code object as target memory: what was not copied cannot be read. */
#ifndef RUNTIMES_PYTHON_COPY_H
#define RUNTIMES_PYTHON_COPY_H

#include "bpf/weft.h"
#include "core/mem.h"

struct python_copy {
	struct mem mem; /* to read from; needs no freeing */
	const struct wire_python_code *code;
};

/* code is borrowed; the lengths of its parts were checked (bpf/sample_queue.c). */
void python_copy_init(struct python_copy *c, const struct wire_python_code *code);

#endif
