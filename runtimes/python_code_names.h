/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a code object of a CPython process has, 3.7 to 3.15: of its variables, and of what it
   looks up elsewhere. */
#ifndef RUNTIMES_PYTHON_CODE_NAMES_H
#define RUNTIMES_PYTHON_CODE_NAMES_H

#include <stdint.h>

#include "runtimes/python_heap.h"

/* The code of a method that a class of this name in a module has by itself; 0: there is none. */
uint64_t python_method_code(struct python_heap *h, uint64_t modules, const char *module,
			    const char *name, const char *method);

/* The str with which the code looks up an attribute or a global of this name; 0: it does not. Names
   in code are interned, so the attributes of objects have the very same one. */
uint64_t python_code_name(struct python_heap *h, uint64_t code, const char *name);

/* Number of a variable among those of its frame, or PYTHON_NO_VARIABLE. */
#define PYTHON_NO_VARIABLE 64
uint32_t python_code_variable(struct python_heap *h, uint64_t code, const char *name);

#endif
