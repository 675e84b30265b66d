/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests: the memory of a CPython with an interpreter, a thread and asyncio tasks, made object
 * by object in the layout of any version. Of types only what is looked at is there, so that they
 * can lie 32 bytes apart.
 */
#ifndef TESTS_UNIT_PYTHON_WORLD_H
#define TESTS_UNIT_PYTHON_WORLD_H

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/mem.h"
#include "runtimes/python_heap_layout.h"
#include "tests/unit/python_debug_offsets.h"

#define WORLD_ADDR 0x7f0000010000ull /* also of _PyRuntime */
#define WORLD_SIZE 65536
#define WORLD_PAGE 4096
#define N_WORLD_TYPES 32

struct world {
	struct mem m; /* zeros behind the end, up to the end of its page */
	const uint8_t *bytes;
	size_t len;

	uint8_t made[WORLD_SIZE];
	struct python_layout l;
	struct python_heap_layout at;
	uint64_t types;
	size_t n_types;
	uint64_t next, interp, thread;
	uint64_t moving;  /* a byte for world_moving_ops */
	const char *file; /* of code; NULL: /srv.py */
};

static inline int world_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	const struct world *w = (const struct world *)m;
	size_t end = (w->len + WORLD_PAGE - 1) / WORLD_PAGE * WORLD_PAGE, have = 0;

	if (addr < WORLD_ADDR || addr - WORLD_ADDR > end || len > end - (addr - WORLD_ADDR))
		return -EFAULT;
	if (addr - WORLD_ADDR < w->len)
		have = w->len - (addr - WORLD_ADDR);
	memset(buf, 0, len);
	memcpy(buf, w->bytes + (have ? addr - WORLD_ADDR : 0), have < len ? have : len);
	return 0;
}

static inline void world_free(struct mem *m)
{
	(void)m;
}

static inline void world_put(struct world *w, uint64_t addr, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		w->made[addr - WORLD_ADDR + i] = (uint8_t)(value >> 8 * i);
}

static inline void world_word(struct world *w, uint64_t addr, uint64_t value)
{
	world_put(w, addr, value, 8);
}

/* A field of an object; at: as builds with a GIL have it. */
static inline void world_field(struct world *w, uint64_t object, uint64_t at, uint64_t value)
{
	world_word(w, object + at + w->at.head, value);
}

static inline uint64_t world_room(struct world *w, size_t len)
{
	uint64_t at = w->next;

	w->next += (len + 15) & ~15ull;
	assert(w->next - WORLD_ADDR <= WORLD_SIZE);
	w->len = w->next - WORLD_ADDR;
	return at;
}

static inline uint64_t world_type_based(struct world *w, const char *name, uint64_t base)
{
	uint64_t text, type;

	for (size_t i = 0; i < w->n_types; i++) {
		uint64_t known = w->types + 32 * i, at = 0;

		memcpy(&at, w->made + (known + w->l.type.name - WORLD_ADDR), sizeof(at));
		if (!strcmp((const char *)w->made + (at - WORLD_ADDR), name))
			return known;
	}
	assert(w->n_types < N_WORLD_TYPES);
	text = world_room(w, strlen(name) + 1);
	memcpy(w->made + (text - WORLD_ADDR), name, strlen(name));
	type = w->types + 32 * w->n_types++;
	world_word(w, type + w->l.type.name, text);
	world_field(w, type, PYTHON_TYPE_BASE, base);
	return type;
}

static inline uint64_t world_object(struct world *w, const char *type, size_t len)
{
	uint64_t base =
		!strcmp(type, "_GatheringFuture") ? world_type_based(w, "_asyncio.Future", 0) : 0;
	uint64_t known = world_type_based(w, type, base), at = world_room(w, len + w->at.head);

	/* References; of free-threaded builds those of the thread that made it. */
	world_put(w, at + w->l.object.type - (w->l.is_free_threaded ? 12 : 8), 1, 4);
	world_word(w, at + w->l.object.type, known);
	return at;
}

static inline uint64_t world_str(struct world *w, const char *text)
{
	size_t len = strlen(text);
	uint64_t at = world_object(w, "str", w->l.str.ascii_header + len + 1);

	world_word(w, at + w->l.str.length, len);
	world_put(w, at + w->l.str.state, (1u | 8 | 16) << w->l.str.kind_bit, 4);
	memcpy(w->made + (at + w->l.str.ascii_header - WORLD_ADDR), text, len);
	return at;
}

static inline uint64_t world_tuple(struct world *w, size_t n, const uint64_t *items)
{
	uint64_t at = world_object(w, "tuple", w->l.tuple.items + 8 * n);

	world_word(w, at + w->l.tuple.size, n);
	for (size_t i = 0; i < n; i++)
		world_word(w, at + w->l.tuple.items + 8 * i, items[i]);
	return at;
}

static inline uint64_t world_list(struct world *w, size_t n, const uint64_t *items)
{
	uint64_t table = world_room(w, 8 * n), at = world_object(w, "list", 40);

	world_field(w, at, PYTHON_LIST_SIZE, n);
	world_field(w, at, PYTHON_LIST_ITEMS, table);
	for (size_t i = 0; i < n; i++)
		world_word(w, table + 8 * i, items[i]);
	return at;
}

/* A dict of these, without hashes; a key 0 is a place that is free again. */
static inline uint64_t world_table(struct world *w, size_t n, const uint64_t *keys,
				   const uint64_t *values)
{
	bool is_old = w->l.version < PYTHON_FIRST(3, 11);
	uint64_t table = world_room(w, w->at.keys.indices + 64 + 24 * n), entries;
	uint64_t at = world_object(w, "dict", 48);

	entries = table + w->at.keys.indices + 64;
	world_put(w, table + w->at.keys.size, is_old ? 64 : 6, 8);
	if (!is_old)
		world_put(w, table + w->at.keys.size + 1, 6, 1);
	world_word(w, table + w->at.keys.n_entries, n);
	for (size_t i = 0; i < n; i++) {
		world_word(w, entries + 24 * i + 8, keys[i]);
		world_word(w, entries + 24 * i + 16, values[i]);
	}
	world_field(w, at, PYTHON_DICT_KEYS, table);
	return at;
}

/* With one entry. */
static inline uint64_t world_dict(struct world *w, uint64_t key, uint64_t value)
{
	return world_table(w, 1, &key, &value);
}

static inline uint64_t world_set(struct world *w, size_t n, const uint64_t *elements)
{
	uint64_t table, at = world_object(w, "set", 200);
	size_t mask = 7;

	while (mask < n)
		mask = 2 * mask + 1;
	table = world_room(w, 16 * (mask + 1));
	world_field(w, at, PYTHON_SET_MASK, mask);
	world_field(w, at, PYTHON_SET_TABLE, table);
	for (size_t i = 0; i < n; i++)
		world_word(w, table + 16 * i, elements[i]);
	return at;
}

static inline uint64_t world_code(struct world *w, const char *name)
{
	size_t len = w->l.code.code > w->l.code.size ? w->l.code.code : w->l.code.size;
	uint64_t at = world_object(w, "code", len + 16);
	uint64_t text = world_str(w, name);
	/* Two code units of the line behind the first one. */
	uint16_t lines = w->l.lines == PYTHON_LNOTAB	  ? 0x100
			 : w->l.lines == PYTHON_LINETABLE ? 0x104
							  : 0x2e9;
	uint64_t table = world_object(w, "bytes", w->l.bytes.data + 2), bytes;

	world_word(w, table + w->l.bytes.size, 2);
	world_put(w, table + w->l.bytes.data, lines, 2);
	world_put(w, at + w->l.code.first_line, 7, 4);
	world_word(w, at + w->l.code.name, text);
	if (w->l.code.qualname)
		world_word(w, at + w->l.code.qualname, text);
	world_word(w, at + w->l.code.filename, world_str(w, w->file ? w->file : "/srv.py"));
	world_word(w, at + w->l.code.linetable, table);
	if (w->l.instr == PYTHON_INSTR_POINTER) {
		world_word(w, at + w->l.object.size, 2); /* code units */
		return at;
	}
	bytes = world_object(w, "bytes", w->l.bytes.data + 8);
	world_word(w, bytes + w->l.bytes.size, 8);
	world_put(w, bytes + w->l.bytes.data + 2, 72, 1); /* YIELD_FROM behind the first one */
	world_word(w, at + w->l.code.code, bytes);
	return at;
}

/* A coroutine that awaits an object, 0: it has not begun. */
static inline uint64_t world_coroutine(struct world *w, const char *name, uint64_t awaited)
{
	unsigned int minor = PYTHON_MINOR(w->l.version);
	size_t frame_len = w->l.frame.localsplus + 32;
	uint64_t at = world_object(w, "coroutine", 96 + (w->at.gen.iframe ? frame_len : 0));
	uint64_t frame = w->at.gen.iframe ? at + w->at.gen.iframe : world_room(w, frame_len);
	uint64_t code = world_code(w, name), stack = frame + w->l.frame.localsplus + 8;
	int state = awaited ? (minor < 13   ? -1
			       : minor < 15 ? -1
					    : 2)
			    : (minor < 13   ? -2
			       : minor < 15 ? -3
					    : 0);

	world_word(w, at + w->at.gen.qualname, world_str(w, name));
	if (w->at.gen.frame)
		world_word(w, at + w->at.gen.frame, frame);
	if (w->at.gen.state)
		world_put(w, at + w->at.gen.state, (uint64_t)state, 1);
	if (w->at.frame.state)
		world_put(w, frame + w->at.frame.state, (uint64_t)-1, 1);
	world_word(w, frame + w->l.frame.code, code);
	if (w->l.instr == PYTHON_INSTR_POINTER)
		world_word(w, frame + w->l.frame.instr,
			   code + w->l.code.code - (!awaited && minor < 13 ? 2 : 0));
	else
		world_put(w, frame + w->l.frame.instr, awaited ? 0 : (uint64_t)-1, 4);
	world_word(w, stack, awaited);
	if (w->at.frame.stack_top)
		world_word(w, frame + w->at.frame.stack_top, stack + 8);
	if (w->at.frame.stack)
		world_word(w, frame + w->at.frame.stack, stack);
	if (w->at.frame.stack_depth)
		world_put(w, frame + w->at.frame.stack_depth, minor == 10 ? 1 : 2, 4);
	if (w->at.frame.stack_behind)
		world_word(w, frame + w->at.frame.stack_behind, stack + (minor == 14 ? 8 : 16));
	return at;
}

static inline uint64_t world_frame(const struct world *w, uint64_t coroutine)
{
	uint64_t frame;

	if (w->at.gen.iframe)
		return coroutine + w->at.gen.iframe;
	memcpy(&frame, w->made + (coroutine + w->at.gen.frame - WORLD_ADDR), sizeof(frame));
	return frame;
}

/* Lets a coroutine run the function of another one. */
static inline void world_copy_code(struct world *w, uint64_t to, uint64_t from)
{
	uint8_t *at = w->made + (world_frame(w, to) - WORLD_ADDR);
	const uint8_t *of = w->made + (world_frame(w, from) - WORLD_ADDR);

	memcpy(at + w->l.frame.code, of + w->l.frame.code, 8);
	memcpy(at + w->l.frame.instr, of + w->l.frame.instr, 8);
	memcpy(w->made + (to + w->at.gen.qualname - WORLD_ADDR),
	       w->made + (from + w->at.gen.qualname - WORLD_ADDR), 8);
}

/* The thread is in the frame of a coroutine, called by that of another one. */
static inline void world_stack(struct world *w, uint64_t inner, uint64_t outer)
{
	uint64_t frame = world_frame(w, inner), cframe;

	world_word(w, frame + w->l.frame.previous, world_frame(w, outer));
	if (w->l.thread.frame) {
		world_word(w, w->thread + w->l.thread.frame, frame);
	} else if (w->l.thread.current_frame) {
		world_word(w, w->thread + w->l.thread.current_frame, frame);
	} else {
		cframe = world_room(w, 32);
		world_word(w, w->thread + w->l.thread.cframe, cframe);
		world_word(w, cframe + w->l.cframe.current_frame, frame);
	}
}

/* What a coroutine has on its stack while it awaits a future. */
static inline uint64_t world_iter(struct world *w, uint64_t future)
{
	uint64_t at = world_object(w, "_asyncio.FutureIter", 24);

	world_field(w, at, PYTHON_FIRST_FIELD, future);
	return at;
}

static inline uint64_t world_future(struct world *w, const char *type)
{
	return world_object(w, type, 112);
}

static inline uint64_t world_task(struct world *w, uint64_t coro, uint64_t waiter, const char *name)
{
	uint64_t at = world_object(w, "_asyncio.Task", 192);

	world_field(w, at, PYTHON_FUTURE_LOOP, WORLD_ADDR + 8);
	world_word(w, at + w->at.task.coro, coro);
	world_word(w, at + w->at.task.waiter, waiter);
	if (w->at.task.name)
		world_word(w, at + w->at.task.name, world_str(w, name));
	return at;
}

/* Calls back when the future is done: for the first and one more. */
static inline void world_callback(struct world *w, uint64_t future, uint64_t callback,
				  bool is_first)
{
	uint64_t pair = callback ? world_tuple(w, 2, (uint64_t[]){ callback, 0 }) : 0;

	if (is_first)
		world_word(w, future + w->at.future.callback, callback);
	else
		world_word(w, future + w->at.future.callbacks, world_list(w, 1, &pair));
}

static inline uint64_t world_wakeup(struct world *w, uint64_t task)
{
	uint64_t at, definition, name;

	if (w->l.version < PYTHON_FIRST(3, 10)) {
		at = world_object(w, "TaskWakeupMethWrapper", 24);
		world_field(w, at, PYTHON_FIRST_FIELD, task);
		return at;
	}
	at = world_object(w, "builtin_function_or_method", 32);
	definition = world_room(w, 8);
	name = world_room(w, 12);
	memcpy(w->made + (name - WORLD_ADDR), "task_wakeup", 12);
	world_word(w, definition, name);
	world_field(w, at, 16, definition);
	world_field(w, at, PYTHON_BUILTIN_SELF, task);
	return at;
}

/* A nested function that refers to a future. */
static inline uint64_t world_function(struct world *w, const char *qualname, uint64_t future)
{
	uint64_t at = world_object(w, "function", 128), cell = world_object(w, "cell", 24);

	world_field(w, cell, PYTHON_FIRST_FIELD, future);
	world_word(w, at + w->at.function.qualname, world_str(w, qualname));
	world_word(w, at + w->at.function.closure, world_tuple(w, 1, &cell));
	return at;
}

/* The tasks, where asyncio of this version has them. */
static inline void world_tasks(struct world *w, size_t n, const uint64_t *tasks)
{
	uint64_t module, head;

	if (w->at.thread.tasks) {
		head = w->thread + w->at.thread.tasks;
		for (size_t i = 0; i <= n; i++)
			world_word(w, i ? tasks[i - 1] + w->at.task.node : head,
				   i < n ? tasks[i] + w->at.task.node : head);
		head = w->interp + w->at.interp.tasks;
		world_word(w, head, head);
		return;
	}
	/* In one of the sets that are no weak ones, to keep it short. */
	module = world_object(w, "module", 24);
	world_field(w, module, PYTHON_MODULE_DICT,
		    world_dict(w, world_str(w, "_eager_tasks"), world_set(w, n, tasks)));
	world_word(w, w->interp + w->l.interp.modules,
		   world_dict(w, world_str(w, "asyncio.tasks"), module));
}

/* Minor versions beyond the newest: the free-threaded builds. */
enum { WORLD_13T = 16, WORLD_14T, WORLD_15T };

static inline void world_init(struct world *w, unsigned int minor)
{
	static const struct mem_ops ops = { .read = world_read, .free = world_free };
	static const uint32_t *const said[] = { said_by_313,  said_by_314,  said_by_315,
						said_by_313t, said_by_314t, said_by_315t };
	static const size_t n_said[] = { N_SAID(said_by_313),  N_SAID(said_by_314),
					 N_SAID(said_by_315),  N_SAID(said_by_313t),
					 N_SAID(said_by_314t), N_SAID(said_by_315t) };
	bool is_free_threaded = minor >= WORLD_13T;
	uint32_t version = PYTHON_VERSION(3u, is_free_threaded ? minor - 3 : minor, 9u);
	uint8_t bytes[PYTHON_DEBUG_LEN];
	size_t len;
	int err;

	memset(w, 0, sizeof(*w));
	w->m.ops = &ops;
	w->bytes = w->made;
	w->next = WORLD_ADDR;
	if (minor < 13) {
		err = python_layout_of_version(version, false, &w->l);
	} else {
		len = debug_offsets(bytes, version, is_free_threaded, said[minor - 13],
				    n_said[minor - 13]);
		err = python_layout_parse(bytes, len, &w->l);
	}
	assert(!err && !python_heap_layout_of(&w->l, &w->at));
	world_room(w, w->l.runtime.interpreters_head + 16);
	w->types = world_room(w, 32 * N_WORLD_TYPES + 288);
	w->interp =
		world_room(w, w->at.interp.tasks > w->l.interp.modules ? w->at.interp.tasks + 32
								       : w->l.interp.modules + 512);
	w->thread = world_room(w, w->at.thread.tasks ? w->at.thread.tasks + 32 : 384);
	world_word(w, WORLD_ADDR + w->l.runtime.interpreters_head, w->interp);
	world_word(w, w->interp + w->l.interp.threads_head, w->thread);
	world_word(w, w->thread + w->l.thread.interp, w->interp);
	(void)err;
}

/* Two tasks: main awaits child, which awaits a future in sleep(). */
static inline void world_pair(struct world *w, unsigned int minor, uint64_t tasks[2])
{
	uint64_t future, child, inner;

	world_init(w, minor);
	future = world_future(w, "_asyncio.Future");
	inner = world_coroutine(w, "sleep", world_iter(w, future));
	child = world_task(w, world_coroutine(w, "child", inner), future, "Task-2");
	tasks[0] = world_task(w, world_coroutine(w, "main", world_iter(w, child)), child, "Task-1");
	tasks[1] = child;
	world_callback(w, future, world_wakeup(w, child), true);
	world_callback(w, child, world_wakeup(w, tasks[0]), true);
	if (w->at.future.awaited_by)
		world_word(w, child + w->at.future.awaited_by, tasks[0]);
	world_tasks(w, 2, tasks);
}

/* Memory in which a byte is another one whenever it is looked at. */
static inline int world_moving_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	struct world *w = (struct world *)m;

	w->made[w->moving - WORLD_ADDR]++;
	return world_read(m, addr, buf, len);
}

static const struct mem_ops world_moving_ops
	__attribute__((unused)) = { .read = world_moving_read, .free = world_free };

#endif
