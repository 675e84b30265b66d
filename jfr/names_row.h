/* SPDX-License-Identifier: Apache-2.0 */
/* How names are put together of constants: what jfr/names.c and jfr/java_things.c share. */
#ifndef JFR_NAMES_ROW_H
#define JFR_NAMES_ROW_H

#include "core/arena.h"
#include "jfr/names.h"

struct constant;
struct jfr_value;
struct layout;

enum what { WHAT_TEXT, WHAT_THREAD, WHAT_CLASS, WHAT_METHOD, WHAT_STACK };

/* What a constant's memo counts, from 1. */
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

#define N_CACHED_METHODS 1024

/* Methods that many stacks have in common are looked up once. */
struct cached_method {
	uint64_t type;
	int64_t key;
	struct java_method *method; /* NULL: free */
	unsigned int round;
};

struct names {
	struct constants *constants;
	struct arena arena;
	struct cached_method methods[N_CACHED_METHODS];
	struct named **rows;
	size_t n, cap;
	unsigned int round;
	uint64_t n_missing;
	unsigned int depth; /* of constants that are text of constants */
	struct java_class nowhere;
	struct java_method no_method; /* stand for what is missing when there is too much of it */
};

/* A constant, where it was found. */
struct found {
	struct names *names;
	struct constant *constant;
	const struct layout *layout;
};

bool names_find(struct chunk *c, uint64_t type, int64_t key, struct found *f);
/* The values of a constant, to be freed; NULL: no memory, or bytes that make no sense. What is
   asked of them is asked before anything else is looked up, which may move constants. */
struct jfr_value *names_values(const struct found *f);
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

struct text_ref names_ref_at(const struct found *f, const struct jfr_value *values, int leaf);
struct text_ref names_ref(const struct found *f, const struct jfr_value *values, const char *path);
/* Kept with the names: for strings of constants only, of which each is asked for once. */
const char *names_resolve(struct chunk *c, const struct text_ref *ref);
/* "[unresolved:WHAT:KEY]". Hostile files have as many as they like; not all are told apart. */
const char *names_missing(struct chunk *c, const char *what, int64_t key);
struct java_method *names_no_method(struct chunk *c);
bool names_has_room(const struct chunk *c); /* for one more thing that is missing */

#endif
