// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_asyncio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem_cache.h"
#include "core/scoped.h"
#include "runtimes/python_dict.h"
#include "runtimes/python_str.h"

#define DICT_USED 16
#define MAX_INTERPS 8 /* asked for asyncio; the main one is the last in the list */
/* Between two questions, which cost some 10 us each: the longer nothing was imported the more. A
   search reads of every module, so it may take a twentieth of the time. */
#define MIN_PAUSE_NS (20 * UINT64_C(1000000))
#define MAX_PAUSE_NS (160 * UINT64_C(1000000))
#define SEARCH_SHARE 20
#define MAX_SEARCH_READS (1u << 18)
#define CACHE_BYTES (4u << 20)
#define CACHE_PAGES 4096

SCOPED_DEFINE(struct mem, mem_free)

static bool know(struct python_asyncio *a, const struct python_layout *l)
{
	if (!a->is_known)
		a->is_known = !python_heap_layout_of(l, &a->at);
	return a->is_known;
}

static bool has_dict(const struct python_layout *l)
{
	return l->version >= PYTHON_FIRST(3, 7) && l->version < PYTHON_FIRST(3, 14);
}

void python_asyncio_learn(struct python_asyncio *a, const struct python_layout *l,
			  const void *section, size_t len)
{
	if (know(a, l) && a->at.thread.running_task)
		a->is_in_thread = !python_heap_layout_learn(&a->at, section, len);
}

bool python_asyncio_is_due(const struct python_asyncio *a, const struct python_layout *l,
			   uint64_t now_ns)
{
	return has_dict(l) && !l->is_free_threaded && now_ns >= a->next_look_ns;
}

/* A number that changes whenever an interpreter's modules do. */
static uint64_t modules_of(struct python_heap *h, uint64_t interp)
{
	uint64_t sum = 0;

	for (int i = 0; interp && i < MAX_INTERPS; i++) {
		uint64_t modules = python_word(h, interp + h->layout->interp.modules);
		uint64_t n = modules ? python_word(h, modules + DICT_USED) : 0;

		sum = (sum ^ modules ^ n << 48) * UINT64_C(0x9e3779b97f4a7c15);
		interp = python_word(h, interp + h->layout->interp.next);
	}
	return sum;
}

/* The dict that the C half uses, of the module itself: asyncio.tasks has another one until it has
   taken this one over. */
static void search(struct python_asyncio *a, struct python_heap *h, uint64_t interp)
{
	uint64_t tasks = 0;

	a->is_half_imported = false;
	for (int i = 0; interp && i < MAX_INTERPS && !tasks; i++) {
		uint64_t modules = python_word(h, interp + h->layout->interp.modules);
		uint64_t module = modules ? python_module_dict(h, modules, "_asyncio") : 0;

		tasks = module ? python_dict_get(h, module, "_current_tasks") : 0;
		a->is_half_imported |= module && !tasks;
		interp = python_word(h, interp + h->layout->interp.next);
	}
	a->current_tasks = python_kind(h, tasks) == PYTHON_DICT ? tasks : 0;
}

static uint64_t longer(uint64_t pause_ns)
{
	if (pause_ns < MIN_PAUSE_NS)
		return MIN_PAUSE_NS;
	return pause_ns < MAX_PAUSE_NS / 2 ? pause_ns * 2 : MAX_PAUSE_NS;
}

bool python_asyncio_look(struct python_asyncio *a, struct mem *m, const struct python_layout *l,
			 uint64_t runtime, uint64_t now_ns)
{
	SCOPED(mem_free) struct mem *cache = NULL;
	uint64_t before = a->current_tasks, interp, modules;
	struct python_heap h;

	a->pause_ns = longer(a->pause_ns);
	a->next_look_ns = now_ns + a->pause_ns;
	if (!know(a, l))
		return false;
	cache = mem_cache_new(m, CACHE_BYTES, CACHE_PAGES);
	if (!cache || python_heap_init(&h, cache, l) < 0)
		return false;
	h.n_left = MAX_SEARCH_READS;
	interp = python_word(&h, runtime + l->runtime.interpreters_head);
	modules = modules_of(&h, interp);
	if (modules != a->modules || a->is_half_imported) {
		uint64_t start = clock_ns(CLOCK_MONOTONIC), took;

		a->modules = modules;
		search(a, &h, interp);
		took = clock_ns(CLOCK_MONOTONIC) - start;
		a->pause_ns = MIN_PAUSE_NS;
		if (a->pause_ns < took * SEARCH_SHARE)
			a->pause_ns = took * SEARCH_SHARE;
		a->next_look_ns = now_ns + a->pause_ns;
	}
	python_heap_deinit(&h);
	return a->current_tasks != before;
}

void python_asyncio_set(const struct python_asyncio *a, struct python_process *out)
{
	const struct python_heap_layout *at = &a->at;

	if (!a->is_known || !(a->is_in_thread || a->current_tasks))
		return;
	out->has_tasks = 1;
	out->current_tasks = a->current_tasks;
	out->tstate_task = a->is_in_thread ? at->thread.running_task : 0;
	out->task_coro = at->task.coro;
	out->task_name = at->task.name;
	out->gen_qualname = at->gen.qualname;
	out->frame_gen = at->frame.gen;
	out->gen_frame = at->gen.iframe;
	out->keys_entries = at->keys.indices;
	out->keys_count = at->keys.n_entries;
	out->has_log2_keys = at->gen.iframe != 0; /* both came with 3.11 */
}

/* The copied name as target memory. */
struct copied_name {
	struct mem mem;
	uint64_t addr;
	size_t len;
	uint8_t bytes[WIRE_TASK_NAME_MAX];
};

static int name_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	const struct copied_name *name = (const struct copied_name *)m;
	uint64_t at = addr - name->addr;

	if (at > name->len || len > name->len - at)
		return -EFAULT;
	memcpy(buf, name->bytes + at, len);
	return 0;
}

static void name_free(struct mem *m)
{
	(void)m;
}

/* Makes a str that is longer than its copy as long as that. True: it was. */
static bool shorten(struct copied_name *name, struct python_heap *h)
{
	const struct python_layout *l = h->layout;
	uint32_t state = python_int(h, name->addr + l->str.state) >> l->str.kind_bit;
	size_t header = state & 16 ? l->str.ascii_header : l->str.compact_header;
	uint64_t n = python_word(h, name->addr + l->str.length), most;

	if (!(state & 7) || name->len < header)
		return false;
	most = (name->len - header) / (state & 7);
	if (n <= most)
		return false;
	memcpy(name->bytes + l->str.length, &most, sizeof(most));
	return true;
}

static bool str_label(struct copied_name *name, struct python_heap *h, char *out)
{
	SCOPED(free) char *text = NULL;
	bool is_cut = shorten(name, h);
	size_t len;

	if (python_str_read(h->mem, h->layout, name->addr, WIRE_TASK_NAME_MAX, &text, &len) < 0)
		return false;
	/* A label is a text: it ends where there is a NUL in the name. */
	snprintf(out, PYTHON_TASK_LABEL_MAX, "%s%s", text, is_cut ? "…" : "");
	return *out;
}

bool python_task_label(const struct wire_python_task *task, const struct python_layout *l,
		       const struct python_name_types *types, char out[PYTHON_TASK_LABEL_MAX])
{
	static const struct mem_ops ops = { name_read, name_free };
	struct copied_name name = { .mem = { &ops }, .addr = task->addr, .len = task->len };
	struct python_heap h = { .mem = &name.mem, .layout = l, .n_left = WIRE_TASK_NAME_MAX };
	uint64_t type, number;

	if (name.len > sizeof(name.bytes) || l->str.length > sizeof(name.bytes) - 8)
		return false;
	memcpy(name.bytes, task->name, name.len);
	type = python_word(&h, name.addr + l->object.type);
	if (type && type == types->str)
		return str_label(&name, &h, out);
	if (!type || type != types->integer || !python_int_value(&h, name.addr, &number))
		return false;
	snprintf(out, PYTHON_TASK_LABEL_MAX, "Task-%" PRIu64, number);
	return true;
}
