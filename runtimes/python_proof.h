/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a layout (runtimes/python_layout.h) fit the process it is used on? A stack that the kernel
 * half walked by it proves it or not: its frames must lead to code objects, by their type, and
 * these to a name, a file and a line table.
 */
#ifndef RUNTIMES_PYTHON_PROOF_H
#define RUNTIMES_PYTHON_PROOF_H

#include "bpf/weft.h"
#include "runtimes/python_codes.h"

enum python_proof {
	PYTHON_PROOF_NONE, /* nothing could be read */
	PYTHON_PROOF_FITS,
	PYTHON_PROOF_AGAINST,
};

/* Sets source->type to 0 where the type is not where the file says, but fits. */
enum python_proof python_prove(struct python_code_source *source, const struct wire_python *stack);

#endif
