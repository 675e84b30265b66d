// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/reader.h"

#define MAX_NAME 64 /* bytes of a type's name that matter */
#define MAX_BASES 16
#define MAX_TYPES (1u << 16) /* whose kinds are kept; further ones are looked at every time */
#define MAX_STR 256
/* tp_flags, where it is and of it: the type is made by PyType_Ready(); it is an object itself that
   can be freed. The same from 3.6 to 3.15. */
#define PYTHON_TYPE_FLAGS 168
#define HEAP_TYPE_FLAG (UINT64_C(1) << 9)
#define READY_FLAG (UINT64_C(1) << 12)

static const struct {
	const char *name;
	enum python_kind kind;
} names[] = {
	{ "_asyncio.Task", PYTHON_TASK },
	{ "_asyncio.Future", PYTHON_FUTURE },
	{ "_asyncio.FutureIter", PYTHON_FUTURE_ITER },
	{ "coroutine", PYTHON_COROUTINE },
	{ "generator", PYTHON_GENERATOR },
	{ "async_generator", PYTHON_ASYNC_GENERATOR },
	{ "async_generator_asend", PYTHON_AWAIT_WRAPPER },
	{ "async_generator_athrow", PYTHON_AWAIT_WRAPPER },
	{ "coroutine_wrapper", PYTHON_AWAIT_WRAPPER },
	{ "anext_awaitable", PYTHON_AWAIT_WRAPPER },
	{ "function", PYTHON_FUNCTION },
	{ "method", PYTHON_METHOD },
	{ "builtin_function_or_method", PYTHON_BUILTIN },
	{ "functools.partial", PYTHON_PARTIAL },
	{ "TaskWakeupMethWrapper", PYTHON_WAKEUP },
	{ "_asyncio.TaskWakeupMethWrapper", PYTHON_WAKEUP },
	{ "tuple", PYTHON_TUPLE },
	{ "list", PYTHON_LIST },
	{ "dict", PYTHON_DICT },
	{ "set", PYTHON_SET },
	{ "str", PYTHON_STR },
	{ "int", PYTHON_INT },
	{ "cell", PYTHON_CELL },
	{ "module", PYTHON_MODULE },
	{ "code", PYTHON_CODE },
	{ "weakref", PYTHON_WEAKREF },
	{ "weakref.ReferenceType", PYTHON_WEAKREF },
	{ "float", PYTHON_FLOAT },
	{ "TimerHandle", PYTHON_TIMER_HANDLE },
	{ "uvloop.loop.TimerHandle", PYTHON_TIMER_HANDLE },
};

int python_heap_init(struct python_heap *h, struct mem *mem, const struct python_layout *layout)
{
	struct python_heap heap = { .mem = mem, .layout = layout, .n_left = PYTHON_MAX_READS };
	int err = python_heap_layout_of(layout, &heap.at);

	if (err < 0)
		return err;
	heap.types = intern_new();
	if (!heap.types)
		return -ENOMEM;
	*h = heap;
	return 0;
}

void python_heap_deinit(struct python_heap *h)
{
	intern_free(h->types);
	free(h->kinds);
	*h = (struct python_heap){ 0 };
}

static bool read_some(struct python_heap *h, uint64_t addr, void *out, size_t len)
{
	int err;

	if (!h->n_left)
		return false;
	h->n_left--;
	h->n_reads++;
	err = mem_read(h->mem, addr, out, len);
	/* The target went away, keeps us waiting, or that was enough: not that there is nothing. */
	if (err && err != -EFAULT)
		h->n_left = 0;
	return !err;
}

uint64_t python_word(struct python_heap *h, uint64_t addr)
{
	uint8_t bytes[8];
	struct reader r;

	if (!read_some(h, addr, bytes, sizeof(bytes)))
		return 0;
	reader_init(&r, bytes, sizeof(bytes));
	return reader_u64(&r, "word");
}

uint32_t python_int(struct python_heap *h, uint64_t addr)
{
	uint8_t bytes[4];
	struct reader r;

	if (!read_some(h, addr, bytes, sizeof(bytes)))
		return 0;
	reader_init(&r, bytes, sizeof(bytes));
	return reader_u32(&r, "int");
}

uint8_t python_byte(struct python_heap *h, uint64_t addr)
{
	uint8_t byte;

	return read_some(h, addr, &byte, 1) ? byte : 0;
}

/* Free-threaded builds count what the thread that made it has apart from what others have, whose
   count is above two bits of flags. */
bool python_is_referenced(struct python_heap *h, uint64_t object)
{
	uint64_t behind = object + h->layout->object.type;

	if (!h->layout->is_free_threaded)
		return python_int(h, behind - 8) != 0;
	return python_int(h, behind - 12) || (int64_t)python_word(h, behind - 8) >> 2 > 0;
}

/* A C string, cut at the end of out or where it cannot be read any more. */
static void read_name(struct python_heap *h, uint64_t addr, char *out, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && (out[n] = (char)python_byte(h, addr + n)))
		n++;
	out[n] = 0;
}

const char *python_type_name(struct python_heap *h, uint64_t object, char *out, size_t size)
{
	uint64_t type = python_word(h, object + h->layout->object.type);
	uint64_t name = type ? python_word(h, type + h->layout->type.name) : 0;

	*out = 0;
	if (name)
		read_name(h, name, out, size);
	return out;
}

static enum python_kind kind_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].kind;
	return PYTHON_OTHER;
}

/* asyncio's own classes of Python have plain names: a Task that derives from a Future from object.
   The class of gather() is of Python always, and derives from whichever Future there is. */
static enum python_kind kind_of_pair(const char *first, const char *second)
{
	if (!strcmp(first, "_GatheringFuture"))
		return strcmp(second, "Future") ? PYTHON_GATHERING_FUTURE
						: PYTHON_PURE_GATHERING_FUTURE;
	if (!strcmp(first, "Future") && !strcmp(second, "object"))
		return PYTHON_PURE_FUTURE;
	if (!strcmp(first, "Task") && !strcmp(second, "Future"))
		return PYTHON_PURE_TASK;
	return PYTHON_OTHER;
}

static enum python_kind kind_of_type(struct python_heap *h, uint64_t type)
{
	char name[MAX_NAME], below[MAX_NAME] = "";

	for (int i = 0; type && i < MAX_BASES; i++) {
		enum python_kind kind;

		read_name(h, python_word(h, type + h->layout->type.name), name, sizeof(name));
		kind = kind_of_pair(below, name);
		if (kind == PYTHON_OTHER)
			kind = kind_of_name(name);
		if (kind != PYTHON_OTHER)
			return kind;
		memcpy(below, name, sizeof(below));
		type = python_field(h, type, PYTHON_TYPE_BASE);
	}
	return PYTHON_OTHER;
}

static void note_kind(struct python_heap *h, uint64_t type, enum python_kind kind)
{
	uint32_t id, n = intern_count(h->types);

	if (n >= MAX_TYPES)
		return;
	if (n + 2 > h->cap_kinds) {
		size_t cap = h->cap_kinds ? h->cap_kinds * 2 : 64;
		uint8_t *kinds = realloc(h->kinds, cap);

		if (!kinds)
			return;
		h->kinds = kinds;
		h->cap_kinds = cap;
	}
	id = intern_add(h->types, &type, sizeof(type));
	if (id)
		h->kinds[id] = (uint8_t)kind;
}

enum python_kind python_kind(struct python_heap *h, uint64_t object)
{
	uint64_t type = object ? python_word(h, object + h->layout->object.type) : 0;
	enum python_kind kind;
	uint32_t id;

	if (!type)
		return PYTHON_OTHER;
	id = intern_find(h->types, &type, sizeof(type));
	if (id)
		return h->kinds[id];
	kind = kind_of_type(h, type);
	note_kind(h, type, kind);
	return kind;
}

void python_heap_recall(struct python_heap *h, const struct python_heap_memory *known)
{
	for (size_t i = 0; i < known->n_types; i++)
		note_kind(h, known->types[i], (enum python_kind)known->kinds[i]);
	h->slot = known->slot;
	memcpy(h->keys, known->keys, sizeof(h->keys));
	h->next_key = known->next_key;
}

static bool is_known(const struct python_heap_memory *known, uint64_t type)
{
	for (size_t i = 0; i < known->n_types; i++)
		if (known->types[i] == type)
			return true;
	return false;
}

/* What no kind is known of may be anything, made of what is no type at all. */
void python_heap_remember(struct python_heap *h, struct python_heap_memory *known)
{
	known->slot = h->slot;
	memcpy(known->keys, h->keys, sizeof(known->keys));
	known->next_key = h->next_key;
	for (uint32_t id = 1; id <= intern_count(h->types); id++) {
		uint64_t type, flags;

		memcpy(&type, intern_get(h->types, id, NULL), sizeof(type));
		if (known->n_types == PYTHON_MAX_STATIC_TYPES || h->kinds[id] == PYTHON_OTHER ||
		    is_known(known, type))
			continue;
		flags = python_word(h, type + PYTHON_TYPE_FLAGS);
		if (!(flags & READY_FLAG) || flags & HEAP_TYPE_FLAG)
			continue;
		known->types[known->n_types] = type;
		known->kinds[known->n_types++] = h->kinds[id];
	}
}

/* The characters of a compact ASCII str; NULL: another form, or longer than out. */
static const char *ascii(struct python_heap *h, uint64_t str, char *out, size_t *len)
{
	const struct python_layout *l = h->layout;
	uint32_t state = python_int(h, str + l->str.state) >> l->str.kind_bit;

	*len = python_word(h, str + l->str.length);
	if ((state & 31) != (1 | 8 | 16) || *len > MAX_STR ||
	    !read_some(h, str + l->str.ascii_header, out, *len))
		return NULL;
	return out;
}

bool python_str_is(struct python_heap *h, uint64_t str, const char *text)
{
	char buf[MAX_STR];
	size_t len = strlen(text), n;

	if (!str || python_word(h, str + h->layout->str.length) != len)
		return false;
	return ascii(h, str, buf, &n) && n == len && !memcmp(buf, text, len);
}

bool python_str_ends(struct python_heap *h, uint64_t str, const char *text)
{
	char buf[MAX_STR];
	size_t len = strlen(text), n;

	return str && ascii(h, str, buf, &n) && n >= len && !memcmp(buf + n - len, text, len);
}

bool python_int_value(struct python_heap *h, uint64_t object, uint64_t *out)
{
	const struct python_layout *l = h->layout;
	uint64_t tag = python_word(h, object + l->integer.tag), n = tag, value = 0;

	if (l->version >= PYTHON_FIRST(3, 12)) {
		if ((tag & 3) == 2)
			return false;
		n = tag >> 3;
	}
	if (n > 3) /* negative ones of 3.11 and before too */
		return false;
	for (uint64_t i = n; i > 0; i--) {
		uint32_t digit = python_int(h, object + l->integer.digits + 4 * (i - 1));

		if (digit >> 30 || value >> 34)
			return false;
		value = value << 30 | digit;
	}
	*out = value;
	return true;
}

size_t python_items(struct python_heap *h, uint64_t object, enum python_kind kind)
{
	uint64_t n = 0;

	if (kind == PYTHON_LIST)
		n = python_field(h, object, PYTHON_LIST_SIZE);
	if (kind == PYTHON_TUPLE)
		n = python_word(h, object + h->layout->tuple.size);
	return n < PYTHON_MAX_ITEMS ? n : PYTHON_MAX_ITEMS;
}

uint64_t python_item(struct python_heap *h, uint64_t object, enum python_kind kind, size_t i)
{
	uint64_t items = object + h->layout->tuple.items;

	if (kind == PYTHON_LIST)
		items = python_field(h, object, PYTHON_LIST_ITEMS);
	return items ? python_word(h, items + 8 * i) : 0;
}
