/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of a chunk as what they stand for: threads, classes, methods, stacks. Each is put
 * together once, when it is first asked for, and stays. What is missing has a name that says so.
 */
#ifndef JFR_NAMES_H
#define JFR_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/text_room.h"
#include "jfr/wire.h"

struct chunk;
struct constants;
struct names;

/* Texts are UTF-8. The ids in a profile are for whoever fills one; 0 at first, and again after
   names_forget(). */
struct java_thread {
	const char *name;  /* never empty: "virtual-17" when it has none */
	const char *group; /* "" when unknown */
	int64_t id, os_id; /* Java's and the system's; 0: none */
	bool is_virtual;
	uint32_t labels;
};

struct java_class {
	const char *name;   /* "java.lang.String", "byte[]" */
	bool is_waited_for; /* java_class_is_waited_for() */
	uint32_t string;
	bool is_shared; /* the id in it stays */
};

struct java_method {
	const struct java_class *class; /* "" for native code of async-profiler */
	const char *name, *descriptor;
	const char *text; /* "Class.method", of names_text(); NULL at first */
	bool is_hidden;
	bool is_of_java;	     /* and no function in C, which async-profiler writes */
	uint32_t function, location; /* the latter without a line */
};

enum java_frame_type {
	JAVA_INTERPRETED,
	JAVA_COMPILED, /* by a compiler that is not named */
	JAVA_C1,
	JAVA_INLINED,
	JAVA_NATIVE_METHOD,
	JAVA_NATIVE, /* C or C++ code */
	JAVA_KERNEL,
	JAVA_OTHER_CODE,
};

struct java_frame {
	const struct java_method *method;
	int32_t line; /* 0: unknown */
	int32_t bci;  /* -1: unknown */
	uint32_t location;
	enum java_frame_type type : 8;
	bool is_hidden; /* as its method */
	bool is_shared; /* by all stacks that have it: ids in it stay */
};

struct java_stack {
	const struct java_frame *const *frames; /* innermost first */
	size_t n;
	struct java_frame *own; /* those of them that are not shared, where they are */
	size_t n_own;
	bool is_truncated;
	bool is_partial; /* something it refers to is missing */
	uint32_t stack;
	const char *text; /* for whoever writes it often: of names_keep(); NULL at first */
};

/* Takes the constants over. NULL: no memory, and then it did not. */
struct names *names_new(struct constants *c);
void names_free(struct names *n); /* NULL is fine */
struct constants *names_constants(struct names *n);
/* More constants came: what was missing is looked for again. */
void names_update(struct names *n);
/* Ids in a profile are no longer valid. */
void names_forget(struct names *n);
/* Parts of them may be of another chunk that is gone by now, or soon. All are put together again
   when they are asked for. NULL is fine. */
void names_doubt(struct names *n);
/* The chunk was read to its end: what only made its own stacks faster is freed. */
void names_rest(struct names *n);
size_t names_memory(const struct names *n);
/* References that led nowhere. */
uint64_t names_n_missing(const struct names *n);
/* A copy that lives as long as the names; NULL: no memory. */
const char *names_keep(struct names *n, const char *text, size_t len);

/*
 * By the type of the field and the key in it; NULL for key 0 where that means none, and when there
 * is no memory. What this chunk lacks is looked for in the chunks before it, and then everywhere in
 * this one.
 */
struct java_thread *names_thread(struct chunk *c, uint64_t type, int64_t key);
struct java_class *names_class(struct chunk *c, uint64_t type, int64_t key);
struct java_method *names_method(struct chunk *c, uint64_t type, int64_t key);
struct java_stack *names_stack(struct chunk *c, uint64_t type, int64_t key);
/* Any constant as text: a state, a cause, a class, a thread. "" for none. */
const char *names_text(struct chunk *c, uint64_t type, int64_t key);
/* Does a reference refer to nothing? JVMs write 0, JMC's writer the smallest number; both may be
   the key of a constant, too. */
static inline bool names_is_none(int64_t key)
{
	return !key || key == INT64_MIN;
}

/* A string of this chunk's constants as it lies there; false: that is not all there is to it. */
bool names_pooled_string(struct chunk *c, int64_t key, struct wire_string *out);
/* A string of an event, wherever it is kept, until the room is used again; "" for none. */
const char *names_string(struct chunk *c, const struct wire_string *s, struct text_room *room);

#endif
