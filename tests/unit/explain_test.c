// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/counters.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "runtimes/process.h"
#include "runtimes/runtime.h"
#include "symbolizer/kallsyms.h"
#include "symbolizer/object.h"

struct fixture {
	struct objects *os;
	struct processes *ps;
	struct profile *p;
	struct kallsyms *kernel;
	struct explain *ex;
	struct process *self;
};

static int setup(void **state)
{
	static const struct object_options options;
	static const char symbols[] =
		"ffffffff81000000 T first_one\nffffffff81000100 t second_one\n"
		"ffffffffc0000000 t in_module\t[some_module]\n";
	struct fixture *f = calloc(1, sizeof(*f));
	char path[] = "/tmp/explain_test.XXXXXX";
	int fd = mkstemp(path), err;

	if (write(fd, symbols, sizeof(symbols) - 1) < 0)
		return -1;
	close(fd);
	f->kernel = kallsyms_load(path, &err);
	unlink(path);
	f->os = objects_new(&options);
	f->ps = processes_new(f->os);
	f->p = profile_new();
	f->ex = explain_new(f->ps, f->os, f->kernel, f->p);
	f->self = processes_find(f->ps, getpid(), 0, 0);
	*state = f;
	return f->ex && f->self && f->kernel ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	explain_free(f->ex);
	profile_free(f->p);
	processes_free(f->ps);
	objects_free(f->os);
	kallsyms_free(f->kernel);
	free(f);
	return 0;
}

static size_t explain_one_frame(struct fixture *f, struct process *proc,
				const struct wire_frame *frame, int end, uint32_t *out)
{
	struct walked stack = { .frames = frame, .n = 1, .end = end };

	return explain_stack(f->ex, proc, 0, &stack, out);
}

static uint32_t explain_one(struct fixture *f, struct process *proc, uint64_t addr, int kind,
			    int flags)
{
	struct wire_frame frame = { .addr = addr, .kind = (uint8_t)kind, .flags = (uint8_t)flags };
	uint32_t out[MAX_EXPLAINED];

	assert_int_equal(explain_one_frame(f, proc, &frame, END_ROOT, out), 1);
	return out[0];
}

static uint32_t explain_native(struct fixture *f, uint64_t addr, int flags)
{
	return explain_one(f, f->self, addr, WIRE_FRAME_NATIVE, flags);
}

/* The outermost function of a location. */
static const char *name_of(const struct fixture *f, uint32_t location)
{
	size_t n;
	const struct line *lines = profile_get_lines(f->p, location, &n);

	return n ? profile_get_string(f->p, profile_get_function(f->p, lines[n - 1].function)->name)
		 : "";
}

static void code_of_a_file_is_named_later(void **state)
{
	struct fixture *f = *state;
	uint32_t id =
		explain_native(f, (uintptr_t)code_of_a_file_is_named_later + 1, WIRE_FRAME_EXACT);
	struct location l = profile_get_location(f->p, id);
	const struct profile_mapping *m = profile_get_mapping(f->p, l.mapping);
	char exe[256] = "";

	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	assert_int_equal(l.kind, FRAME_NATIVE);
	assert_true(l.flags & LOCATION_UNSYMBOLIZED);
	assert_string_equal(profile_get_string(f->p, m->filename), exe);
	assert_true(m->start <= l.address && l.address < m->limit);
	explain_symbolize(f->ex, NULL);
	assert_string_equal(name_of(f, id), "code_of_a_file_is_named_later");
	assert_false(profile_get_location(f->p, id).flags & LOCATION_UNSYMBOLIZED);
}

static int n_asked;

static bool is_second_asked(void)
{
	return ++n_asked >= 2;
}

static void naming_stops_when_told_and_goes_on_later(void **state)
{
	struct fixture *f = *state;
	uint64_t pcs[] = { (uintptr_t)name_of, (uintptr_t)setup, (uintptr_t)teardown };
	uint32_t ids[3];
	size_t n_unnamed = 0;

	for (size_t i = 0; i < 3; i++)
		ids[i] = explain_native(f, pcs[i], WIRE_FRAME_EXACT);
	n_asked = 0;
	assert_int_equal(explain_symbolize(f->ex, is_second_asked), 2);
	for (size_t i = 0; i < 3; i++)
		if (profile_get_location(f->p, ids[i]).flags & LOCATION_UNSYMBOLIZED)
			n_unnamed++;
	assert_int_equal(n_unnamed, 2);
	assert_int_equal(explain_symbolize(f->ex, NULL), 0);
	assert_string_equal(name_of(f, ids[0]), "name_of");
	assert_string_equal(name_of(f, ids[1]), "setup");
	assert_string_equal(name_of(f, ids[2]), "teardown");
}

static void return_address_is_shown_inside_its_call(void **state)
{
	struct fixture *f = *state;
	uint64_t pc = (uintptr_t)return_address_is_shown_inside_its_call + 5;
	uint32_t exact = explain_native(f, pc, WIRE_FRAME_EXACT), caller = explain_native(f, pc, 0);

	assert_int_equal(profile_get_location(f->p, exact).address - 1,
			 profile_get_location(f->p, caller).address);
	/* A call that never returns can be a function's last instruction. */
	explain_symbolize(f->ex, NULL);
	caller = explain_native(f, (uintptr_t)return_address_is_shown_inside_its_call, 0);
	explain_symbolize(f->ex, NULL);
	assert_string_not_equal(name_of(f, caller), "return_address_is_shown_inside_its_call");
}

static void same_frame_is_the_same_location(void **state)
{
	struct fixture *f = *state;
	uint32_t id = explain_native(f, (uintptr_t)same_frame_is_the_same_location, 0);
	uint32_t n = profile_n_locations(f->p);

	for (int i = 0; i < 100; i++)
		assert_int_equal(explain_native(f, (uintptr_t)same_frame_is_the_same_location, 0),
				 id);
	explain_symbolize(f->ex, NULL);
	assert_int_equal(explain_native(f, (uintptr_t)same_frame_is_the_same_location, 0), id);
	assert_int_equal(profile_n_locations(f->p), n);
}

static void cache_never_answers_for_another_frame(void **state)
{
	struct fixture *f = *state;
	struct process_event map = { .type = PROCESS_MMAP,
				     .time_ns = 1,
				     .pid = getpid(),
				     .start = 0x10000000,
				     .len = 0x1000000,
				     .name = "/nowhere/big.so" };

	processes_apply(f->ps, &map);
	/* More than the cache holds, twice. */
	for (uint64_t i = 0; i < 400000; i++) {
		uint64_t offset = i * 7919 % 200000 * 64 + 64;
		int flags = i & 1 ? WIRE_FRAME_EXACT : 0;
		uint32_t id = explain_native(f, map.start + offset, flags);

		assert_int_equal(profile_get_location(f->p, id).address, offset - !flags);
	}
}

static void guessed_frames_say_so(void **state)
{
	struct fixture *f = *state;
	uint64_t pc = (uintptr_t)guessed_frames_say_so + 1;
	uint32_t sure = explain_native(f, pc, 0),
		 guessed = explain_native(f, pc, WIRE_FRAME_GUESSED);

	explain_symbolize(f->ex, NULL);
	assert_false(profile_get_location(f->p, sure).flags & LOCATION_GUESSED);
	assert_true(profile_get_location(f->p, guessed).flags & LOCATION_GUESSED);
	assert_string_equal(name_of(f, sure), name_of(f, guessed));
}

static void kernel_frames_have_their_names_at_once(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint64_t addr;
		int flags;
		const char *name, *mapping;
	} cases[] = {
		{ 0xffffffff81000010, WIRE_FRAME_EXACT, "first_one", "[kernel]" },
		{ 0xffffffff81000100, WIRE_FRAME_EXACT, "second_one", "[kernel]" },
		{ 0xffffffff81000100, 0, "first_one", "[kernel]" },
		{ 0xffffffffc0000010, 0, "in_module", "some_module" },
		{ 0xffffffff80000000, 0, "[kernel unknown]", "[kernel]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t id =
			explain_one(f, NULL, cases[i].addr, WIRE_FRAME_KERNEL, cases[i].flags);
		struct location l = profile_get_location(f->p, id);
		const char *mapping =
			profile_get_string(f->p, profile_get_mapping(f->p, l.mapping)->filename);

		assert_int_equal(l.kind, FRAME_KERNEL);
		assert_string_equal(name_of(f, id), cases[i].name);
		/* Modules may be shown with or without their brackets. */
		assert_non_null(strstr(mapping, cases[i].mapping));
	}
}

static void stack_that_is_not_whole_has_a_mark_at_its_root(void **state)
{
	static const struct {
		int end;
		const char *mark;
	} cases[] = {
		{ END_ROOT, NULL },
		{ END_KERNEL_ONLY, NULL },
		{ END_MAX_FRAMES, "[truncated]" },
		{ END_SNAPSHOT_TRUNCATED, "[truncated]" },
		{ END_NO_RULE, "[broken: code without unwind data]" },
		{ END_GUESS_FAILED, "[broken: no return address could be proved]" },
	};
	struct fixture *f = *state;
	struct wire_frame frame = { .addr = (uintptr_t)explain_one, .kind = WIRE_FRAME_NATIVE };
	uint32_t out[MAX_EXPLAINED];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = explain_one_frame(f, f->self, &frame, cases[i].end, out);

		assert_int_equal(n, cases[i].mark ? 2 : 1);
		if (!cases[i].mark)
			continue;
		assert_int_equal(profile_get_location(f->p, out[1]).kind, FRAME_MARK);
		assert_string_equal(name_of(f, out[1]), cases[i].mark);
	}
}

static void unknown_code_is_shown_as_unknown(void **state)
{
	struct fixture *f = *state;
	char *anon = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t id = explain_native(f, (uintptr_t)anon + 16, WIRE_FRAME_EXACT);

	assert_string_equal(name_of(f, id), "[unknown anon]");
	assert_int_equal(profile_get_location(f->p, id).kind, FRAME_UNKNOWN);
	assert_int_equal(profile_get_location(f->p, id).address, (uintptr_t)anon + 16);
	assert_string_equal(name_of(f, explain_native(f, 0x10, 0)), "[unknown]");
	assert_string_equal(name_of(f, explain_one(f, NULL, 0x10, WIRE_FRAME_NATIVE, 0)),
			    "[unknown]");
	assert_string_equal(name_of(f, explain_one(f, f->self, 0x10, 200, 0)), "[unknown]");
	munmap(anon, 4096);
}

static void file_that_is_gone_keeps_its_path_and_offset(void **state)
{
	struct fixture *f = *state;
	struct process_event fork_ev = { .type = PROCESS_FORK,
					 .time_ns = 1,
					 .pid = 0x7ffffff0,
					 .tid = 0x7ffffff0,
					 .parent = getpid() };
	struct process_event mmap_ev = { .type = PROCESS_MMAP,
					 .time_ns = 2,
					 .pid = 0x7ffffff0,
					 .start = 0x700000,
					 .len = 0x2000,
					 .pgoff = 0x3000,
					 .name = "/nowhere/lib.so" };
	const struct profile_mapping *m;
	struct process *proc;
	struct location l;
	uint32_t id;

	processes_apply(f->ps, &fork_ev);
	processes_apply(f->ps, &mmap_ev);
	proc = processes_find(f->ps, 0x7ffffff0, 0, 3);
	id = explain_one(f, proc, 0x700010, WIRE_FRAME_NATIVE, WIRE_FRAME_EXACT);
	l = profile_get_location(f->p, id);
	m = profile_get_mapping(f->p, l.mapping);
	assert_int_equal(l.kind, FRAME_NATIVE);
	assert_int_equal(l.address - m->start + m->offset, 0x3010);
	assert_string_equal(profile_get_string(f->p, m->filename), "/nowhere/lib.so");
	assert_string_equal(name_of(f, id), "");
	assert_int_equal(processes_counters(f->ps)[FILES_GONE], 1);
}

static void put_map(const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	SCOPED(fclose) FILE *out = fopen(path, "a");

	fputs(text, out);
}

static void generated_code_has_the_names_of_its_perf_map(void **state)
{
	struct fixture *f = *state;
	char *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[256];
	struct location l;
	uint32_t first, second;

	snprintf(line, sizeof(line), "%lx 100 made_first\n", (unsigned long)code);
	put_map(line);
	first = explain_native(f, (uintptr_t)code + 0x10, WIRE_FRAME_EXACT);
	l = profile_get_location(f->p, first);
	assert_string_equal(name_of(f, first), "made_first");
	assert_int_equal(l.kind, FRAME_JIT);
	assert_int_equal(l.tag, f->self->serial);
	/* The second is named later, in the map and then by us. */
	second = explain_native(f, (uintptr_t)code + 0x1000, 0);
	assert_string_equal(name_of(f, second), "");
	snprintf(line, sizeof(line), "%lx 100 made_\x1b[31mlater;\n", (unsigned long)code + 0xff0);
	put_map(line);
	usleep(100000);
	explain_symbolize(f->ex, NULL);
	assert_string_equal(name_of(f, second), "made_\x1b[31mlater;");
	assert_int_equal(explain_native(f, (uintptr_t)code + 0x10, WIRE_FRAME_EXACT), first);
	explain_drop_process(f->ex, f->self);
	munmap(code, 8192);
	snprintf(line, sizeof(line), "/tmp/perf-%d.map", getpid());
	unlink(line);
}

static void library_loaded_where_another_was_is_told_apart(void **state)
{
	struct fixture *f = *state;
	struct process_event map = { .type = PROCESS_MMAP,
				     .time_ns = 1,
				     .pid = getpid(),
				     .start = 0x700000,
				     .len = 0x1000,
				     .pgoff = 0x1000,
				     .name = "/nowhere/a.so" };
	uint32_t a, b;

	processes_apply(f->ps, &map);
	a = explain_native(f, 0x700010, 0);
	map.name = "/nowhere/b.so";
	processes_apply(f->ps, &map);
	b = explain_native(f, 0x700010, 0);
	assert_int_not_equal(a, b);
	map.name = "/nowhere/a.so";
	processes_apply(f->ps, &map);
	assert_int_equal(explain_native(f, 0x700010, 0), a);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(code_of_a_file_is_named_later),
		TEST(naming_stops_when_told_and_goes_on_later),
		TEST(return_address_is_shown_inside_its_call),
		TEST(same_frame_is_the_same_location),
		TEST(cache_never_answers_for_another_frame),
		TEST(guessed_frames_say_so),
		TEST(kernel_frames_have_their_names_at_once),
		TEST(stack_that_is_not_whole_has_a_mark_at_its_root),
		TEST(unknown_code_is_shown_as_unknown),
		TEST(file_that_is_gone_keeps_its_path_and_offset),
		TEST(generated_code_has_the_names_of_its_perf_map),
		TEST(library_loaded_where_another_was_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
