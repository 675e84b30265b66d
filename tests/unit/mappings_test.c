// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/process_fixture.h"

#include "bpf/counters.h"
#include "runtimes/mappings.h"

struct range {
	uint64_t start, len, pgoff;
	const char *name;
};

static void newest_mapping_wins_where_it_is(void **state)
{
	static const struct range before[] = { { 0x1000, 0x3000, 0x1000, "/a" },
					       { 0x6000, 0x2000, 0, "/b" } };
	static const struct {
		struct range new, want[6];
	} cases[] = {
		{ { 0x4000, 0x1000, 0, "/c" },
		  { before[0], { 0x4000, 0x1000, 0, "/c" }, before[1] } },
		{ { 0x1000, 0x3000, 0, "/c" }, { { 0x1000, 0x3000, 0, "/c" }, before[1] } },
		{ { 0x2000, 0x1000, 0, "/c" },
		  { { 0x1000, 0x1000, 0x1000, "/a" },
		    { 0x2000, 0x1000, 0, "/c" },
		    { 0x3000, 0x1000, 0x3000, "/a" },
		    before[1] } },
		{ { 0x3000, 0x4000, 0, "/c" },
		  { { 0x1000, 0x2000, 0x1000, "/a" },
		    { 0x3000, 0x4000, 0, "/c" },
		    { 0x7000, 0x1000, 0x1000, "/b" } } },
		{ { 0, 0x9000, 0, "/c" }, { { 0, 0x9000, 0, "/c" } } },
		{ { 0x1000, 0x1000, 0, "/c" },
		  { { 0x1000, 0x1000, 0, "/c" }, { 0x2000, 0x2000, 0x2000, "/a" }, before[1] } },
		{ { 0x9000, 0x1000, 0, "/c" },
		  { before[0], before[1], { 0x9000, 0x1000, 0, "/c" } } },
		{ { 0x1000, 0x3000, 0x1000, "/a" }, { before[0], before[1] } },
		{ { UINT64_MAX - 0xfff, 0x2000, 0, "/c" }, { before[0], before[1] } },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct range add[] = { before[0], before[1], cases[i].new };
		struct process *proc;
		size_t n = 0;

		exec_event(f, 0, NO_PID, "x");
		for (size_t j = 0; j < 3; j++)
			apply(f, (struct process_event){ .type = PROCESS_MMAP,
							 .pid = NO_PID,
							 .start = add[j].start,
							 .len = add[j].len,
							 .pgoff = add[j].pgoff,
							 .name = add[j].name });
		proc = find(f, NO_PID);
		for (; cases[i].want[n].len; n++) {
			const struct mapping *m = &proc->mappings[n];

			assert_true(n < proc->n_mappings);
			assert_int_equal(m->start, cases[i].want[n].start);
			assert_int_equal(m->end - m->start, cases[i].want[n].len);
			assert_int_equal(m->pgoff, cases[i].want[n].pgoff);
			assert_string_equal(processes_string(f->ps, m->path),
					    cases[i].want[n].name);
		}
		assert_int_equal(proc->n_mappings, n);
	}
}

/* Against a plain array with a name for each page. */
static void mappings_agree_with_a_page_by_page_model(void **state)
{
	enum { PAGES = 64 };
	static const char *const names[] = { "/a", "/b", "/c", "/d" };
	struct fixture *f = *state;
	const char *model[PAGES] = { 0 };
	unsigned int seed = 4711;

	exec_event(f, 0, NO_PID, "x");
	for (int i = 0; i < 20000; i++) {
		uint64_t page = (uint64_t)rand_r(&seed) % PAGES,
			 n = 1 + (uint64_t)rand_r(&seed) % (PAGES - page);
		const char *name = names[(unsigned int)rand_r(&seed) % 4];
		struct process *proc;
		uint64_t end = 0;

		apply(f, (struct process_event){ .type = PROCESS_MMAP,
						 .pid = NO_PID,
						 .start = page << 12,
						 .len = n << 12,
						 .pgoff = page << 12,
						 .name = name });
		for (uint64_t j = page; j < page + n; j++)
			model[j] = name;
		proc = find(f, NO_PID);
		for (size_t j = 0; j < proc->n_mappings; end = proc->mappings[j++].end)
			assert_true(proc->mappings[j].start >= end &&
				    proc->mappings[j].start < proc->mappings[j].end);
		for (uint64_t j = 0; j < PAGES; j++) {
			const struct mapping *m = mappings_find(proc, j << 12 | 0xfff);

			assert_int_equal(m != NULL, model[j] != NULL);
			if (m) {
				assert_string_equal(processes_string(f->ps, m->path), model[j]);
				assert_int_equal(m->pgoff, m->start);
			}
		}
	}
}

static void too_many_mappings_are_counted_not_kept(void **state)
{
	struct fixture *f = *state;

	exec_event(f, 0, NO_PID, "x");
	for (uint64_t i = 0; i < MAX_MAPPINGS + 10; i++)
		apply(f, (struct process_event){ .type = PROCESS_MMAP,
						 .time_ns = 1,
						 .pid = NO_PID,
						 .start = i << 13,
						 .len = 0x1000 });
	assert_int_equal(find(f, NO_PID)->n_mappings, MAX_MAPPINGS);
	assert_int_equal(processes_counters(f->ps)[MEMORY_OVER_BUDGET], 10);
}

static void code_pages_made_one_by_one_change_nothing(void **state)
{
	struct fixture *f = *state;
	uint32_t generation;

	exec_event(f, 0, NO_PID, "x");
	apply(f, (struct process_event){ .type = PROCESS_MMAP,
					 .pid = NO_PID,
					 .start = 0x10000,
					 .len = 0x9000,
					 .name = "//anon" });
	generation = find(f, NO_PID)->generation;
	apply(f, (struct process_event){ .type = PROCESS_MMAP,
					 .pid = NO_PID,
					 .start = 0x11000,
					 .len = 0x1000,
					 .name = "//anon" });
	assert_int_equal(find(f, NO_PID)->generation, generation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(newest_mapping_wins_where_it_is),
		PROCESS_TEST(mappings_agree_with_a_page_by_page_model),
		PROCESS_TEST(too_many_mappings_are_counted_not_kept),
		PROCESS_TEST(code_pages_made_one_by_one_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
