/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What objects of a CPython process are, by the names of their types, functions and methods, as far
 * as the search for what waits for a task must know (unwinders/python_await.bpf.h, which says what
 * whoever includes this has).
 */
#ifndef UNWINDERS_PYTHON_THING_BPF_H
#define UNWINDERS_PYTHON_THING_BPF_H

#include "unwinders/python.bpf.h"
#include "unwinders/python_await.h"

/* In objects, where builds with a GIL have it. */
#define PYTHON_AWAIT_FIELD 16  /* the first one behind the head; ob_size of a list */
#define PYTHON_AWAIT_SECOND 24 /* the second; a list's items, m_self of a builtin */

#define PYTHON_AWAIT_TYPE_BASE 256

#define PYTHON_NAME_WORDS 4

/* As many bytes of a word as there are left of a name, with the NUL behind it. */
#define PYTHON_NAME_MASK(len) ((len) < 8 ? (1ULL << 8 * ((len)&7)) - 1 : ~0ULL)
/* What begins like this; a name of up to 15 characters is compared whole. */
#define PYTHON_THING(name, thing)                                                      \
	{                                                                              \
		name,                                                                  \
			{ PYTHON_NAME_MASK(sizeof(name)),                              \
			  sizeof(name) > 8 ? PYTHON_NAME_MASK(sizeof(name) - 8) : 0 }, \
			thing,                                                         \
	}

static const struct python_thing_name {
	char name[16] __attribute__((aligned(8)));
	__u64 masks[2];
	__u64 thing;
} python_thing_names[] = {
	PYTHON_THING("_asyncio.Task", PYTHON_THING_TASK),
	PYTHON_THING("_asyncio.Future", PYTHON_THING_FUTURE),
	PYTHON_THING("_asyncio.FutureI", PYTHON_THING_FUTURE_ITER),
	PYTHON_THING("_GatheringFuture", PYTHON_THING_FUTURE),
	PYTHON_THING("coroutine", PYTHON_THING_COROUTINE),
	PYTHON_THING("coroutine_wrappe", PYTHON_THING_WRAPPER),
	PYTHON_THING("async_generator", PYTHON_THING_COROUTINE),
	PYTHON_THING("async_generator_", PYTHON_THING_WRAPPER),
	PYTHON_THING("anext_awaitable", PYTHON_THING_WRAPPER),
	PYTHON_THING("generator", PYTHON_THING_GENERATOR),
	PYTHON_THING("function", PYTHON_THING_FUNCTION),
	PYTHON_THING("method", PYTHON_THING_METHOD),
	PYTHON_THING("builtin_function", PYTHON_THING_BUILTIN),
	PYTHON_THING("functools.partia", PYTHON_THING_PARTIAL),
	PYTHON_THING("TaskWakeupMethWr", PYTHON_THING_WAKEUP),
	PYTHON_THING("_asyncio.TaskWak", PYTHON_THING_WAKEUP),
	PYTHON_THING("tuple", PYTHON_THING_TUPLE),
	PYTHON_THING("list", PYTHON_THING_LIST),
	PYTHON_THING("cell", PYTHON_THING_CELL),
};

static const struct python_thing_name python_object_name =
	PYTHON_THING("object", PYTHON_THING_OTHER);

/* What names no callback of asyncio's. */
#define PYTHON_CALLBACK_OTHER 255
/* That of a future of concurrent.futures, which hands on to asyncio's. */
#define PYTHON_CALLBACK_CHAIN 254

/* Of the last 32 characters of a name those that count, when so many do. */
#define PYTHON_TAIL_MASK(len, word)           \
	(32 - (len) >= 8 * (word) + 8 ? 0     \
	 : 32 - (len) <= 8 * (word)   ? ~0ULL \
				      : ~0ULL << 8 * ((32 - (len)) & 7))
#define PYTHON_CALLBACK(tail, len, via)                                         \
	{                                                                       \
		tail,                                                           \
			{ PYTHON_TAIL_MASK(len, 0), PYTHON_TAIL_MASK(len, 1),   \
			  PYTHON_TAIL_MASK(len, 2), PYTHON_TAIL_MASK(len, 3) }, \
			via,                                                    \
	}

/* Functions that asyncio adds as callbacks, by how their qualified names end: 3.9 has a "_gather".
   WIRE_AWAIT_UNKNOWN: user space knows them. */
static const struct python_callback_name {
	char tail[8 * PYTHON_NAME_WORDS] __attribute__((aligned(8)));
	__u64 masks[PYTHON_NAME_WORDS];
	__u64 via; /* enum wire_await */
} python_callback_names[] = {
	PYTHON_CALLBACK("  gather.<locals>._done_callback", 30, WIRE_AWAIT_GATHER),
	PYTHON_CALLBACK("   _wait.<locals>._on_completion", 29, WIRE_AWAIT_WAIT),
	PYTHON_CALLBACK("ld.<locals>._inner_done_callback", 32, WIRE_AWAIT_SHIELD),
	PYTHON_CALLBACK("                 _release_waiter", 15, WIRE_AWAIT_WAIT_FOR),
	PYTHON_CALLBACK("         TaskGroup._on_task_done", 23, WIRE_AWAIT_TASK_GROUP),
	PYTHON_CALLBACK("kGroup._spawn.<locals>.task_done", 32, WIRE_AWAIT_UNKNOWN), /* anyio's */
	PYTHON_CALLBACK("                   Task.__wakeup", 13, WIRE_AWAIT_UNKNOWN), /* not C's */
	PYTHON_CALLBACK("_future.<locals>._call_set_state", 32, PYTHON_CALLBACK_CHAIN),
};

/* What the method is called that wakes a task up, where it is a builtin. */
static const struct python_thing_name python_wakeup_names[] = {
	PYTHON_THING("TaskWakeupMethWr", PYTHON_THING_WAKEUP),
	PYTHON_THING("task_wakeup", PYTHON_THING_WAKEUP),
};

#define PYTHON_N_OF(array) (sizeof(array) / sizeof(*(array)))

static __always_inline __u64 python_await_word(const struct python_process *p, __u64 object,
					       __u64 at)
{
	return object ? python_read_pointer(object + at + p->awaits.head) : 0;
}

/* Is what was read of a name, or what begins it, this one? */
static __always_inline int python_is_named(const __u64 words[2],
					   const struct python_thing_name *known)
{
	const __u64 *wanted = (const __u64 *)known->name;

	return !(((words[0] ^ wanted[0]) & known->masks[0]) |
		 ((words[1] ^ wanted[1]) & known->masks[1]));
}

/* What begins the name of a type. 0, or negative: it cannot be read. */
static __always_inline int python_type_head(const struct python_process *p, __u64 type,
					    __u64 words[2])
{
	__u64 name = type ? python_read_pointer(type + p->awaits.type_name) : 0;

	return name ? read_user(name, words, 2 * sizeof(*words)) : -1;
}

/* What the objects of a type are; N_PYTHON_THINGS: it cannot be read. One whose own name says
   nothing may derive from one that says something, where user space looks further. */
static __always_inline __u32 python_thing_of_type(const struct python_process *p, __u64 type)
{
	__u64 words[2];

	if (python_type_head(p, type, words))
		return N_PYTHON_THINGS;
	for (__u32 i = 0; i < PYTHON_N_OF(python_thing_names); i++)
		if (python_is_named(words, &python_thing_names[i]))
			return python_thing_names[i].thing;
	if (python_type_head(p, python_await_word(p, type, PYTHON_AWAIT_TYPE_BASE), words))
		return N_PYTHON_THINGS;
	return python_is_named(words, &python_object_name) ? PYTHON_THING_OTHER
							   : PYTHON_THING_DERIVED;
}

/* What an object is: enum python_thing. What cannot be read is for user space. */
UNWIND_GLOBAL __u32 python_thing_of(__u64 object)
{
	struct python_scratch *s = python_scratch_get();
	__u64 type, at;
	__u32 thing;

	if (!s || !object)
		return PYTHON_THING_OTHER;
	if (++s->awaits.n_things > PYTHON_AWAIT_THINGS) {
		s->awaits.is_unsure = 1;
		return PYTHON_THING_OTHER;
	}
	type = python_read_pointer(object + s->process.awaits.object_type);
	at = (type >> 4 ^ type >> 8) & (PYTHON_KNOWN_THINGS - 1);
	if (type && s->awaits.known[at].type == type)
		return s->awaits.known[at].thing;
	thing = python_thing_of_type(&s->process, type);
	if (thing == N_PYTHON_THINGS) {
		s->awaits.is_unsure = 1;
		return PYTHON_THING_OTHER;
	}
	s->awaits.known[at].type = type;
	s->awaits.known[at].thing = thing;
	return thing;
}

/* Which of asyncio's callbacks a function is, enum wire_await, or PYTHON_CALLBACK_OTHER. One that
   cannot be read is for user space too. */
UNWIND_GLOBAL __u32 python_callback_of(__u64 function)
{
	struct python_scratch *s = python_scratch_get();
	__u64 words[PYTHON_NAME_WORDS], str, end;

	if (!s || python_thing_of(function) != PYTHON_THING_FUNCTION)
		return PYTHON_CALLBACK_OTHER;
	str = python_read_pointer(function + s->process.awaits.function_qualname);
	end = str ? python_read_pointer(str + s->process.awaits.str_length) : 0;
	end += str + s->process.awaits.str_text;
	/* Before a short text there is the head of its object. */
	if (!str || read_user(end - sizeof(words), words, sizeof(words)))
		return WIRE_AWAIT_UNKNOWN;
	for (__u32 i = 0; i < PYTHON_N_OF(python_callback_names); i++) {
		const __u64 *wanted = (const __u64 *)python_callback_names[i].tail;
		__u64 others = 0;

		for (__u32 k = 0; k < PYTHON_NAME_WORDS; k++)
			others |= (words[k] ^ wanted[k]) & python_callback_names[i].masks[k];
		if (!others)
			return python_callback_names[i].via;
	}
	return PYTHON_CALLBACK_OTHER;
}

/* Does a builtin method wake a task up? Negative: it cannot be read. */
UNWIND_GLOBAL int python_await_wakes(__u64 builtin)
{
	struct python_scratch *s = python_scratch_get();
	__u64 words[2], definition, name;

	if (!s)
		return 0;
	definition = python_await_word(&s->process, builtin, PYTHON_AWAIT_FIELD);
	name = definition ? python_read_pointer(definition) : 0;
	if (!name || read_user(name, words, sizeof(words)))
		return -1;
	return python_is_named(words, &python_wakeup_names[0]) ||
	       python_is_named(words, &python_wakeup_names[1]);
}

#endif
