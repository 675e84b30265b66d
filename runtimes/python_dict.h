/* SPDX-License-Identifier: Apache-2.0 */
/* Dicts, sets, attributes and modules of a CPython process (runtimes/python_heap.h). */
#ifndef RUNTIMES_PYTHON_DICT_H
#define RUNTIMES_PYTHON_DICT_H

#include "runtimes/python_heap.h"

/* Calls fn for every entry, in their order in memory, until it returns false. */
void python_dict_each(struct python_heap *h, uint64_t dict,
		      bool (*fn)(void *ctx, uint64_t key, uint64_t value), void *ctx);
/* The value of a key that is an ASCII str; 0: there is none. The text of the key is remembered, not
   copied. */
uint64_t python_dict_get(struct python_heap *h, uint64_t dict, const char *key);

/* Calls fn for every element of a set until it returns false; places that hold none are left out
   as far as they can be told. */
void python_set_each(struct python_heap *h, uint64_t set, bool (*fn)(void *ctx, uint64_t element),
		     void *ctx);

/* An attribute of the object itself, not of its class; 0: there is none. */
uint64_t python_attribute(struct python_heap *h, uint64_t object, const char *name);
/* The same, and the str that its name is there. */
uint64_t python_attribute_with_key(struct python_heap *h, uint64_t object, const char *name,
				   uint64_t *key);

/* The same, or what is in a slot of that name (`__slots__`) of its class or one that this derives
 * from. */
uint64_t python_member(struct python_heap *h, uint64_t object, const char *name);

/* The variables of a module, a dict; modules is sys.modules. 0: not imported. */
uint64_t python_module_dict(struct python_heap *h, uint64_t modules, const char *name);

#endif
