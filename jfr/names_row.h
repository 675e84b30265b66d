/* SPDX-License-Identifier: Apache-2.0 */
/* How names are put together of constants: what jfr/names.c, jfr/java_things.c and jfr/java_stack.c
 * share. */
#ifndef JFR_NAMES_ROW_H
#define JFR_NAMES_ROW_H

#include <stdlib.h>

#include "core/arena.h"
#include "jfr/layout.h"
#include "jfr/memo.h"
#include "jfr/names.h"

struct constant;
struct pool;

enum what { WHAT_TEXT = 1, WHAT_THREAD, WHAT_CLASS, WHAT_METHOD, WHAT_STACK };

#define N_WHATS (WHAT_STACK + 1)

/* The fields of each that are asked for: indices into names_places(). */
enum { TEXT_NAME, TEXT_TYPE };
enum { THREAD_NAME, THREAD_OS_NAME, THREAD_GROUP, THREAD_ID, THREAD_OS_ID, THREAD_VIRTUAL };
enum { CLASS_NAME };
enum { METHOD_NAME, METHOD_DESCRIPTOR, METHOD_CLASS, METHOD_HIDDEN };
enum { STACK_TRUNCATED, STACK_FRAMES, FRAME_METHOD, FRAME_LINE, FRAME_BCI, FRAME_TYPE };

/* What a constant's memo counts, from 1. Has only as much of the union as it is. */
struct named {
	enum what what;
	bool is_partial;
	unsigned int round; /* of names_update(), in which it was put together */
	union {
		const char *text;
		struct java_thread thread;
		struct java_class class;
		struct java_method method;
		struct java_stack stack;
	};
};

#define N_CACHED_METHODS 512
#define N_CACHED_FRAME_TYPES 16

/* Methods that many stacks have in common are looked up once. */
struct cached_method {
	uint64_t type;
	int64_t key;
	struct java_method *method; /* NULL: free */
	unsigned int round;
};

struct cached_frame_type {
	uint64_t type;
	int64_t key;
	bool is_known, is_native;
	enum java_frame_type as;
	unsigned int round;
};

#define FRAMES_OF_BLOCK 64

struct frame_block {
	struct frame_block *next;
	size_t n;
	struct java_frame frames[FRAMES_OF_BLOCK];
};

struct names {
	struct constants *constants;
	struct arena arena;
	struct cached_method methods[N_CACHED_METHODS];
	struct cached_frame_type frame_types[N_CACHED_FRAME_TYPES];
	struct memo frames; /* that are shared, by their bytes */
	struct frame_block *frame_blocks;
	struct text_room room; /* for one text that is put together */
	struct named **rows;
	size_t n, cap;
	unsigned int round;
	const struct jfr_type *strings; /* java.lang.String; NULL: look it up */
	bool is_in_doubt;		/* nothing was asked for since names_doubt() */
	uint64_t n_missing;
	unsigned int depth; /* of constants that are text of constants */
	struct java_class nowhere;
	struct java_method no_method; /* stand for what is missing when there is too much of it */
};

/* A constant, where it was found. */
struct found {
	struct names *names;
	struct pool *pool;
	struct constant *constant;
	const struct layout *layout;
};

#define FEW_VALUES 12

/* The values of a constant. */
struct constant_values {
	struct jfr_value *all;
	struct jfr_value few[FEW_VALUES]; /* where most have room */
};

static inline void scoped_values(struct constant_values *v)
{
	if (v->all != v->few)
		free(v->all);
}

/* In these only, and wherever it may be. */
bool names_find_in(struct names *n, uint64_t type, int64_t key, struct found *f);
bool names_find(struct chunk *c, uint64_t type, int64_t key, struct found *f);
/* Reads them; false: no memory, or bytes that make no sense. What is asked of them is asked before
   anything else is looked up, which may move constants. */
bool names_values(const struct found *f, struct constant_values *v);
/* Where in them the fields are that are asked of such a thing; -1: it has none. */
const int16_t *names_places(const struct found *f, enum what what);
/* The row of a constant, made when there is none; *is_done: it need not be put together again.
   NULL: no memory, or it was asked for as something else before. */
struct named *names_row(struct found *f, enum what what, bool *is_done);
/* It is put together, but for what was missing since then. */
void names_finish(struct chunk *c, struct found *f, struct named *row, uint64_t n_missing);

/* A field of a constant that is a string, or refers to one. */
struct text_ref {
	bool is_constant;
	uint64_t type;
	int64_t key;
	struct wire_string string;
};

/* A field that is a number; 0 when it is none. */
static inline int64_t names_number(const struct found *f, const struct constant_values *v, int leaf)
{
	const struct jfr_leaf *l = leaf < 0 ? NULL : layout_leaf(f->layout, (size_t)leaf);

	return l && l->kind == VALUE_NUMBER ? v->all[leaf].n : 0;
}

struct text_ref names_ref(const struct found *f, const struct constant_values *v, int leaf);
/* Kept with the names: for strings of constants only, of which each is asked for once. */
const char *names_resolve(struct chunk *c, const struct text_ref *ref);
/* "[unresolved:WHAT:KEY]". Hostile files have as many as they like; not all are told apart. */
const char *names_missing(struct chunk *c, const char *what, int64_t key);
/* A frame that lives as long as the names, whose location names_forget() clears. NULL: no memory.
 */
struct java_frame *names_new_frame(struct names *n);
struct java_method *names_no_method(struct chunk *c);
bool names_has_room(const struct chunk *c); /* for one more thing that is missing */

#endif
