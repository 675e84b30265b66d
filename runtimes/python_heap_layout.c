// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_heap_layout.h"

#include <errno.h>
#include <string.h>

#include "core/reader.h"

#define OLDEST 7 /* minor version */
#define N_TABLES 9
#define GIL_BUILD_TYPE 8 /* of an object, in builds with a GIL */
#define AT(field) offsetof(struct python_heap_layout, field)

struct row {
	uint16_t to, value[N_TABLES];
};

/* x86-64; nothing here depends on the C library, so aarch64 is the same but for the interpreter's
   list, which 3.14 and later say themselves. */
static const struct row rows[] = {
	/*                          3.7  3.8  3.9 3.10 3.11 3.12 3.13 3.14 3.15 */
	{ AT(keys.size), { 8, 8, 8, 8, 8, 8, 8, 8, 8 } },
	{ AT(keys.n_entries), { 32, 32, 32, 32, 24, 24, 24, 24, 24 } },
	{ AT(keys.indices), { 40, 40, 40, 40, 32, 32, 32, 32, 32 } },
	{ AT(keys.values), { 0, 0, 0, 0, 0, 0, 8, 8, 8 } },
	{ AT(frame.stack_top), { 72, 72, 72, 0, 0, 0, 0, 0, 0 } },
	{ AT(frame.stack), { 0, 0, 0, 64, 0, 0, 0, 0, 0 } },
	{ AT(frame.stack_depth), { 0, 0, 0, 80, 64, 64, 64, 0, 0 } },
	{ AT(frame.stack_behind), { 0, 0, 0, 0, 0, 0, 0, 64, 64 } },
	{ AT(frame.state), { 0, 0, 0, 108, 0, 0, 0, 0, 0 } },
	{ AT(frame.gen), { 96, 96, 96, 88, 0, 0, 0, 0, 0 } },
	{ AT(thread.dict), { 152, 152, 152, 152, 128, 112, 0, 0, 0 } },
	{ AT(thread.running_loop), { 0, 0, 0, 0, 0, 0, 0, 864, 1024 } },
	{ AT(thread.running_task), { 0, 0, 0, 0, 0, 0, 0, 872, 1032 } },
	{ AT(thread.tasks), { 0, 0, 0, 0, 0, 0, 0, 880, 1048 } },
	{ AT(interp.tasks), { 0, 0, 0, 0, 0, 0, 0, 10880, 10856 } },
};

/* Of objects: further back where these have a longer head. */
static const struct row object_rows[] = {
	{ AT(type.cached_keys), { 856, 872, 864, 872, 872, 880, 880, 880, 888 } },
	{ AT(function.closure), { 48, 48, 48, 72, 72, 72, 72, 72, 72 } },
	{ AT(function.qualname), { 104, 104, 104, 40, 40, 40, 40, 40, 40 } },
	{ AT(gen.frame), { 16, 16, 16, 16, 0, 0, 0, 0, 0 } },
	{ AT(gen.iframe), { 0, 0, 0, 0, 80, 72, 72, 72, 72 } },
	{ AT(gen.qualname), { 56, 56, 56, 48, 40, 32, 32, 32, 32 } },
	{ AT(gen.state), { 0, 0, 0, 0, 75, 67, 67, 67, 67 } },
	{ AT(future.callback), { 24, 24, 24, 24, 24, 24, 24, 24, 24 } },
	{ AT(future.callbacks), { 40, 40, 40, 40, 40, 40, 40, 40, 40 } },
	{ AT(future.awaited_by), { 0, 0, 0, 0, 0, 0, 0, 96, 96 } },
	{ AT(future.awaited_by_is_set), { 0, 0, 0, 0, 0, 0, 0, 109, 109 } },
	{ AT(future.state), { 72, 72, 80, 88, 88, 88, 96, 104, 104 } },
	{ AT(task.waiter), { 104, 104, 144, 152, 128, 128, 112, 120, 120 } },
	{ AT(task.coro), { 112, 112, 152, 160, 136, 136, 120, 128, 128 } },
	{ AT(task.name), { 0, 120, 160, 168, 144, 144, 128, 136, 136 } },
	{ AT(task.node), { 0, 0, 0, 0, 0, 0, 0, 152, 152 } },
	{ AT(task.context), { 120, 128, 168, 176, 152, 152, 136, 144, 144 } },
};

static uint16_t *field(struct python_heap_layout *l, size_t at)
{
	return (uint16_t *)((char *)l + at);
}

int python_heap_layout_of(const struct python_layout *l, struct python_heap_layout *out)
{
	unsigned int minor = PYTHON_MINOR(l->version);

	if (l->version >> 24 != 3 || minor < OLDEST || minor >= OLDEST + N_TABLES)
		return -ENOTSUP;
	*out = (struct python_heap_layout){ .head = l->object.type - GIL_BUILD_TYPE };
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		*field(out, rows[i].to) = rows[i].value[minor - OLDEST];
	for (size_t i = 0; i < sizeof(object_rows) / sizeof(*object_rows); i++) {
		uint16_t value = object_rows[i].value[minor - OLDEST];

		*field(out, object_rows[i].to) = value ? value + out->head : 0;
	}
	if (minor == 13) /* right behind what the interpreter says the size of */
		out->thread.running_loop = l->thread.size;
	/* A collector's head of two words is between, where there is one. */
	out->object.managed_dict = l->is_free_threaded ? 8 : 24;
	if (l->is_free_threaded && out->interp.tasks)
		out->interp.tasks = minor == 14 ? 17304 : 17256;
	return 0;
}

/* Struct _Py_AsyncioModuleDebugOffsets: three groups of 64-bit words, each with the size of what it
   describes first. */
int python_heap_layout_learn(struct python_heap_layout *l, const void *section, size_t len)
{
	static const struct {
		uint16_t to, width;
	} words[] = {
		{ 0, 0 }, /* TaskObj */
		{ AT(task.name), 8 },
		{ AT(future.awaited_by), 8 },
		{ 0, 1 }, /* is_task */
		{ AT(future.awaited_by_is_set), 1 },
		{ AT(task.coro), 8 },
		{ AT(task.node), 16 },
		{ 0, 0 }, /* PyInterpreterState */
		{ AT(interp.tasks), 16 },
		{ 0, 0 }, /* _PyThreadStateImpl */
		{ AT(thread.running_loop), 8 },
		{ AT(thread.running_task), 8 },
		{ AT(thread.tasks), 16 },
	};
	struct python_heap_layout said = *l;
	uint64_t size = 0;
	struct reader r;

	reader_init(&r, section, len);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint64_t value = reader_u64(&r, "offset");

		if (!words[i].width) {
			size = value;
			continue;
		}
		if (value < 16 || value > UINT16_MAX || value > size ||
		    words[i].width > size - value)
			return -EBADMSG;
		if (words[i].to)
			*field(&said, words[i].to) = (uint16_t)value;
	}
	if (reader_error(&r))
		return reader_error(&r);
	*l = said;
	return 0;
}
