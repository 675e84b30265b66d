/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What shows the kernel half that no code object can have taken another one's place since its last
 * look (python_stamp() in unwinders/python.bpf.h): where CPython up to 3.13 keeps it. From 3.14 on
 * the layout says it.
 */
#ifndef RUNTIMES_PYTHON_STAMP_H
#define RUNTIMES_PYTHON_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mem.h"
#include "runtimes/python_image.h"
#include "runtimes/python_share.h"
#include "unwinders/python_walk.h"

/*
 * Where in an interpreter of 3.13 is the number of the next code object: by what the file has of
 * _PyRuntime, whose last part is the main interpreter before it starts: a 1, then a table of 64 KiB
 * that is empty yet. 0: it is not there, or there are several such places.
 */
uint16_t python_stamp_find(const void *runtime, size_t len);

/* Of a process. Zeros at first. */
struct python_stamp {
	uint64_t interned; /* to 3.11: the variable with the dict of interned strs; 0: not yet */
	uint8_t n_looks;
};

/* Looks whether the variable of that name is the one, which shows once the interpreter runs. True:
   it is, and was not known before. */
bool python_stamp_look(struct python_stamp *s, struct python_part *part, struct mem *mem,
		       const struct python_image *image, uint64_t bias);
void python_stamp_set(const struct python_stamp *s, const struct python_image *image, uint64_t bias,
		      struct python_process *out);

#endif
