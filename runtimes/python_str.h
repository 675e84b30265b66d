/* SPDX-License-Identifier: Apache-2.0 */
/* str and bytes objects of a CPython process, copied out of its memory. */
#ifndef RUNTIMES_PYTHON_STR_H
#define RUNTIMES_PYTHON_STR_H

#include <stddef.h>
#include <stdint.h>

#include "core/mem.h"
#include "runtimes/python_layout.h"

/*
 * The str at addr as UTF-8, whatever its form; to be freed. *len is its length in bytes; there is a
 * NUL behind it, and may be some in it. U+DC80 to U+DCFF, which CPython uses for bytes of file
 * names that are no UTF-8, become these bytes again; other surrogates become U+FFFD. -E2BIG: more
 * than max characters; -EBADMSG: not a str; -ENOTSUP: a form of 3.11 and before that has no
 * characters yet; -ENOMEM and what mem_read() says.
 */
int python_str_read(struct mem *m, const struct python_layout *l, uint64_t addr, size_t max,
		    char **out, size_t *len);

/* The bytes object at addr; to be freed, also when it is empty. -E2BIG: more than max bytes. */
int python_bytes_read(struct mem *m, const struct python_layout *l, uint64_t addr, size_t max,
		      uint8_t **out, size_t *len);

#endif
