/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found out once: the lines at an address of an object, and demangled names. One table for
 * all objects. It lives longer than one profile: rows are its own, and turned into ids of the
 * profile being filled on the way out.
 */
#ifndef SYMBOLIZER_NAME_CACHE_H
#define SYMBOLIZER_NAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line;
struct name_cache;
struct profile;

/* One function at an address, innermost inlined one first. Strings are borrowed for the call. */
struct name_line {
	const char *name, *system_name, *filename; /* filename may be NULL */
	uint32_t start_line, line, column;
};

struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *c);
/* False when nothing was added for this address. Else *n lines of p (0: known to have no name). */
bool name_cache_find(struct name_cache *c, uint32_t object, uint64_t vaddr, struct profile *p,
		     struct line *out, size_t max, size_t *n, uint16_t *flags);
/* 0 or -ENOMEM, which costs only the memory of it. */
int name_cache_add(struct name_cache *c, uint32_t object, uint64_t vaddr,
		   const struct name_line *lines, size_t n, uint16_t flags);
/* The name for people; the name itself when it is not mangled. Borrowed until the next flush. */
const char *name_cache_demangle(struct name_cache *c, const char *mangled);
/* Forgets everything. */
void name_cache_flush(struct name_cache *c);
size_t name_cache_memory(const struct name_cache *c);

#endif
