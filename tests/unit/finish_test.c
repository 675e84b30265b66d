// SPDX-License-Identifier: Apache-2.0
/* Finishes stacks of this program itself, copied as the kernel half would. */
#include "tests/unit/process_fixture.h"

#include <sys/uio.h>
#include <ucontext.h>

#include "bpf/counters.h"
#include "bpf/finish.h"
#include "bpf/tables.h"
#include "tests/unit/kernel_fake.h"
#include "unwinders/arch.h"

#define N_PAGES 16
#define DEPTH 20
#define MAX_FRAMES 128

struct world {
	struct fixture *fixture;
	struct unwind_maps *maps;
	struct tables *ts;
	struct finisher *f;
	struct process *self;
	/* the snapshot */
	struct wire_sample *sample;
	struct wire_snapshot_page *pages[N_PAGES];
	struct queued_sample q;
	/* what came out, and what is true */
	struct wire_frame frames[MAX_FRAMES];
	size_t n;
	int end;
	uint64_t callers[DEPTH];
};

static struct wire_snapshot_page *page_new(void)
{
	return calloc(1, sizeof(struct wire_snapshot_page) + SNAPSHOT_PAGE);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (setup((void **)&w->fixture))
		return -1;
	w->maps = fake_maps(1 << 20);
	w->ts = tables_new(w->maps, SIZE_MAX);
	w->f = finisher_new(w->fixture->ps, w->ts);
	w->self = find(w->fixture, getpid());
	w->sample = calloc(1, sizeof(*w->sample));
	for (int i = 0; i < N_PAGES; i++)
		w->pages[i] = page_new();
	w->q = (struct queued_sample){
		.sample = w->sample,
		.pages = (const struct wire_snapshot_page *const *)w->pages,
	};
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	void *fixture = w->fixture;

	for (int i = 0; i < N_PAGES; i++)
		free(w->pages[i]);
	free(w->sample);
	finisher_free(w->f);
	tables_free(w->ts);
	unwind_maps_free(w->maps);
	free(w);
	return teardown(&fixture);
}

/* Registers as a system call leaves them: the pc is a return address. */
static void take_registers(struct wire_sample *s, const ucontext_t *uc)
{
	const greg_t *g = uc->uc_mcontext.gregs;

	s->regs[3] = (uint64_t)g[REG_RBX];
	s->regs[REG_FP] = (uint64_t)g[REG_RBP];
	s->regs[REG_SP] = (uint64_t)g[REG_RSP];
	for (int i = 0; i < 4; i++)
		s->regs[12 + i] = (uint64_t)g[REG_R12 + i];
	s->regs[REG_PC] = (uint64_t)g[REG_RIP];
	s->valid_regs = CALLEE_SAVED_REGS | 1U << REG_SP | 1U << REG_PC;
}

static bool take_page(struct wire_snapshot_page *page, uint64_t addr)
{
	struct iovec local = { page->bytes, SNAPSHOT_PAGE };
	struct iovec remote = { (void *)(uintptr_t)addr, SNAPSHOT_PAGE };

	page->addr = addr;
	page->len = SNAPSHOT_PAGE;
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == SNAPSHOT_PAGE;
}

static void finish(struct world *w, struct process *proc)
{
	w->n = 0;
	w->end = finish_stack(w->f, proc, &w->q, w->frames, &w->n, MAX_FRAMES);
}

typedef void (*change_fn)(struct world *w);

/* Copies the stack of this call and its callers, changes the copy and finishes it. */
static __attribute__((noinline)) void descend(struct world *w, int depth, change_fn change)
{
	volatile int after = depth;
	ucontext_t uc;
	uint64_t start;

	w->callers[depth] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	if (depth + 1 < DEPTH) {
		descend(w, depth + 1, change);
		after++; /* no tail call */
		return;
	}
	getcontext(&uc);
	take_registers(w->sample, &uc);
	start = (w->sample->regs[REG_SP] - RED_ZONE) & ~(uint64_t)(SNAPSHOT_PAGE - 1);
	w->q.n_pages = 0;
	while (w->q.n_pages < N_PAGES &&
	       take_page(w->pages[w->q.n_pages], start + w->q.n_pages * SNAPSHOT_PAGE))
		w->q.n_pages++;
	if (change)
		change(w);
	finish(w, w->self);
}

/* The first n callers are the true ones. */
static void assert_callers(const struct world *w, size_t n)
{
	assert_true(w->n >= n + 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(w->frames[1 + i].addr, w->callers[DEPTH - 1 - i]);
}

static struct object *own_object(struct world *w)
{
	const struct mapping *m =
		process_known_mapping(w->fixture->ps, w->self, (uintptr_t)finish_stack);

	return m ? m->object : NULL;
}

static void stack_is_finished_to_its_root(void **state)
{
	struct world *w = *state;

	descend(w, 0, NULL);
	assert_int_equal(w->end, END_ROOT);
	assert_int_equal(w->frames[0].addr, w->sample->regs[REG_PC]);
	assert_callers(w, DEPTH);
	assert_true(w->n > DEPTH + 3); /* cmocka, main and what called it */
	assert_true(w->n < MAX_FRAMES);
}

static void tables_that_were_missing_are_there_for_the_next_sample(void **state)
{
	struct world *w = *state;

	assert_int_equal(tables_loaded(own_object(w)), 0);
	descend(w, 0, NULL);
	assert_int_not_equal(tables_loaded(own_object(w)), 0);
}

/* A table that finds no room in the kernel half serves the walk from here. */
static void table_without_room_finishes_the_stack_all_the_same(void **state)
{
	struct world *w = *state;

	finisher_free(w->f);
	tables_free(w->ts);
	unwind_maps_free(w->maps);
	w->maps = fake_maps(64);
	w->ts = tables_new(w->maps, SIZE_MAX);
	w->f = finisher_new(w->fixture->ps, w->ts);
	descend(w, 0, NULL);
	assert_int_equal(w->end, END_ROOT);
	assert_callers(w, DEPTH);
	assert_int_equal(tables_loaded(own_object(w)), 0);
	assert_true(tables_over_budget(w->ts) > 0);
}

static void reverse_pages(struct world *w)
{
	for (size_t i = 0; i < w->q.n_pages / 2; i++) {
		struct wire_snapshot_page *page = w->pages[i];

		w->pages[i] = w->pages[w->q.n_pages - 1 - i];
		w->pages[w->q.n_pages - 1 - i] = page;
	}
}

static void pages_come_in_any_order(void **state)
{
	struct world *w = *state;

	descend(w, 0, reverse_pages);
	assert_int_equal(w->end, END_ROOT);
	assert_callers(w, DEPTH);
}

static void keep_two_pages(struct world *w)
{
	w->q.n_pages = 2;
}

static void stack_that_is_deeper_than_its_copy_is_truncated(void **state)
{
	struct world *w = *state;

	descend(w, 0, keep_two_pages);
	assert_int_equal(w->end, END_SNAPSHOT_TRUNCATED);
	assert_true(w->n > 1 && w->n < DEPTH + 1);
	assert_callers(w, w->n - 1);
}

static void lose_the_third_page(struct world *w)
{
	w->pages[2]->len = 0;
}

static void page_that_is_missing_ends_the_walk(void **state)
{
	struct world *w = *state;

	/* Nor does the page of the stack before it stand in for it. */
	descend(w, 0, NULL);
	descend(w, 0, lose_the_third_page);
	assert_int_equal(w->end, END_READ_FAULT);
	assert_true(w->n > 1 && w->n < DEPTH + 1);
	assert_callers(w, w->n - 1);
}

/* Each would be written outside of the copy, or over what is true, if it was believed. */
static void spoil_pages(struct world *w)
{
	w->pages[0]->addr -= SNAPSHOT_PAGE;
	w->pages[1]->addr += (uint64_t)1 << 40;
	w->pages[2]->len = SNAPSHOT_PAGE + 1;
	w->pages[3]->addr = UINT64_MAX - 8;
	w->q.n_pages = 4;
}

static void pages_that_cannot_be_are_passed_over(void **state)
{
	struct world *w = *state;

	descend(w, 0, spoil_pages);
	assert_int_equal(w->end, END_SNAPSHOT_TRUNCATED);
	assert_int_equal(w->n, 1);
}

static void frames_that_are_there_stay(void **state)
{
	struct world *w = *state;

	descend(w, 0, NULL);
	w->n = 3;
	w->frames[2].addr = 77;
	assert_int_equal(finish_stack(w->f, w->self, &w->q, w->frames, &w->n, 5), END_MAX_FRAMES);
	assert_int_equal(w->n, 5);
	assert_int_equal(w->frames[2].addr, 77);
	assert_int_equal(w->frames[3].addr, w->sample->regs[REG_PC]);
}

static void process_nobody_knows_leaves_the_leaf(void **state)
{
	struct world *w = *state;

	w->sample->regs[REG_PC] = 0x1234;
	w->sample->regs_flags = WIRE_FRAME_EXACT;
	finish(w, NULL);
	assert_int_equal(w->end, END_NO_PROCESS);
	assert_int_equal(w->n, 1);
	assert_int_equal(w->frames[0].addr, 0x1234);
	assert_int_equal(w->frames[0].flags, WIRE_FRAME_EXACT);
	w->n = MAX_FRAMES;
	assert_int_equal(finish_stack(w->f, NULL, &w->q, w->frames, &w->n, MAX_FRAMES),
			 END_NO_PROCESS);
	assert_int_equal(w->n, MAX_FRAMES);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(stack_is_finished_to_its_root),
		TEST(tables_that_were_missing_are_there_for_the_next_sample),
		TEST(table_without_room_finishes_the_stack_all_the_same),
		TEST(pages_come_in_any_order),
		TEST(stack_that_is_deeper_than_its_copy_is_truncated),
		TEST(page_that_is_missing_ends_the_walk),
		TEST(pages_that_cannot_be_are_passed_over),
		TEST(frames_that_are_there_stay),
		TEST(process_nobody_knows_leaves_the_leaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
