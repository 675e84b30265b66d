/* SPDX-License-Identifier: Apache-2.0 */
/* The Python functions that the frames of one process run, read once for all of its frames. */
#ifndef RUNTIMES_PYTHON_FUNCTIONS_H
#define RUNTIMES_PYTHON_FUNCTIONS_H

#include "runtimes/python_code.h"
#include "runtimes/python_heap.h"

/* Bytes of all names and tables; functions that come later are unknown. */
#define PYTHON_MAX_FUNCTION_BYTES (64u << 20)

struct python_function {
	char *name; /* qualified where it can be; bytes of the target, NUL-terminated */
	struct python_code code;
	bool is_asyncio; /* part of asyncio itself, or of anyio */
};

/* Where a frame is. function: an id of python_functions, 0: it could not be read. */
struct python_place {
	uint32_t function;
	int line; /* 0: unknown */
};

struct python_functions;

struct python_functions *python_functions_new(void);
void python_functions_free(struct python_functions *fs);
/* Bytes, about. */
size_t python_functions_memory(const struct python_functions *fs);

/* The function of a code object; qualname: a str that names it better, 0: none. 0: unreadable. */
uint32_t python_functions_id(struct python_functions *fs, struct python_heap *h, uint64_t code,
			     uint64_t qualname);
const struct python_function *python_functions_get(const struct python_functions *fs, uint32_t id);

/* To 3.10: gives those that have plain names their qualified ones, where these are certain. interp:
   the interpreter whose modules hold them. */
void python_functions_qualify(struct python_functions *fs, struct python_heap *h, uint64_t interp);

/* The function and line of a frame; frame.instr as python_position() takes it. */
struct python_place python_functions_place(struct python_functions *fs, struct python_heap *h,
					   uint64_t code, uint64_t qualname, uint64_t instr);

#endif
