/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of a CPython process that runs on: words of them, what kind they are, and what is in the
 * containers. Everything read may be old, torn or made up; what cannot be read is as if it was not
 * there, every count has a cap, and nothing here follows pointers further than one object.
 */
#ifndef RUNTIMES_PYTHON_HEAP_H
#define RUNTIMES_PYTHON_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mem.h"
#include "runtimes/python_heap_layout.h"
#include "runtimes/python_layout.h"

struct intern;

/* By the name of the type or of one it derives from. */
enum python_kind {
	PYTHON_OTHER,
	PYTHON_TASK,   /* _asyncio.Task, also derived ones */
	PYTHON_FUTURE, /* _asyncio.Future */
	PYTHON_GATHERING_FUTURE,
	PYTHON_PURE_TASK, /* the same three of asyncio's Python half */
	PYTHON_PURE_FUTURE,
	PYTHON_PURE_GATHERING_FUTURE,
	PYTHON_FUTURE_ITER,
	PYTHON_COROUTINE,
	PYTHON_GENERATOR,
	PYTHON_ASYNC_GENERATOR,
	PYTHON_AWAIT_WRAPPER, /* leads to the generator it awaits */
	PYTHON_FUNCTION,
	PYTHON_METHOD,
	PYTHON_BUILTIN,
	PYTHON_PARTIAL,
	PYTHON_WAKEUP, /* what wakes a task up, where that is a type of its own */
	PYTHON_TUPLE,
	PYTHON_LIST,
	PYTHON_DICT,
	PYTHON_SET,
	PYTHON_STR,
	PYTHON_INT,
	PYTHON_CELL,
	PYTHON_MODULE,
	PYTHON_CODE,
	PYTHON_WEAKREF,
	PYTHON_FLOAT,
	PYTHON_TIMER_HANDLE, /* asyncio's or uvloop's */
};

/* Entries of one dict, set, list or tuple that are looked at. */
#define PYTHON_MAX_ITEMS (1u << 20)

/* Where the slot of a class is that was looked for last: its descriptor, which must still be what
   it was. type 0: none was. */
struct python_slot_memo {
	uint64_t type, descriptor;
	uint64_t words[4]; /* of the descriptor: its type, whose it is, its name, where it points */
	uint64_t at;	   /* in objects */
	const char *name;
};

/* Where a key of a large dict was when it was looked for last. As long as it has the same table of
   entries, to which new ones are appended, it is still there, or still not. */
struct python_key_memo {
	uint64_t dict, table;
	const char *key;
	uint64_t n_entries;  /* of the table */
	uint64_t index, str; /* of its entry, and of the str there; str 0: there is none */
	unsigned int n_uses; /* since it was looked for */
};

#define PYTHON_KEY_MEMOS 16

struct python_heap {
	struct mem *mem; /* borrowed */
	const struct python_layout *layout;
	struct python_heap_layout at;
	struct intern *types; /* addresses of types seen */
	uint8_t *kinds;	      /* theirs, by id */
	size_t cap_kinds;
	struct python_slot_memo slot;
	struct python_key_memo keys[PYTHON_KEY_MEMOS];
	unsigned int next_key;
	uint64_t parent_key; /* the str "_parent_task", as an object's attribute; 0: not met */
	uint64_t n_reads;    /* so far */
	uint64_t n_left;     /* reads until everything is as if it was not there: ends every loop */
};

/* A task that sleeps takes seventy. */
#define PYTHON_MAX_READS (UINT64_C(1) << 26)

/* 0 or -ENOMEM, and -ENOTSUP as python_heap_layout_of() says. layout and mem are borrowed. */
int python_heap_init(struct python_heap *h, struct mem *mem, const struct python_layout *layout);
void python_heap_deinit(struct python_heap *h);

/* What one heap learned of a program and spares the next one dozens of pages: kinds of types that
   are part of the interpreter's files, which stay what they are as long as the program, and memos,
   which say themselves whether they still hold. Zeros at first. */
#define PYTHON_MAX_STATIC_TYPES 32
struct python_heap_memory {
	uint64_t types[PYTHON_MAX_STATIC_TYPES];
	uint8_t kinds[PYTHON_MAX_STATIC_TYPES];
	size_t n_types;
	struct python_slot_memo slot;
	struct python_key_memo keys[PYTHON_KEY_MEMOS];
	unsigned int next_key;
};

void python_heap_recall(struct python_heap *h, const struct python_heap_memory *known);
void python_heap_remember(struct python_heap *h, struct python_heap_memory *known);

/* 0 when it cannot be read, as for a NULL in the target. */
uint64_t python_word(struct python_heap *h, uint64_t addr);
uint32_t python_int(struct python_heap *h, uint64_t addr);
uint8_t python_byte(struct python_heap *h, uint64_t addr);
/* A word of an object; at: as builds with a GIL have it, such as PYTHON_LIST_SIZE. */
static inline uint64_t python_field(struct python_heap *h, uint64_t object, uint64_t at)
{
	return python_word(h, object + at + h->at.head);
}
/* Does anybody refer to it? What was freed keeps its type until its place is used again. */
bool python_is_referenced(struct python_heap *h, uint64_t object);

enum python_kind python_kind(struct python_heap *h, uint64_t object);
static inline bool python_kind_is_future(enum python_kind kind)
{
	return kind >= PYTHON_TASK && kind <= PYTHON_PURE_GATHERING_FUTURE;
}
static inline bool python_kind_is_pure(enum python_kind kind)
{
	return kind >= PYTHON_PURE_TASK && kind <= PYTHON_PURE_GATHERING_FUTURE;
}
static inline bool python_kind_is_task(enum python_kind kind)
{
	return kind == PYTHON_TASK || kind == PYTHON_PURE_TASK;
}
static inline bool python_kind_is_generator(enum python_kind kind)
{
	return kind >= PYTHON_COROUTINE && kind <= PYTHON_ASYNC_GENERATOR;
}
/* The name of an object's type into out, "" when it has none. */
const char *python_type_name(struct python_heap *h, uint64_t object, char *out, size_t size);

/* Is it a str of these ASCII characters? */
bool python_str_is(struct python_heap *h, uint64_t str, const char *text);
/* Does it end in them? */
bool python_str_ends(struct python_heap *h, uint64_t str, const char *text);
/* An int from 0 to UINT64_MAX. */
bool python_int_value(struct python_heap *h, uint64_t object, uint64_t *out);

/* Number of elements of a list or tuple, and one of them; 0 when there is none. */
size_t python_items(struct python_heap *h, uint64_t object, enum python_kind kind);
uint64_t python_item(struct python_heap *h, uint64_t object, enum python_kind kind, size_t i);

#endif
