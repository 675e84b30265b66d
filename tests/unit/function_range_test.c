// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/filemap.h"
#include "symbolizer/function_range.h"
#include "symbolizer/symtab.h"
#include "tests/unit/compiled.h"
#include "tests/unit/mutation.h"

struct opened {
	struct filemap *map;
	struct elf_file elf;
	struct function_ranges ranges;
};

static void open_elf(struct opened *f, const struct compiled *c, const char *name)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	f->map = filemap_new(fd, &err);
	close(fd);
	assert_non_null(f->map);
	assert_int_equal(elf_file_init(&f->elf, filemap_data(f->map), filemap_len(f->map)), 0);
	function_ranges_init(&f->ranges, &f->elf);
}

static void close_elf(struct opened *f)
{
	elf_file_deinit(&f->elf);
	filemap_free(f->map);
}

/* Functions with handlers and destructors: their CIEs bring a personality and an LSDA along. */
static const char source[] =
	"struct A { A(); ~A(); };\n"
	"extern \"C\" int g(int);\n"
	"extern \"C\" int plain(int x) { return x * 3; }\n"
	"extern \"C\" int careful(int x) { A a; return g(x) + 1; }\n"
	"extern \"C\" int catches(int x) { try { return g(x); } catch (int n) { return n; } }\n"
	"extern \"C\" __attribute__((noinline)) int last(int x) { return x ? g(x) / x : 0; }\n";

static void build(struct compiled *c, const char *options)
{
	char command[256];

	compiled_source(c, "r.cpp", source);
	snprintf(command, sizeof(command),
		 "g++ -O1 -shared -fPIC %s -o r.so r.cpp && cp r.so s.so && strip s.so", options);
	if (!compiled_run(c, command))
		skip();
}

static void check_ranges(struct compiled *c)
{
	static const char *const names[] = { "plain", "careful", "catches", "last" };
	struct opened whole, stripped;

	open_elf(&whole, c, "r.so");
	open_elf(&stripped, c, "s.so");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct function_range r, below;
		uint64_t start, size;

		assert_true(symtab_by_name(&whole.elf, ".symtab", names[i], &start, &size));
		for (uint64_t at = 0; at < size; at++) {
			assert_true(function_range_find(&stripped.ranges, start + at, &r));
			assert_int_equal(r.start, start);
			assert_int_equal(r.size, size);
			assert_true(function_range_below(&stripped.ranges, start + at, &below));
			assert_int_equal(below.start, start);
		}
		if (function_range_find(&stripped.ranges, start + size, &r))
			assert_int_equal(r.start, start + size);
	}
	close_elf(&stripped);
	close_elf(&whole);
}

static void ranges_are_the_functions_of_a_stripped_file(void **state)
{
	build(*state, "");
	check_ranges(*state);
}

static void ranges_of_every_linker_are_read(void **state)
{
	static const char *const options[] = { "-fuse-ld=gold", "-fuse-ld=lld",
					       "-fuse-ld=bfd -mcmodel=large",
					       "-fno-dwarf2-cfi-asm" };

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		build(*state, options[i]);
		check_ranges(*state);
	}
}

static void ranges_are_found_without_section_headers(void **state)
{
	struct function_range want, r;
	struct opened f;

	build(*state, "");
	open_elf(&f, *state, "s.so");
	assert_true(f.ranges.n > 4);
	assert_true(function_range_below(&f.ranges, UINT64_MAX, &want));
	f.elf.n_sections = 0;
	function_ranges_init(&f.ranges, &f.elf);
	assert_true(function_range_below(&f.ranges, UINT64_MAX, &r));
	assert_memory_equal(&r, &want, sizeof(r));
	close_elf(&f);
}

static void there_are_none_outside_of_code(void **state)
{
	struct compiled *c = *state;
	struct function_range r;
	struct opened f;

	build(c, "");
	open_elf(&f, c, "s.so");
	assert_false(function_range_below(&f.ranges, 0, &r));
	assert_false(function_range_find(&f.ranges, 0, &r));
	assert_false(function_range_find(&f.ranges, UINT64_MAX, &r));
	close_elf(&f);
	if (!compiled_run(c, "objcopy --only-keep-debug r.so d.so"))
		skip();
	open_elf(&f, c, "d.so");
	assert_int_equal(f.ranges.n, 0);
	assert_false(function_range_find(&f.ranges, 0x1100, &r));
	close_elf(&f);
	if (!compiled_run(c, "g++ -O1 -shared -fPIC -nostdlib -Wl,--no-eh-frame-hdr -o n.so r.cpp"))
		skip();
	open_elf(&f, c, "n.so");
	assert_int_equal(f.ranges.n, 0);
	close_elf(&f);
}

static void ask_damaged(const uint8_t *data, size_t len)
{
	struct function_ranges ranges;
	struct function_range r;
	struct elf_file elf;

	if (elf_file_init(&elf, data, len) < 0)
		return;
	function_ranges_init(&ranges, &elf);
	for (uint64_t vaddr = 0; vaddr < 0x800; vaddr += 0x40)
		if (function_range_find(&ranges, vaddr, &r))
			assert_true(vaddr - r.start < r.size);
	function_range_below(&ranges, UINT64_MAX, &r);
	elf_file_deinit(&elf);
}

static void survives_mutation(void **state)
{
	struct compiled *c = *state;
	struct opened f;

	compiled_source(c, "r.cpp", source);
	if (!compiled_run(c, "g++ -O1 -shared -fPIC -nostdlib -Wl,-z,noseparate-code,-z,norelro,"
			     "--hash-style=sysv,--build-id=none -o m.so r.cpp && strip m.so"))
		skip();
	open_elf(&f, c, "m.so");
	assert_true(f.ranges.n >= 4);
	mutate(filemap_data(f.map), filemap_len(f.map), ask_damaged);
	close_elf(&f);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, compiled_setup, compiled_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ranges_are_the_functions_of_a_stripped_file),
		TEST(ranges_of_every_linker_are_read),
		TEST(ranges_are_found_without_section_headers),
		TEST(there_are_none_outside_of_code),
		TEST(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
