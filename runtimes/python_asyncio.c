// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_asyncio.h"

#include "runtimes/python_code_names.h"
#include "runtimes/python_dict.h"

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

static bool has_tasks(const struct python_asyncio *a)
{
	return a->is_in_thread || a->current_tasks;
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
	return (has_dict(l) && python_look_is_due(&a->look, now_ns)) ||
	       (has_tasks(a) && python_pools_is_due(&a->pools, l, now_ns));
}

/* The name of the attribute in which groups have their task. Free-threaded builds have attributes
   where the kernel half does not know. */
static void search_parent_key(struct python_asyncio *a, struct python_heap *h, uint64_t modules,
			      bool *is_half)
{
	const struct python_layout *l = h->layout;
	uint64_t code;

	if (a->parent_key || l->is_free_threaded || l->version < PYTHON_FIRST(3, 11))
		return;
	code = python_method_code(h, modules, "asyncio.taskgroups", "TaskGroup", "_on_task_done");
	if (code)
		a->parent_key = python_code_name(h, code, "_parent_task");
	*is_half |= !a->parent_key && python_module_dict(h, modules, "asyncio.taskgroups");
}

/* The dict that the C half uses, of the module itself: asyncio.tasks has another one until it has
   taken this one over. */
static bool search(void *ctx, struct python_heap *h, uint64_t modules, bool *is_half)
{
	struct python_asyncio *a = ctx;
	uint64_t module = python_module_dict(h, modules, "_asyncio");
	uint64_t tasks = module ? python_dict_get(h, module, "_current_tasks") : 0;

	if (!h->n_left)
		return false; /* that was not all: what was known stays */
	*is_half |= module && !tasks;
	a->current_tasks = python_kind(h, tasks) == PYTHON_DICT ? tasks : 0;
	if (tasks)
		search_parent_key(a, h, modules, is_half);
	return !tasks;
}

bool python_asyncio_look(struct python_asyncio *a, struct python_part *part, struct mem *m,
			 const struct python_layout *l, uint64_t runtime, uint64_t now_ns)
{
	uint64_t tasks = a->current_tasks, parent_key = a->parent_key;
	bool is_new = false;

	if (!know(a, l))
		return false;
	if (has_dict(l))
		python_look(&a->look, part, m, l, runtime, now_ns, search, a);
	if (has_tasks(a) && python_pools_is_due(&a->pools, l, now_ns))
		is_new = python_pools_look(&a->pools, part, m, l, runtime, now_ns);
	return is_new || a->current_tasks != tasks || a->parent_key != parent_key;
}

void python_asyncio_set(const struct python_asyncio *a, struct python_process *out)
{
	const struct python_heap_layout *at = &a->at;

	if (!a->is_known || !has_tasks(a))
		return;
	out->workers = a->pools.at;
	out->has_tasks = 1;
	out->current_tasks = a->current_tasks;
	out->tstate_task = a->is_in_thread ? at->thread.running_task : 0;
	out->tstate_loop = a->is_in_thread ? 0 : at->thread.running_loop;
	out->tstate_dict = at->thread.dict;
	out->task_coro = at->task.coro;
	out->task_name = at->task.name;
	out->task_callbacks = at->future.callback;
	out->gen_qualname = at->gen.qualname;
	out->frame_gen = at->frame.gen;
	out->gen_frame = at->gen.iframe;
	out->dict_keys = PYTHON_DICT_KEYS + at->head;
	out->keys_entries = at->keys.indices;
	out->keys_count = at->keys.n_entries;
	out->has_log2_keys = at->gen.iframe != 0; /* both came with 3.11 */
}

/* What a suspended frame has on top of its stack. */
static void set_stack(const struct python_heap_layout *at, const struct python_layout *l,
		      struct python_awaits *out)
{
	out->gen_frame = at->gen.frame;
	if (at->frame.stack_top) {
		out->stack_end = at->frame.stack_top;
		out->stack_back = 8;
	} else if (at->frame.stack_behind) {
		out->stack_end = at->frame.stack_behind;
		/* 3.15 keeps a NULL above it. */
		out->stack_back = PYTHON_MINOR(l->version) == 14 ? 8 : 16;
	} else {
		out->stack_depth = at->frame.stack_depth;
		out->stack_pointer = at->frame.stack;
		out->stack_values = l->frame.localsplus;
	}
}

void python_asyncio_set_awaits(const struct python_asyncio *a, const struct python_layout *l,
			       struct python_awaits *out)
{
	const struct python_heap_layout *at = &a->at;

	if (!a->is_known)
		return;
	*out = (struct python_awaits){
		.parent_key = a->parent_key,
		.head = at->head,
		.object_type = l->object.type,
		.type_name = l->type.name,
		.str_length = l->str.length,
		.str_text = l->str.ascii_header,
		.tuple_size = l->tuple.size,
		.tuple_items = l->tuple.items,
		.function_closure = at->function.closure,
		.function_qualname = at->function.qualname,
		.callbacks = at->future.callback,
		.state = at->future.state,
		.awaited_by = at->future.awaited_by,
		.awaited_by_is_set = at->future.awaited_by_is_set,
	};
	set_stack(at, l, out);
}

void python_asyncio_note(struct python_asyncio *a, const struct python_layout *l,
			 uint64_t parent_key)
{
	/* The kernel half does not know how attributes of free-threaded builds lie. */
	if (!parent_key || parent_key == a->parent_key || l->is_free_threaded)
		return;
	a->parent_key = parent_key;
	a->is_parent_key_new = true;
}
