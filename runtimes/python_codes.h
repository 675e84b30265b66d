/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code objects that the stacks of one CPython process passed through. Each has a number, and is
 * read when it is first met: from the process while it is the one that the kernel half saw, else
 * from what the kernel half copied. There is a limit to how many there are, to what they hold and
 * to the work they make (runtimes/python_share.h); beyond it nothing more is read, and what is
 * known stays.
 */
#ifndef RUNTIMES_PYTHON_CODES_H
#define RUNTIMES_PYTHON_CODES_H

#include <sys/types.h>

#include "bpf/weft.h"
#include "runtimes/python_code.h"
#include "runtimes/python_share.h"

struct python_codes;

/* Where code objects are read. All is borrowed but for mem. */
struct python_code_source {
	pid_t pid; /* 0: the process is gone */
	struct mem
		*mem; /* its memory, NULL at first; opened when it is needed, freed by the caller */
	struct mem_patience *patience; /* of the process */
	uint64_t runtime;	       /* address of _PyRuntime */
	uint64_t type;		       /* of PyCode_Type; 0: not known */
	const struct python_layout *layout;
	const struct wire_python_code *const *copies;
	size_t n_copies;
};

/* The process's memory, opened when it is first needed; NULL: it is gone. */
struct mem *python_code_memory(struct python_code_source *source);

/* part is borrowed, and as old as the process. */
struct python_codes *python_codes_new(struct python_part *part);
void python_codes_free(struct python_codes *codes);
/* From 1; 0: it could not be read in the first place (identity 0), or there are too many. */
uint32_t python_codes_number(struct python_codes *codes, struct python_code_source *source,
			     uint64_t addr, uint32_t identity);
/* A frame is at this python_position() of it. In free-threaded builds that may be in a copy of the
   code that a thread made since it was read: then they are read again. */
void python_codes_visit(struct python_codes *codes, struct python_code_source *source,
			uint32_t number, int64_t position);
/* NULL: it could not be read so far, or there is no such number. Valid until the next number is
   asked for. */
const struct python_code *python_codes_get(const struct python_codes *codes, uint64_t number);
size_t python_codes_memory(const struct python_codes *codes);

#endif
