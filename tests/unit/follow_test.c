// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/process_fixture.h"

#include "bpf/follow.h"
#include "bpf/tables.h"
#include "bpf/targets.h"
#include "tests/unit/kernel_fake.h"

#define LIBRARY 0x700000 /* where a library is said to be mapped */

struct world {
	struct fixture *fixture;
	struct unwind_maps *maps;
	struct tables *ts;
	struct targets targets;
	struct follower *f;
	struct process *self;
};

static void drop(void *ctx, struct process *proc)
{
	follower_drop(((struct world *)ctx)->f, proc);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (setup((void **)&w->fixture))
		return -1;
	w->maps = fake_maps(1 << 20);
	w->ts = tables_new(w->maps, SIZE_MAX);
	w->targets.flags = TARGET_PIDS;
	w->f = follower_new(w->fixture->ps, w->maps, w->ts, &w->targets);
	processes_on_drop(w->fixture->ps, drop, w);
	w->self = find(w->fixture, getpid());
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	void *fixture = w->fixture;

	/* The follower hears of the processes' end, the objects outlive their tables. */
	processes_free(w->fixture->ps);
	w->fixture->ps = NULL;
	follower_free(w->f);
	tables_free(w->ts);
	unwind_maps_free(w->maps);
	free(w);
	return teardown(&fixture);
}

static void event(struct world *w, struct process_event ev)
{
	ev.time_ns = ev.time_ns ? ev.time_ns : fake_now_ns;
	ev.tid = ev.tid ? ev.tid : ev.pid;
	assert_int_equal(processes_apply(w->fixture->ps, &ev), 0);
	follower_event(w->f, &ev);
}

static void map_library(struct world *w, pid_t pid)
{
	event(w, (struct process_event){ .type = PROCESS_MMAP,
					 .pid = pid,
					 .start = LIBRARY,
					 .len = 0x1000,
					 .name = "/nowhere/lib.so" });
}

static void sample(struct world *w, bool is_stale)
{
	follower_sample(w->f, w->self, w->self->start_time_ns, fake_now_ns, is_stale);
}

static const struct unwind_mapping *own_mapping(const struct world *w)
{
	return fake_mapping(w->maps, getpid(), (uintptr_t)follower_sample);
}

static void sampled_target_is_told_with_its_tables(void **state)
{
	struct world *w = *state;
	const struct unwind_mapping *m;

	sample(w, true);
	assert_non_null(fake_vector(w->maps, getpid()));
	assert_int_equal(fake_slot((uint32_t)getpid())->entry.start_time_ns,
			 w->self->start_time_ns);
	assert_int_not_equal(fake_slot((uint32_t)getpid())->entry.vdso, 0);
	m = own_mapping(w);
	assert_non_null(m);
	assert_int_not_equal(m->table, 0);
	assert_int_equal(m->flags, 0);
	assert_true((uintptr_t)follower_sample > m->bias);
}

/* Or every program on the machine would have its tables built. */
static void on_a_whole_machine_tables_wait_for_a_sample(void **state)
{
	struct world *w = *state;
	const struct unwind_mapping *m;

	w->targets.flags = TARGET_ALL;
	sample(w, true);
	m = own_mapping(w);
	assert_int_equal(m->table, 0);
	tables_get(
		w->ts,
		process_known_mapping(w->fixture->ps, w->self, (uintptr_t)follower_sample)->object);
	/* In place: nothing else changed. */
	assert_ptr_equal(own_mapping(w), m);
	assert_int_not_equal(m->table, 0);
	assert_int_equal(fake_n_updates, 1);
}

static void nothing_is_told_twice(void **state)
{
	struct world *w = *state;

	sample(w, false);
	assert_int_equal(fake_n_updates, 0);
	sample(w, true);
	sample(w, true);
	sample(w, false);
	follower_begin(w->f, getpid());
	follower_flush(w->f);
	assert_int_equal(fake_n_updates, 1);
}

static void target_that_runs_already_is_told_of_at_once(void **state)
{
	struct world *w = *state;

	follower_begin(w->f, getpid());
	follower_begin(w->f, NO_PID);
	assert_null(fake_vector(w->maps, getpid()));
	follower_flush(w->f);
	assert_non_null(own_mapping(w));
	assert_int_equal(fake_n_updates, 1);
}

static void new_mappings_are_told_once_for_all_of_them(void **state)
{
	struct world *w = *state;

	sample(w, true);
	map_library(w, getpid());
	map_library(w, getpid());
	assert_null(fake_mapping(w->maps, getpid(), LIBRARY));
	follower_flush(w->f);
	assert_non_null(fake_mapping(w->maps, getpid(), LIBRARY));
	assert_non_null(own_mapping(w));
	assert_int_equal(fake_n_updates, 2);
}

static void process_nobody_sampled_is_not_told_of(void **state)
{
	struct world *w = *state;

	map_library(w, getpid());
	follower_flush(w->f);
	assert_int_equal(fake_n_updates, 0);
}

static void exec_is_told_before_the_first_sample(void **state)
{
	struct world *w = *state;

	event(w, (struct process_event){ .type = PROCESS_FORK, .pid = NO_PID, .parent = getpid() });
	follower_flush(w->f);
	assert_int_equal(fake_n_updates, 0);
	event(w, (struct process_event){ .type = PROCESS_EXEC, .pid = NO_PID, .name = "new" });
	map_library(w, NO_PID);
	follower_flush(w->f);
	assert_non_null(fake_mapping(w->maps, NO_PID, LIBRARY));
	assert_int_equal(fake_vector(w->maps, NO_PID)->n_mappings, 1);
}

/* The program's mappings are no more; an entry that a fork copied is not taken for one either. */
static void exec_makes_the_old_vector_void(void **state)
{
	struct world *w = *state;
	struct unwind_process copy;

	sample(w, true);
	copy = fake_slot((uint32_t)getpid())->entry;
	event(w, (struct process_event){ .type = PROCESS_EXEC, .pid = getpid(), .name = "new" });
	assert_null(fake_vector(w->maps, getpid()));
	assert_int_equal(unwind_maps_words(w->maps, copy.vector)[0], 0);
}

static void end_of_a_process_is_told(void **state)
{
	const uint32_t child = NO_PID;
	const struct unwind_process copy = { 0 };
	struct world *w = *state;

	sample(w, true);
	/* The kernel half's own doing at a fork. */
	bpf_map_update_elem(FAKE_PROCESSES_FD, &child, &copy, 0);
	event(w, (struct process_event){ .type = PROCESS_EXIT, .pid = NO_PID, .tid = NO_PID - 1 });
	assert_non_null(fake_slot(child)); /* a thread of it */
	event(w, (struct process_event){ .type = PROCESS_EXIT, .pid = NO_PID });
	assert_null(fake_slot(child));
	event(w, (struct process_event){ .type = PROCESS_EXIT, .pid = getpid() });
	assert_null(fake_slot((uint32_t)getpid()));
	/* A last sample does not bring it back. */
	sample(w, true);
	assert_non_null(fake_slot((uint32_t)getpid()));
}

static void process_with_another_start_is_told_anew(void **state)
{
	struct world *w = *state;

	follower_begin(w->f, getpid());
	follower_flush(w->f);
	assert_int_equal(fake_slot((uint32_t)getpid())->entry.start_time_ns, 0);
	sample(w, true);
	assert_int_equal(fake_slot((uint32_t)getpid())->entry.start_time_ns,
			 w->self->start_time_ns);
	assert_int_equal(fake_n_updates, 2);
}

static void generated_code_is_for_user_space(void **state)
{
	struct world *w = *state;
	const struct unwind_mapping *m;

	event(w, (struct process_event){ .type = PROCESS_MMAP,
					 .pid = getpid(),
					 .start = LIBRARY,
					 .len = 0x1000,
					 .name = "//anon" });
	sample(w, true);
	m = fake_mapping(w->maps, getpid(), LIBRARY);
	assert_non_null(m);
	assert_int_equal(m->table, 0);
	assert_int_equal(m->flags, UNWIND_MAPPING_USER_ONLY);
}

static void file_that_cannot_be_opened_is_to_be_identified(void **state)
{
	static const uint8_t id[] = { 0xab };
	struct world *w = *state;
	struct process_event ev = { .type = PROCESS_MMAP,
				    .pid = getpid(),
				    .start = LIBRARY,
				    .len = 0x1000,
				    .ino = 1,
				    .name = "/nowhere/gone" };

	event(w, ev);
	sample(w, true);
	assert_int_equal(fake_mapping(w->maps, getpid(), LIBRARY)->flags,
			 UNWIND_MAPPING_UNIDENTIFIED);
	process_learn_build_id(w->fixture->ps, w->self, LIBRARY, 0, id, sizeof(id));
	ev.start += ev.len;
	event(w, ev);
	sample(w, true);
	assert_int_equal(fake_mapping(w->maps, getpid(), LIBRARY)->flags, 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(sampled_target_is_told_with_its_tables),
		TEST(on_a_whole_machine_tables_wait_for_a_sample),
		TEST(nothing_is_told_twice),
		TEST(target_that_runs_already_is_told_of_at_once),
		TEST(new_mappings_are_told_once_for_all_of_them),
		TEST(process_nobody_sampled_is_not_told_of),
		TEST(exec_is_told_before_the_first_sample),
		TEST(exec_makes_the_old_vector_void),
		TEST(end_of_a_process_is_told),
		TEST(process_with_another_start_is_told_anew),
		TEST(generated_code_is_for_user_space),
		TEST(file_that_cannot_be_opened_is_to_be_identified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
