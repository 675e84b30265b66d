// SPDX-License-Identifier: Apache-2.0
/* How the kernel half takes a sample, compiled for the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tests/unit/bpf_fake.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf/sample.bpf.h"
#pragma GCC diagnostic pop

#define USER_CS 0x33
#define USER_CS_32 0x23
#define KERNEL_CS 0x10
#define NO_SYSCALL UINT64_MAX
#define PF_KTHREAD 0x00200000

struct world {
	struct mm_struct mm;
	struct task_struct task;
	struct pt_regs regs;
	uint64_t kernel_stack[2];
	uint64_t pcs[2];
	struct bpf_stack_build_id files[2];
	struct scratch *scratch;
};

/* A task in a system call: two kernel frames, and registers of user mode behind them. */
static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->task = (struct task_struct){
		.pid = 43, .tgid = 42, .mm = &w->mm, .group_leader = &w->task
	};
	w->regs = (struct pt_regs){ .cs = USER_CS, .rip = 0x401000, .orig_rax = 0 };
	w->kernel_stack[0] = 0xffffffff81000000;
	w->kernel_stack[1] = 0xffffffff82000000;
	w->pcs[0] = w->regs.rip;
	w->files[0] = (struct bpf_stack_build_id){ .status = BPF_STACK_BUILD_ID_VALID,
						   .build_id = { 0xab },
						   .offset = 0x1000 };
	w->scratch = calloc(1, sizeof(*w->scratch));
	memset(&fake, 0, sizeof(fake));
	fake.scratches = &scratches;
	fake.scratch = w->scratch;
	fake.task = &w->task;
	fake.saved_regs = &w->regs;
	fake.kernel_stack = w->kernel_stack;
	fake.n_kernel = 2;
	fake.pcs = w->pcs;
	fake.files = w->files;
	fake.n_pcs = 1;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	free(w->scratch);
	free(w);
	return 0;
}

/* The record of that type in the ring, or NULL. */
static const void *record_of(uint16_t type)
{
	for (size_t at = 0; at < fake.ring_len;) {
		const struct wire_header *h = (const void *)(fake.ring + at);

		if (h->type == type)
			return h;
		at += (h->len + 7) & ~(size_t)7;
	}
	return NULL;
}

static int take(struct world *w, const struct pt_regs *interrupted)
{
	fake.ring_len = 0;
	return sample_take(w, interrupted, 1, 0, w->scratch);
}

static void a_task_is_sampled_by_what_can_be_had_of_it(void **state)
{
	static const struct {
		uint64_t cs;
		unsigned int flags;
		bool has_mm, is_unreadable;
		int tick, end;
	} cases[] = {
		{ USER_CS, 0, true, false, TICK_SAMPLED, END_SNAPSHOT },
		/* no registers of its own, though it has a user stack */
		{ USER_CS, 0, true, true, TICK_SAMPLED, END_NO_REGISTERS },
		{ KERNEL_CS, 0, true, false, TICK_SAMPLED, END_NO_REGISTERS },
		/* no user stack at all */
		{ USER_CS, 0, false, false, TICK_SAMPLED, END_KERNEL_ONLY },
		{ USER_CS, PF_KTHREAD, true, false, TICK_SAMPLED, END_KERNEL_ONLY },
		{ USER_CS_32, 0, true, false, TICK_UNSUPPORTED, 0 },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct wire_sample *s;

		w->regs.cs = cases[i].cs;
		w->task.flags = cases[i].flags;
		w->task.mm = cases[i].has_mm ? &w->mm : NULL;
		fake.saved_regs = cases[i].is_unreadable ? NULL : &w->regs;
		assert_int_equal(take(w, NULL), cases[i].tick);
		s = record_of(WIRE_SAMPLE);
		assert_int_equal(s != NULL, cases[i].tick == TICK_SAMPLED);
		if (!s)
			continue;
		assert_int_equal(s->end, cases[i].end);
		assert_int_equal(s->pid, 42);
		assert_int_equal(s->n_kernel, 2);
		assert_int_equal(s->frames[1].addr, w->kernel_stack[1]);
	}
}

static void registers_of_user_mode_are_taken_as_they_are(void **state)
{
	struct world *w = *state;
	const struct wire_sample *s;

	assert_int_equal(take(w, &w->regs), TICK_SAMPLED);
	s = record_of(WIRE_SAMPLE);
	assert_int_equal(s->n_kernel, 0);
	assert_int_equal(s->regs[REG_PC], w->regs.rip);
	assert_int_equal(s->regs_flags, WIRE_FRAME_EXACT);
	/* behind a system call instruction it is like a return address; not after an interrupt */
	take(w, NULL);
	s = record_of(WIRE_SAMPLE);
	assert_int_equal(s->regs_flags, 0);
	w->regs.orig_rax = NO_SYSCALL;
	take(w, NULL);
	s = record_of(WIRE_SAMPLE);
	assert_int_equal(s->regs_flags, WIRE_FRAME_EXACT);
}

static void exec_s_new_image_begins_at_its_first_instruction(void **state)
{
	struct world *w = *state;

	w->regs.orig_rax = SYSCALL_EXECVE;
	w->regs.rdi = 0x7000; /* the name: still the old image */
	take(w, NULL);
	assert_int_equal(w->scratch->u.is_exact, 0);
	w->regs.rdi = 0;
	take(w, NULL);
	assert_int_equal(w->scratch->u.is_exact, 1);
}

static void process_that_was_sampled_last_is_not_looked_up_again(void **state)
{
	enum { AGAIN = 1, NO_MORE = 0 };
	static const struct {
		uint64_t pause_ns;
		uint32_t pages_more, generation;
		bool is_other_mm;
		size_t n_looked_up;
	} cases[] = {
		{ 0, 0, 5, false, AGAIN }, /* for the first time */
		{ 1000, 0, 5, false, NO_MORE }, { 1000, 1, 5, false, AGAIN }, /* it has new code */
		{ 1000, 0, 5, false, NO_MORE }, { LAST_PROCESS_NS, 0, 5, false, AGAIN },
		{ 1000, 0, 6, false, AGAIN }, /* its mappings were freed */
		{ 1000, 0, 5, true, AGAIN },  /* exec */
	};
	struct world *w = *state;
	struct mm_struct other = w->mm;
	struct unwind_process entry = { .vector = 8, .generation = 5 };
	uint32_t memory[8] = { 5 };

	fake.processes = &unwind_processes;
	fake.process = &entry;
	fake.array = &table_words;
	fake.values = (void *)memory;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fake.now_ns += cases[i].pause_ns;
		memory[0] = cases[i].generation;
		w->mm.exec_vm += cases[i].pages_more;
		w->task.mm = cases[i].is_other_mm ? &other : &w->mm;
		fake.n_looked_up = 0;
		take(w, NULL);
		assert_int_equal(fake.n_looked_up, cases[i].n_looked_up);
		assert_int_equal(entry.mm, (uintptr_t)&w->mm);
	}
}

static void unknown_process_is_sampled_with_its_build_ids(void **state)
{
	struct world *w = *state;
	const struct wire_build_ids *ids;
	const struct wire_sample *s;

	assert_int_equal(take(w, NULL), TICK_SAMPLED);
	ids = record_of(WIRE_BUILD_IDS);
	s = record_of(WIRE_SAMPLE);
	assert_non_null(ids);
	assert_true((const void *)ids < (const void *)s);
	assert_int_equal(ids->sample_id, s->id);
	assert_int_equal(ids->n, 1);
	assert_int_equal(ids->pcs[0], w->regs.rip);
	assert_memory_equal(&ids->files[0], &w->files[0], sizeof(w->files[0]));
}

static void build_ids_give_way_to_samples(void **state)
{
	struct world *w = *state;
	const struct wire_sample *s;

	fake.ring_waiting = 4096;
	assert_int_equal(take(w, NULL), TICK_SAMPLED);
	s = record_of(WIRE_SAMPLE);
	assert_int_equal(s->end, END_SNAPSHOT_RING);
	assert_null(record_of(WIRE_BUILD_IDS));
	/* Nothing of a stack without files stays in the ring. */
	fake.ring_waiting = 0;
	fake.n_pcs = 0;
	assert_int_equal(take(w, NULL), TICK_SAMPLED);
	assert_null(record_of(WIRE_BUILD_IDS));
	assert_non_null(record_of(WIRE_SAMPLE));
}

static void sample_within_a_sample_is_counted(void **state)
{
	struct world *w = *state;

	w->scratch->is_busy = 1;
	assert_int_equal(take(w, NULL), TICK_LOST_BUSY);
	assert_int_equal(fake.ring_len, 0);
	w->scratch->is_busy = 0;
	assert_int_equal(take(w, NULL), TICK_SAMPLED);
	assert_int_equal(w->scratch->is_busy, 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_task_is_sampled_by_what_can_be_had_of_it),
		TEST(registers_of_user_mode_are_taken_as_they_are),
		TEST(exec_s_new_image_begins_at_its_first_instruction),
		TEST(process_that_was_sampled_last_is_not_looked_up_again),
		TEST(unknown_process_is_sampled_with_its_build_ids),
		TEST(build_ids_give_way_to_samples),
		TEST(sample_within_a_sample_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
