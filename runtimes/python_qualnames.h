/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Qualified names of functions of CPython 3.7 to 3.10, whose code objects have none: the functions
 * that its modules and classes hold say them. A name is only given when a live function with that
 * very code object has it and it ends in the name the code object has, so that what
 * functools.wraps() lends to a wrapper is not taken for the wrapper's own.
 */
#ifndef RUNTIMES_PYTHON_QUALNAMES_H
#define RUNTIMES_PYTHON_QUALNAMES_H

#include "runtimes/python_code.h"
#include "runtimes/python_heap.h"
#include "runtimes/python_share.h"

/* Functions of one process that are remembered, and classes that are looked into, at most. */
#define PYTHON_MAX_QUALNAMES (1u << 18)

struct python_qualnames;

struct python_qualnames *python_qualnames_new(size_t max);
void python_qualnames_free(struct python_qualnames *q);

/*
 * The qualified name of the code object at an address, whose name is `name`; to be freed. NULL:
 * nothing certain. The modules of the interpreter at interp are searched when there are others than
 * at the last time; that takes some reads for each function there is, so h->mem better is a cache,
 * and it is not done again before twenty times as long has passed.
 */
char *python_qualnames_find(struct python_qualnames *q, struct python_heap *h, uint64_t interp,
			    uint64_t code, const char *name);

/* Gives a code object that was read at addr its qualified name where that is certain; runtime is
   the address of _PyRuntime. Does nothing for versions whose code objects have theirs, and only as
   much as the process has steps for. */
void python_qualnames_apply(struct python_qualnames *q, struct python_part *part, struct mem *m,
			    const struct python_layout *l, uint64_t runtime, uint64_t addr,
			    struct python_code *c);
size_t python_qualnames_memory(const struct python_qualnames *q);

#endif
