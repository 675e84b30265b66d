/* SPDX-License-Identifier: Apache-2.0 */
/* A code object of a CPython process: what its frames are called and where their lines are. */
#ifndef RUNTIMES_PYTHON_CODE_H
#define RUNTIMES_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mem.h"
#include "runtimes/python_layout.h"

/* Characters of a name or a path, bytes of a line table: more is refused. The largest line tables,
   of machine-made modules, have some hundreds of KiB. */
#define PYTHON_MAX_NAME 16384
#define PYTHON_MAX_LINES (4u << 20)
/* Threads that ran at once in the life of a free-threaded process: lines of more are not found. */
#define PYTHON_MAX_COPIES 4096

struct python_code {
	char *name; /* qualified from 3.11 on; see python_str_read() */
	size_t name_len;
	char *file; /* as it was compiled; "" when it could not be read */
	size_t file_len;
	uint8_t *lines; /* NULL when it could not be read */
	size_t lines_len;
	uint64_t code_len; /* bytes of instructions; 0: not known, as to 3.10 */
	/* Free-threaded from 3.14 on: threads run copies of the code, so far behind it, modulo
	 * 2^32. */
	uint32_t *copies;
	size_t n_copies;
	int first_line;
	uint32_t flags; /* co_flags; 0 where the layout does not know */
	uint32_t identity;
};

/*
 * Copies the code object at addr. type is the address of PyCode_Type, 0 when it is not known.
 * -EBADMSG: no code object; -E2BIG: its name is too long; -ESTALE: another one took its place
 * meanwhile; else what mem_read() says. A name is always there, the rest as far as it could be
 * read.
 */
int python_code_read(struct mem *m, const struct python_layout *l, uint64_t addr, uint64_t type,
		     struct python_code *out);
void python_code_deinit(struct python_code *c);
/* What python_code_read() would say as .identity, for far less; errors as of it. */
int python_code_identify(struct mem *m, const struct python_layout *l, uint64_t addr,
			 uint32_t *identity);
/* The copies again, to which every thread that comes to run the code adds one. c stays as it is
   when they cannot be read. */
void python_code_read_copies(struct mem *m, const struct python_layout *l, uint64_t addr,
			     struct python_code *c);

/* A frame's position for python_code_line(): instr is its frame.instr, code the address of its
   code. A thread's copy of the code is anywhere. */
static inline int64_t python_position(const struct python_layout *l, uint64_t code, uint64_t instr)
{
	if (l->instr == PYTHON_INSTR_POINTER)
		return (int64_t)(instr - (code + l->code.code));
	return (int64_t)(int32_t)instr * (l->instr == PYTHON_INSTR_UNITS ? 2 : 1);
}

/* Is a position in the code, or in a copy that is known? */
bool python_code_has(const struct python_code *c, int64_t position);

/* The line of a frame with this code at python_position(), of which 32 bits are enough where it is
   not negative. Errors as of python_line(); -ENOENT also when that is not in the code. */
int python_code_line(const struct python_layout *l, const struct python_code *c, int64_t position,
		     int *line);

#endif
