// SPDX-License-Identifier: Apache-2.0
/* The task of a sample from both halves: what the kernel half is told, what it finds in memory made
   here, and what its copy of the name says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "runtimes/python_asyncio.h"
#include "runtimes/python_label.h"
#include "tests/unit/python_part.h"
#include "tests/unit/python_world.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define OLDEST 7
#define NEWEST WORLD_15T
#define SECOND UINT64_C(1000000000)
#define LOOP (WORLD_ADDR + 8)

static struct world world;  /* made anew by every test */
static uint64_t state_slot; /* where the thread finds its state */

static int read_user(__u64 addr, void *buf, __u32 len)
{
	return world_read(&world.m, addr, buf, len);
}

#include "tests/unit/python_pages.h"
#include "unwinders/python_task.bpf.h"

static struct python_process walk_of(const struct world *w)
{
	return (struct python_process){
		.attached = { state_slot - WORLD_ADDR, PYTHON_SLOT_STATIC, 0 },
		.tstate_len = 192,
		.tstate_frame = w->l.thread.frame ? w->l.thread.frame : w->l.thread.current_frame,
		.tstate_cframe = w->l.thread.cframe,
		.cframe_frame = w->l.cframe.current_frame,
		.cframe_previous = w->l.cframe.previous,
		.frame_len = w->l.frame.size,
		.frame_code = w->l.frame.code,
		.frame_previous = w->l.frame.previous,
		.frame_instr = w->l.frame.instr,
		.frame_owner = w->l.frame.owner,
		.code_id = w->l.code.id_off,
		.code_id_len = w->l.code.id_len,
	};
}

/* {loop: task, ...}; 0: a place that is free again. */
static uint64_t current_tasks(struct world *w, size_t n, const uint64_t *tasks)
{
	uint64_t loops[2 * MAX_CURRENT_ENTRIES] = { 0 };

	assert_true(n <= sizeof(loops) / sizeof(*loops));
	for (size_t i = 0; i < n; i++)
		loops[i] = tasks[i] ? LOOP : 0;
	return world_table(w, n, loops, tasks);
}

/* sys.modules with one module, of one variable. */
static void import(struct world *w, const char *name, const char *variable, uint64_t value)
{
	uint64_t module = world_object(w, "module", 24), modules;

	world_field(w, module, PYTHON_MODULE_DICT, world_dict(w, world_str(w, variable), value));
	modules = world_dict(w, world_str(w, name), module);
	world_field(w, modules, 16, 1);
	world_word(w, w->interp + w->l.interp.modules, modules);
}

/* A thread in child(), which a coroutine awaits; that one's address. */
static uint64_t make_thread(struct world *w, unsigned int minor)
{
	uint64_t inner, outer;

	world_init(w, minor);
	state_slot = world_room(w, 8);
	world_word(w, state_slot, w->thread);
	inner = world_coroutine(w, "child", 0);
	outer = world_coroutine(w, "parent", inner);
	if (w->l.frame.owner) {
		world_put(w, world_frame(w, inner) + w->l.frame.owner, PYTHON_WALK_GENERATOR, 1);
		world_put(w, world_frame(w, outer) + w->l.frame.owner, PYTHON_WALK_GENERATOR, 1);
	} else {
		world_word(w, world_frame(w, inner) + w->at.frame.gen, inner);
		world_word(w, world_frame(w, outer) + w->at.frame.gen, outer);
	}
	world_stack(w, inner, outer);
	return outer;
}

/* What asyncio says of itself, with the offsets of the tables. */
static void learn(const struct world *w, struct python_asyncio *a)
{
	const uint64_t said[13] = {
		168u + w->at.head,
		w->at.task.name,
		w->at.future.awaited_by,
		108,
		w->at.future.awaited_by_is_set,
		w->at.task.coro,
		w->at.task.node,
		60000,
		w->at.interp.tasks,
		2000,
		w->at.thread.running_loop,
		w->at.thread.running_task,
		w->at.thread.tasks,
	};

	python_asyncio_learn(a, &w->l, said, sizeof(said));
}

/* The tasks that loops execute, where this version has them. */
static void execute(struct world *w, struct python_asyncio *a, size_t n, const uint64_t *tasks)
{
	if (w->at.thread.running_task) {
		world_word(w, w->thread + w->at.thread.running_task, tasks[n - 1]);
		learn(w, a);
		return;
	}
	import(w, "_asyncio", "_current_tasks", current_tasks(w, n, tasks));
	python_asyncio_look(a, fresh_part(), &w->m, &w->l, WORLD_ADDR, 0);
}

/* As the kernel half walks. The address of the task's name; 0: there is no task. */
static uint64_t find_name(const struct python_process *p)
{
	static struct python_dict_entry entries[MAX_CURRENT_ENTRIES];
	static struct python_tasks t;
	struct python_walk walk = { 0 };
	struct python_reads reads = { .sample = 1 };
	struct wire_python_frame out;

	memset(&t, 0, sizeof(t));
	if (!p->has_tasks || !python_begin(&walk, p, &reads, WORLD_ADDR))
		return 0;
	python_tasks_begin(&t, p, walk.tstate, reads.frame, entries);
	for (int i = 0; i < 16 && python_is_more(&walk); i++) {
		if (python_step(&walk, p, &reads, &out))
			break;
		if (walk.gen)
			python_tasks_see(&t, walk.gen, (uint64_t)i);
	}
	return t.task ? python_tasks_name(&t, p) : 0;
}

static struct python_name_format format_of(struct world *w)
{
	return (struct python_name_format){ &w->l, world_type_based(w, "str", 0),
					    world_type_based(w, "int", 0) };
}

/* The label of a name, as copied; "": none. */
static const char *label_of(struct world *w, uint64_t name, uint32_t len)
{
	static char label[PYTHON_LABEL_MAX];
	struct python_name_format format = format_of(w);
	struct wire_python_task task = { .addr = name, .len = len };

	if (!name || read_user(name, task.name, len))
		return "";
	return python_task_label(&task, &format, label) ? label : "";
}

static const char *label(struct world *w, const struct python_asyncio *a)
{
	struct python_process p = walk_of(w);

	python_asyncio_set(a, &p);
	return label_of(w, find_name(&p), WIRE_TASK_NAME_MAX);
}

static void the_task_on_the_stack_is_found_in_every_version(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		uint64_t coro = make_thread(&world, minor);
		struct python_asyncio a = { 0 };
		uint64_t task = world_task(&world, coro, 0, "red");

		assert_string_equal(label(&world, &a), "");
		execute(&world, &a, 1, &task);
		assert_string_equal(label(&world, &a), minor == 7 ? "parent" : "red");
	}
}

static void a_task_that_is_not_on_the_stack_is_none(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_asyncio a = { 0 };
		uint64_t task;

		make_thread(&world, minor);
		task = world_task(&world, world_coroutine(&world, "other", 0), 0, "other");
		execute(&world, &a, 1, &task);
		assert_true(a.is_in_thread || a.current_tasks);
		assert_string_equal(label(&world, &a), "");
	}
}

static void the_dict_has_other_threads_tasks_and_free_places(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= WORLD_13T; minor++) {
		uint64_t coro = make_thread(&world, minor);
		uint64_t tasks[MAX_CURRENT_ENTRIES + 9] = { 0 };
		struct python_asyncio a = { 0 };

		if (world.at.thread.running_task)
			continue; /* the thread says it itself */
		tasks[9] = world_task(&world, coro, 0, "red");
		tasks[8] = tasks[MAX_CURRENT_ENTRIES + 7] =
			world_task(&world, world_coroutine(&world, "other", 0), 0, "other");
		execute(&world, &a, MAX_CURRENT_ENTRIES + 9, tasks);
		assert_string_equal(label(&world, &a), minor == 7 ? "parent" : "red");
		/* Nobody looks further back than it is worth. */
		tasks[8] = tasks[9];
		tasks[9] = 0;
		execute(&world, &a, MAX_CURRENT_ENTRIES + 9, tasks);
		assert_string_equal(label(&world, &a), "");
	}
}

static void more_tasks_than_threads_can_have_are_left_out(void **state)
{
	uint64_t coro = make_thread(&world, 12), tasks[MAX_CURRENT_ENTRIES], other;
	struct python_asyncio a = { 0 };

	(void)state;
	other = world_task(&world, world_coroutine(&world, "other", 0), 0, "other");
	for (size_t i = 0; i < MAX_CURRENT_ENTRIES; i++)
		tasks[i] = other;
	tasks[MAX_CURRENT_TASKS - 1] = world_task(&world, coro, 0, "red");
	execute(&world, &a, MAX_CURRENT_ENTRIES, tasks);
	assert_string_equal(label(&world, &a), "red");
	tasks[MAX_CURRENT_TASKS] = tasks[MAX_CURRENT_TASKS - 1];
	tasks[MAX_CURRENT_TASKS - 1] = other;
	execute(&world, &a, MAX_CURRENT_ENTRIES, tasks);
	assert_string_equal(label(&world, &a), "");
}

static void asyncio_is_found_when_it_is_imported(void **state)
{
	struct python_asyncio a = { 0 };
	uint64_t none = 0, now = SECOND;

	(void)state;
	make_thread(&world, 11);
	import(&world, "os", "_current_tasks", current_tasks(&world, 1, &none));
	assert_false(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, now));
	assert_false(python_asyncio_is_due(&a, &world.l, now));
	assert_true(python_asyncio_is_due(&a, &world.l, now += SECOND));
	/* It has begun; its variables come after it. */
	import(&world, "_asyncio", "Task", current_tasks(&world, 1, &none));
	assert_false(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					 now += SECOND));
	import(&world, "_asyncio", "_current_tasks", current_tasks(&world, 1, &none));
	assert_true(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					now += SECOND));
	assert_false(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					 now += SECOND));
	/* Replaced by something that is no dict. */
	import(&world, "_asyncio", "_current_tasks", world_object(&world, "list", 40));
	assert_true(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					now += SECOND));
	assert_int_equal(a.current_tasks, 0);
	make_thread(&world, 14);
	assert_false(python_asyncio_is_due(&a, &world.l, now + SECOND));
}

/* But never never, and as often as at first when something was imported. */
static void where_nothing_is_imported_it_is_asked_for_less_often(void **state)
{
	static const struct {
		uint64_t quiet_ms, pause_ms;
	} cases[] = { { 0, 20 }, { 100, 20 }, { 800, 100 }, { 4000, 500 }, { 60000, 640 } };
	const uint64_t ms = SECOND / 1000, begin = SECOND;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t none = 0, now = begin + cases[i].quiet_ms * ms;
		struct python_asyncio a = { 0 };

		make_thread(&world, 11);
		python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, begin);
		python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, now);
		assert_false(
			python_asyncio_is_due(&a, &world.l, now + (cases[i].pause_ms - 1) * ms));
		assert_true(python_asyncio_is_due(&a, &world.l, now + cases[i].pause_ms * ms));
		import(&world, "os", "_current_tasks", current_tasks(&world, 1, &none));
		now += SECOND;
		python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, now);
		assert_true(python_asyncio_is_due(&a, &world.l, now + 20 * ms));
	}
}

static void the_main_interpreter_is_asked_first(void **state)
{
	uint64_t none = 0, mine, theirs, main_interp, sub, list;
	struct python_asyncio a = { 0 };

	(void)state;
	make_thread(&world, 12);
	list = WORLD_ADDR + world.l.runtime.interpreters_head;
	mine = current_tasks(&world, 1, &none);
	theirs = current_tasks(&world, 1, &none);
	import(&world, "_asyncio", "_current_tasks", mine);
	main_interp = world.interp;
	sub = world_room(&world, world.l.interp.modules + 512u);
	world.interp = sub;
	import(&world, "_asyncio", "_current_tasks", theirs);
	world.interp = main_interp;
	world_word(&world, sub + world.l.interp.next, main_interp);
	world_word(&world, list, sub);
	world_word(&world, list + 8, main_interp);
	assert_true(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, SECOND));
	assert_int_equal(a.current_tasks, mine);
	import(&world, "os", "_current_tasks", mine);
	assert_true(
		python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, 2 * SECOND));
	assert_int_equal(a.current_tasks, theirs);
}

/* asyncio.taskgroups with its class; the str under which groups have their task. *module: where it
   has its variables. */
static uint64_t import_groups(struct world *w, uint64_t *module)
{
	uint64_t key = world_str(w, "_parent_task"), function = world_object(w, "function", 64);
	uint64_t code = world_code(w, "_on_task_done"), class = world_object(w, "type", 272);
	uint64_t names[] = { world_str(w, "_loop"), key }, none = 0;
	uint64_t keys[] = { world_str(w, "_asyncio"), world_str(w, "asyncio.taskgroups") };
	uint64_t modules[] = { world_object(w, "module", 24), world_object(w, "module", 24) };

	world_word(w, code + 32, world_tuple(w, 2, names));
	world_word(w, function + 48, code);
	world_field(w, class, PYTHON_TYPE_DICT,
		    world_dict(w, world_str(w, "_on_task_done"), function));
	world_field(w, modules[0], PYTHON_MODULE_DICT,
		    world_dict(w, world_str(w, "_current_tasks"), current_tasks(w, 1, &none)));
	world_field(w, modules[1], PYTHON_MODULE_DICT,
		    world_dict(w, world_str(w, "TaskGroup"), class));
	world_word(w, w->interp + w->l.interp.modules, world_table(w, 2, keys, modules));
	*module = modules[1];
	return key;
}

static void where_groups_have_their_task_is_known_before_there_is_one(void **state)
{
	static const unsigned int minors[] = { 11, 12, 13, WORLD_13T };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		struct python_asyncio a = { 0 };
		uint64_t key, module;

		make_thread(&world, minors[i]);
		key = import_groups(&world, &module);
		assert_true(python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR,
						SECOND));
		assert_int_equal(a.parent_key, minors[i] == WORLD_13T ? 0 : key);
	}
}

/* No module comes any more when the class has. */
static void groups_that_come_after_their_module_are_looked_for_again(void **state)
{
	struct python_asyncio a = { 0 };
	uint64_t key, module, variables;

	(void)state;
	make_thread(&world, 12);
	key = import_groups(&world, &module);
	variables = python_read_pointer(module + PYTHON_MODULE_DICT);
	world_word(&world, module + PYTHON_MODULE_DICT, world_dict(&world, 0, 0));
	python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, SECOND);
	assert_true(a.current_tasks);
	assert_int_equal(a.parent_key, 0);
	world_word(&world, module + PYTHON_MODULE_DICT, variables);
	assert_true(
		python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, 9 * SECOND));
	assert_int_equal(a.parent_key, key);
}

/* Bits of everything that a look at the task goes through. */
static void a_lie_in_memory_is_no_task(void **state)
{
	static const unsigned int minors[] = { 7, 10, 12, 15 };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		uint64_t coro = make_thread(&world, minors[i]), from, task;
		struct python_asyncio a = { 0 };

		from = world.next;
		task = world_task(&world, coro, 0, "red");
		execute(&world, &a, 1, &task);
		for (uint64_t bit = 0; bit < 8 * (world.next - from); bit++) {
			uint8_t *byte = &world.made[from - WORLD_ADDR + bit / 8];

			*byte ^= (uint8_t)(1 << bit % 8);
			label(&world, &a);
			a.look.modules = 0;
			python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, 0);
			*byte ^= (uint8_t)(1 << bit % 8);
			python_asyncio_look(&a, fresh_part(), &world.m, &world.l, WORLD_ADDR, 0);
		}
	}
}

static void a_dict_that_claims_much_is_read_in_bounds(void **state)
{
	static const uint64_t counts[] = { 0, 1 << 24, 1 << 25, UINT64_MAX };
	uint64_t coro = make_thread(&world, 12), task = world_task(&world, coro, 0, "red"), keys;
	struct python_asyncio a = { 0 };

	(void)state;
	execute(&world, &a, 1, &task);
	keys = python_read_pointer(a.current_tasks + PYTHON_DICT_KEYS);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		world_word(&world, keys + world.at.keys.n_entries, counts[i]);
		assert_string_equal(label(&world, &a), "");
	}
	world_word(&world, keys + world.at.keys.n_entries, 1);
	assert_string_equal(label(&world, &a), "red");
	/* Keys that are all str are not loops. */
	world_put(&world, keys + world.at.keys.size + 2, 1, 1);
	assert_string_equal(label(&world, &a), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_task_on_the_stack_is_found_in_every_version),
		cmocka_unit_test(a_task_that_is_not_on_the_stack_is_none),
		cmocka_unit_test(the_dict_has_other_threads_tasks_and_free_places),
		cmocka_unit_test(more_tasks_than_threads_can_have_are_left_out),
		cmocka_unit_test(asyncio_is_found_when_it_is_imported),
		cmocka_unit_test(where_nothing_is_imported_it_is_asked_for_less_often),
		cmocka_unit_test(the_main_interpreter_is_asked_first),
		cmocka_unit_test(where_groups_have_their_task_is_known_before_there_is_one),
		cmocka_unit_test(groups_that_come_after_their_module_are_looked_for_again),
		cmocka_unit_test(a_lie_in_memory_is_no_task),
		cmocka_unit_test(a_dict_that_claims_much_is_read_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
