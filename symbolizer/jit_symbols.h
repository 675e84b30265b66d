/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of address ranges that change over time: code that a JIT writes, moves and throws away. A
 * range holds from its time on, until a later one covers the address. The newest wins.
 */
#ifndef SYMBOLIZER_JIT_SYMBOLS_H
#define SYMBOLIZER_JIT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_MAX_SYMBOLS (1 << 20)
#define JIT_MAX_NAME 4096	/* longer names are cut */
#define JIT_MAX_TEXT (64 << 20) /* bytes of names and files of one process */

struct jit_symbols;

/*
 * What the names of several processes may take together. Where one more does not fit, the oldest
 * of its process are forgotten, half of them at once: what stays is newer than all that went, so
 * no name that stays is of code that was replaced. Where a process has less than its part of the
 * room when all of it is taken, the oldest names of whoever has most are forgotten instead, but
 * never so many that less than an equal part is left to that one.
 */
struct jit_room {
	size_t max, max_each; /* bytes, of all and of one process; max 0: no limit */
	size_t used;
	uint64_t n_forgotten;	     /* names and line tables */
	bool was_said;		     /* somebody's, who tells people */
	struct jit_symbols *holders; /* a list */
};

struct jit_line {
	uint32_t offset; /* from the start of the range */
	uint32_t line;
	uint32_t file; /* jit_symbols_text() */
};

/* room is borrowed and must stay where it is; NULL: only the limits above. */
struct jit_symbols *jit_symbols_new(struct jit_room *room);
void jit_symbols_free(struct jit_symbols *s);
/* 0; -E2BIG over a cap; -ENOMEM. */
int jit_symbols_add(struct jit_symbols *s, uint64_t start, uint64_t size, uint64_t time_ns,
		    const char *name, size_t len);
/* Was this very range there already, and the newest, when somebody last looked one up? */
bool jit_symbols_has(const struct jit_symbols *s, uint64_t start, uint64_t size, const char *name,
		     size_t len);
/* Lines of the range added next, ascending. */
int jit_symbols_lines(struct jit_symbols *s, const struct jit_line *lines, size_t n);
/* The newest range that begins at `from` is now at `to`, with its name and lines. -ENOENT */
int jit_symbols_move(struct jit_symbols *s, uint64_t from, uint64_t to, uint64_t size,
		     uint64_t time_ns);
/* Keeps a string; 0 when there is no room. */
uint32_t jit_symbols_text(struct jit_symbols *s, const char *text, size_t len);
/* The range that held at a time; when none did yet, the first after it. */
const char *jit_symbols_find(struct jit_symbols *s, uint64_t addr, uint64_t time_ns,
			     uint64_t *start, uint64_t *size);
/* Of the newest range. 0: unknown. */
uint32_t jit_symbols_line(struct jit_symbols *s, uint64_t addr, const char **file);
size_t jit_symbols_count(const struct jit_symbols *s);
size_t jit_symbols_memory(const struct jit_symbols *s);

#endif
