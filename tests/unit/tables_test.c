// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "bpf/tables.h"
#include "tests/unit/compiled.h"
#include "tests/unit/kernel_fake.h"

#define PLENTY (1 << 20) /* words */

struct world {
	struct compiled *c;
	struct object *a, *b, *other, *big; /* but for big: tables of the same size */
	struct unwind_maps *maps;
	struct tables *ts;
	uint32_t n_words; /* of a's table */
	int n_breaths;
};

/* Functions that differ, so that there is a row or two for each. */
static struct object *build(struct compiled *c, const char *name, int n_functions)
{
	char text[512], command[96];

	snprintf(text, sizeof(text),
		 "	.text\n	.rept %d\n	.cfi_startproc\n	push %%rbp\n"
		 "	.cfi_def_cfa_offset 16\n	pop %%rbp\n	.cfi_def_cfa_offset 8\n"
		 "	ret\n	.cfi_endproc\n	.endr\n	.section .note.%s,\"a\"\n	.string "
		 "\"%s\"\n",
		 n_functions, name, name);
	compiled_source(c, "f.s", text);
	snprintf(command, sizeof(command), "gcc -nostdlib -shared -o %s f.s", name);
	assert_true(compiled_run(c, command));
	return compiled_open(c, name);
}

static void begin(struct world *w, uint32_t n_words, size_t host_budget)
{
	tables_free(w->ts);
	unwind_maps_free(w->maps);
	w->maps = fake_maps(n_words);
	assert_non_null(w->maps);
	w->ts = tables_new(w->maps, host_budget);
	assert_non_null(w->ts);
}

/* Once for all tests: the files, which no test changes. */
static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t used;

	if (compiled_setup((void **)&w->c))
		return -1;
	w->a = build(w->c, "a", 500);
	w->b = build(w->c, "b", 500);
	w->other = build(w->c, "other", 500);
	w->big = build(w->c, "big", 60000);
	begin(w, PLENTY, SIZE_MAX);
	used = unwind_maps_used(w->maps);
	tables_get(w->ts, w->a);
	w->n_words = (uint32_t)(unwind_maps_used(w->maps) - used) / 4;
	*state = w;
	return 0;
}

static int set_up(void **state)
{
	begin(*state, PLENTY, SIZE_MAX);
	return 0;
}

static int free_world(void **state)
{
	struct world *w = *state;
	void *c = w->c;

	tables_free(w->ts);
	unwind_maps_free(w->maps);
	free(w);
	return compiled_teardown(&c);
}

/* Room for a table of a's size and a half. */
static uint32_t room_for_one(const struct world *w)
{
	return w->n_words + w->n_words / 2;
}

static void table_is_read_from_the_table_memory(void **state)
{
	struct world *w = *state;
	struct object_table t;

	assert_int_equal(tables_loaded(w->a), 0);
	t = tables_get(w->ts, w->a);
	assert_int_not_equal(tables_loaded(w->a), 0);
	assert_ptr_equal(t.table->words, unwind_maps_words(w->maps, tables_loaded(w->a)));
	assert_true(unwind_table_is_valid(t.table));
	assert_non_null(t.cfi);
	assert_false(tables_is_without(w->a));
	assert_int_equal(tables_over_budget(w->ts), 0);
}

static void file_without_unwind_data_has_no_table(void **state)
{
	struct world *w = *state;
	struct object *o = build(w->c, "none", 0);

	assert_false(tables_is_without(o));
	assert_null(tables_get(w->ts, o).table);
	assert_null(tables_get(w->ts, o).cfi);
	assert_true(tables_is_without(o));
}

/* Its first half would look like a good table, whose last function goes on to the end. */
static void file_that_is_cut_has_no_table(void **state)
{
	struct world *w = *state;
	uint64_t n_cut = objects_cut(w->c->objects);
	struct object *o = build(w->c, "cut", 60000);
	const void *data;
	uint64_t vaddr;
	size_t len;
	char path[128];

	assert_true(object_section(o, ".eh_frame", &data, &len, &vaddr));
	assert_true(len > 1000000);
	snprintf(path, sizeof(path), "%s/cut", w->c->dir);
	assert_int_equal(truncate(path, (off_t)(vaddr + len / 2)), 0);
	assert_null(tables_get(w->ts, o).table);
	assert_null(tables_get(w->ts, o).cfi);
	assert_int_equal(tables_loaded(o), 0);
	assert_true(tables_is_without(o));
	assert_int_equal(objects_cut(w->c->objects), n_cut + 1);
}

/* One that was built before is good, but what walks read besides it is not any more. */
static void file_that_is_cut_later_loses_its_table(void **state)
{
	struct world *w = *state;
	uint64_t n_cut = objects_cut(w->c->objects);
	struct object *o = build(w->c, "cut_later", 60000);
	volatile const char *data;
	const void *start;
	uint64_t vaddr;
	size_t len;
	char path[128];

	assert_non_null(tables_get(w->ts, o).table);
	assert_int_not_equal(tables_loaded(o), 0);
	assert_true(object_section(o, ".eh_frame", &start, &len, &vaddr));
	snprintf(path, sizeof(path), "%s/cut_later", w->c->dir);
	assert_int_equal(truncate(path, 4096), 0);
	data = start;
	assert_int_equal(data[len / 2], 0);
	assert_null(tables_get(w->ts, o).table);
	assert_int_equal(tables_loaded(o), 0);
	assert_int_equal(objects_cut(w->c->objects), n_cut + 1);
}

static void count_breath(void *ctx)
{
	((struct world *)ctx)->n_breaths++;
}

/* Or the ring would fill up meanwhile. */
static void large_table_lets_others_breathe_while_it_is_built(void **state)
{
	struct world *w = *state;

	tables_on_breath(w->ts, count_breath, w);
	tables_get(w->ts, w->big);
	assert_true(w->n_breaths >= 3);
	w->n_breaths = 0;
	tables_get(w->ts, w->big);
	assert_int_equal(w->n_breaths, 0);
}

static void longest_unused_table_makes_room(void **state)
{
	struct world *w = *state;

	begin(w, 2 * w->n_words + w->n_words / 2, SIZE_MAX);
	tables_get(w->ts, w->a);
	fake_now_ns += NS_PER_S;
	tables_get(w->ts, w->b);
	fake_now_ns += 3 * NS_PER_S;
	/* Not at once: what it leaves rests until no walk can be reading it. */
	tables_get(w->ts, w->other);
	assert_int_equal(tables_loaded(w->a), 0);
	assert_int_equal(tables_loaded(w->other), 0);
	fake_now_ns += NS_PER_S;
	tables_get(w->ts, w->b);
	tables_get(w->ts, w->other);
	assert_int_not_equal(tables_loaded(w->b), 0);
	assert_int_not_equal(tables_loaded(w->other), 0);
}

static void table_that_is_in_use_is_not_thrown_out(void **state)
{
	struct world *w = *state;

	begin(w, room_for_one(w), SIZE_MAX);
	tables_get(w->ts, w->a);
	fake_now_ns += NS_PER_S;
	assert_non_null(tables_get(w->ts, w->b).table);
	assert_int_not_equal(tables_loaded(w->a), 0);
	assert_int_equal(tables_loaded(w->b), 0);
	assert_int_equal(tables_over_budget(w->ts), 1);
	fake_now_ns += 60 * NS_PER_S;
	tables_get(w->ts, w->a);
	tables_get(w->ts, w->b);
	assert_int_equal(tables_loaded(w->b), 0);
	assert_int_equal(tables_over_budget(w->ts), 1); /* a table counts once */
}

/* A process whose samples pass through the file keeps it there, without anybody asking for it. */
static void table_that_samples_use_is_not_thrown_out(void **state)
{
	struct world *w = *state;
	const struct unwind_mapping mapping = { .start = 0x1000, .len = 0x1000 };
	const void *owner = w->a;
	const struct process_image image = {
		.pid = 1, .mappings = &mapping, .owners = &owner, .n = 1
	};
	struct vector *v = NULL;

	begin(w, room_for_one(w), SIZE_MAX);
	tables_get(w->ts, w->a);
	assert_int_equal(unwind_maps_set_process(w->maps, &v, &image), 0);
	fake_now_ns += 60 * NS_PER_S;
	unwind_maps_touch(v, fake_now_ns);
	tables_get(w->ts, w->b);
	assert_int_not_equal(tables_loaded(w->a), 0);
	assert_int_equal(tables_loaded(w->b), 0);
	unwind_maps_drop_process(w->maps, &v);
}

/* The last of n tries without room, and then room: it is used when the wait is over, not before. */
static void check_wait(struct world *w, int n_tries, const uint64_t *waits_s)
{
	const struct unwind_table filler = { .words = calloc(w->n_words, 4),
					     .n_words = w->n_words };
	uint32_t word;

	begin(w, room_for_one(w), SIZE_MAX);
	word = unwind_maps_load(w->maps, &filler);
	assert_int_not_equal(word, 0);
	for (int i = 0; i < n_tries; i++) {
		tables_get(w->ts, w->a);
		fake_now_ns += i + 1 < n_tries ? waits_s[i] * NS_PER_S : 0;
	}
	unwind_maps_unload(w->maps, word, filler.n_words);
	fake_now_ns += waits_s[n_tries - 1] * NS_PER_S - 1;
	tables_get(w->ts, w->a);
	assert_int_equal(tables_loaded(w->a), 0);
	fake_now_ns++;
	tables_get(w->ts, w->a);
	assert_int_not_equal(tables_loaded(w->a), 0);
	free(filler.words);
}

static void table_without_room_is_tried_half_as_often_each_time(void **state)
{
	static const uint64_t waits_s[] = { 1, 2, 4, 8, 16, 30, 30 };

	for (int n = 1; n <= (int)(sizeof(waits_s) / sizeof(*waits_s)); n++)
		check_wait(*state, n, waits_s);
}

/* One that found room at last, and lost it again, is not punished for the time before. */
static void wait_begins_anew_after_a_table_was_there(void **state)
{
	struct world *w = *state;

	begin(w, room_for_one(w), SIZE_MAX);
	tables_get(w->ts, w->b);
	for (int i = 0; i < 6; i++) {
		tables_get(w->ts, w->a); /* no room: b is in use */
		fake_now_ns += 31 * NS_PER_S;
		tables_get(w->ts, w->b);
	}
	fake_now_ns += 31 * NS_PER_S;
	tables_get(w->ts, w->a); /* b goes */
	fake_now_ns += 31 * NS_PER_S;
	tables_get(w->ts, w->a);
	assert_int_not_equal(tables_loaded(w->a), 0);
	fake_now_ns += 3 * NS_PER_S;
	tables_get(w->ts, w->other); /* a goes */
	fake_now_ns += NS_PER_S;
	tables_get(w->ts, w->other);
	assert_int_not_equal(tables_loaded(w->other), 0);
	tables_get(w->ts, w->a); /* no room: 1 s */
	assert_int_equal(tables_loaded(w->a), 0);
	fake_now_ns += 3 * NS_PER_S;
	tables_get(w->ts, w->a); /* other goes: 2 s */
	fake_now_ns += 2 * NS_PER_S;
	tables_get(w->ts, w->a);
	assert_int_not_equal(tables_loaded(w->a), 0);
}

static void evicted_table_is_back_when_it_is_asked_for(void **state)
{
	struct world *w = *state;

	begin(w, room_for_one(w), SIZE_MAX);
	tables_get(w->ts, w->a);
	fake_now_ns += 3 * NS_PER_S;
	tables_get(w->ts, w->b);
	fake_now_ns += 3 * NS_PER_S;
	tables_get(w->ts, w->b);
	assert_int_not_equal(tables_loaded(w->b), 0);
	fake_now_ns += 3 * NS_PER_S;
	assert_non_null(tables_get(w->ts, w->a).table);
	assert_int_equal(tables_loaded(w->b), 0);
	fake_now_ns += 3 * NS_PER_S;
	tables_get(w->ts, w->a);
	assert_int_not_equal(tables_loaded(w->a), 0);
}

static void tables_that_do_not_fit_are_kept_within_a_budget(void **state)
{
	struct world *w = *state;
	size_t empty, one;

	begin(w, 64, (size_t)w->n_words * 6);
	empty = tables_memory(w->ts);
	assert_non_null(tables_get(w->ts, w->a).table);
	one = tables_memory(w->ts) - empty;
	assert_true(one >= (size_t)w->n_words * 4);
	assert_non_null(tables_get(w->ts, w->b).table);
	/* The older one went; only its entry is left. */
	assert_true(tables_memory(w->ts) - empty < one + 1024);
	/* One that is larger than all of it, and than the table memory, is not even made. */
	assert_null(tables_get(w->ts, w->big).table);
	assert_true(tables_memory(w->ts) - empty < one + 2048);
	assert_int_equal(tables_over_budget(w->ts), 3);
}

static void only_small_tables_are_made_ahead(void **state)
{
	struct world *w = *state;

	tables_preload(w->ts, w->a);
	tables_preload(w->ts, w->big);
	assert_int_not_equal(tables_loaded(w->a), 0);
	assert_int_equal(tables_loaded(w->big), 0);
	tables_get(w->ts, w->big);
	assert_int_not_equal(tables_loaded(w->big), 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup(fn, set_up)
	const struct CMUnitTest tests[] = {
		TEST(table_is_read_from_the_table_memory),
		TEST(file_without_unwind_data_has_no_table),
		TEST(file_that_is_cut_has_no_table),
		TEST(file_that_is_cut_later_loses_its_table),
		TEST(large_table_lets_others_breathe_while_it_is_built),
		TEST(longest_unused_table_makes_room),
		TEST(table_that_is_in_use_is_not_thrown_out),
		TEST(table_that_samples_use_is_not_thrown_out),
		TEST(table_without_room_is_tried_half_as_often_each_time),
		TEST(wait_begins_anew_after_a_table_was_there),
		TEST(evicted_table_is_back_when_it_is_asked_for),
		TEST(tables_that_do_not_fit_are_kept_within_a_budget),
		TEST(only_small_tables_are_made_ahead),
	};

	return cmocka_run_group_tests(tests, make_world, free_world);
}
