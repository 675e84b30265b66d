// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/process_fixture.h"

#include <linux/bpf.h>

#include "bpf/build_ids.h"
#include "bpf/counters.h"
#include "bpf/weft.h"

#define START 0x500000
#define PGOFF 0x3000

/* A process with the code of a file that is nowhere, and what the kernel half says of a pc in it.
 */
static struct process *process_of(struct fixture *f, const char *name)
{
	exec_event(f, 0, NO_PID, "gone");
	apply(f, (struct process_event){ .type = PROCESS_MMAP,
					 .pid = NO_PID,
					 .start = START,
					 .len = 0x2000,
					 .pgoff = PGOFF,
					 .ino = 1,
					 .name = name });
	return find(f, NO_PID);
}

static const char *learned(struct fixture *f, const struct process *proc)
{
	return processes_string(f->ps, proc->mappings[0].build_id);
}

static struct wire_build_ids ids_of(uint64_t pc, uint64_t offset, size_t len)
{
	struct wire_build_ids ids = { .n = 1, .pcs = { pc } };

	ids.files[0].status = BPF_STACK_BUILD_ID_VALID;
	ids.files[0].offset = offset;
	memset(ids.files[0].id, 0xab, len);
	return ids;
}

static void ids_have_the_length_that_linkers_make(void **state)
{
	static const struct {
		size_t len, want;
	} cases[] = { { 20, 20 },
		      { 16, 16 },
		      { 8, 8 },
		      { 0, 0 },
		      /* no zeros that nobody wrote are cut off */
		      { 19, 20 },
		      { 17, 20 },
		      { 15, 16 },
		      { 9, 16 },
		      { 3, 8 } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process *proc = process_of(f, "/nowhere/gone");
		struct wire_build_ids ids = ids_of(START + 0x10, PGOFF + 0x10, cases[i].len);

		build_ids_learn(f->ps, proc, &ids);
		assert_int_equal(strlen(learned(f, proc)), 2 * cases[i].want);
		assert_int_equal(strspn(learned(f, proc), "ab"), 2 * cases[i].len);
	}
}

static void only_what_fits_the_mapping_is_believed(void **state)
{
	static const struct {
		const char *name;
		uint64_t pc, offset;
		int status;
		bool is_believed;
	} cases[] = {
		{ "/gone", START, PGOFF, BPF_STACK_BUILD_ID_VALID, true },
		{ "/gone", START + 0x1fff, PGOFF + 0x1fff, BPF_STACK_BUILD_ID_VALID, true },
		{ "/gone", START, PGOFF, BPF_STACK_BUILD_ID_IP, false },
		{ "/gone", START, PGOFF, BPF_STACK_BUILD_ID_EMPTY, false },
		{ "/gone", START, PGOFF + 1, BPF_STACK_BUILD_ID_VALID, false },
		{ "/gone", START + 0x2000, PGOFF + 0x2000, BPF_STACK_BUILD_ID_VALID, false },
		{ "//anon", START, PGOFF, BPF_STACK_BUILD_ID_VALID, false },
		{ "[vdso]", START, PGOFF, BPF_STACK_BUILD_ID_VALID, false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process *proc = process_of(f, cases[i].name);
		struct wire_build_ids ids = ids_of(cases[i].pc, cases[i].offset, 20);

		ids.files[0].status = cases[i].status;
		build_ids_learn(f->ps, proc, &ids);
		assert_int_equal(*learned(f, proc) != 0, cases[i].is_believed);
	}
}

static void file_that_is_not_known_either_is_counted(void **state)
{
	struct fixture *f = *state;
	struct wire_build_ids ids = ids_of(START, PGOFF, 20);
	const uint64_t *n = processes_counters(f->ps);
	struct process *proc = process_of(f, "/nowhere/gone");

	build_ids_learn(f->ps, proc, NULL);
	process_known_mapping(f->ps, proc, START);
	assert_int_equal(n[FILES_GONE], 1);
	assert_int_equal(n[FILES_UNIDENTIFIED], 1);
	proc = process_of(f, "/nowhere/gone");
	build_ids_learn(f->ps, proc, &ids);
	process_known_mapping(f->ps, proc, START);
	assert_int_equal(n[FILES_GONE], 2);
	assert_int_equal(n[FILES_UNIDENTIFIED], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(ids_have_the_length_that_linkers_make),
		PROCESS_TEST(only_what_fits_the_mapping_is_believed),
		PROCESS_TEST(file_that_is_not_known_either_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
