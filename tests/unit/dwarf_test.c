// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "core/filemap.h"
#include "symbolizer/dwarf.h"
#include "symbolizer/elf_file.h"
#include "tests/unit/compiled.h"

/* Three inlined calls deep, each on a line of its own. */
static const char inlined_c[] = "volatile int sink;\n"
				"static inline __attribute__((always_inline)) void inner(int x)\n"
				"{\n"
				"	sink = x * 3;\n" /* line 4 */
				"}\n"
				"static inline __attribute__((always_inline)) void middle(int x)\n"
				"{\n"
				"	inner(x + 1);\n" /* line 8 */
				"}\n"
				"static inline __attribute__((always_inline)) void outer(int x)\n"
				"{\n"
				"	middle(x ^ 5);\n" /* line 12 */
				"}\n"
				"void physical(int x)\n"
				"{\n"
				"	outer(x);\n" /* line 16 */
				"}\n"
				"int plain(int x)\n"
				"{\n"
				"	return x * 7 + sink;\n" /* line 20 */
				"}\n";

static void check_inlined(struct compiled *c, const char *command)
{
	static const struct {
		const char *name;
		uint32_t line, start_line;
	} expected[] = {
		{ "inner", 4, 2 },
		{ "middle", 8, 6 },
		{ "outer", 12, 10 },
		{ "physical", 16, 14 },
	};
	struct object *o;
	char path[128];
	uint64_t start, size, n_deep = 0;

	compiled_source(c, "a.c", inlined_c);
	if (!compiled_run(c, command))
		skip();
	o = compiled_open(c, "a.so");
	assert_string_equal(object_symbol_source(o), "dwarf");
	snprintf(path, sizeof(path), "%s/a.c", c->dir);
	assert_true(object_symbol(o, "physical", &start, &size));
	for (uint64_t vaddr = start; vaddr < start + size; vaddr++) {
		size_t n = compiled_lookup(c, o, vaddr);

		assert_true(n >= 1);
		assert_string_equal(
			profile_get_string(c->profile, compiled_function(c, n - 1)->name),
			"physical");
		if (n != 4)
			continue;
		/* Each function's own line in the middle; where the next one inwards is called
		 * around it. */
		for (size_t i = 1; i < 4; i++)
			assert_int_equal(c->lines[i].line, expected[i].line);
		for (size_t i = 0; i < 4; i++) {
			const struct function *f = compiled_function(c, i);

			assert_string_equal(profile_get_string(c->profile, f->name),
					    expected[i].name);
			assert_string_equal(profile_get_string(c->profile, f->system_name),
					    expected[i].name);
			assert_string_equal(profile_get_string(c->profile, f->filename), path);
			assert_int_equal(f->start_line, expected[i].start_line);
		}
		n_deep += c->lines[0].line == expected[0].line;
	}
	assert_true(n_deep > 0);
	assert_int_equal(compiled_lookup(c, o, compiled_symbol(o, "plain")), 1);
	assert_int_equal(compiled_function(c, 0)->start_line, 18);
}

static void gcc_dwarf5_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "gcc -O2 -g -gdwarf-5 -fPIC -shared -nostdlib -o a.so a.c");
}

static void gcc_dwarf2_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "gcc -O2 -g -gdwarf-2 -fPIC -shared -nostdlib -o a.so a.c");
}

static void gcc_dwarf64_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "gcc -O2 -g -gdwarf-5 -gdwarf64 -fPIC -shared -nostdlib -o a.so a.c");
}

static void gcc_lto_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "gcc -O2 -g -flto -fPIC -shared -nostdlib -o a.so a.c");
}

static void compressed_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "gcc -O2 -g -gz=zlib -fPIC -shared -nostdlib -o a.so a.c");
}

static void clang_dwarf4_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "clang -O2 -g -gdwarf-4 -fPIC -shared -nostdlib -o a.so a.c");
}

static void clang_dwarf5_inlines_are_three_deep(void **state)
{
	check_inlined(*state, "clang -O2 -g -gdwarf-5 -ffunction-sections -fPIC -shared -nostdlib "
			      "-fuse-ld=lld -o a.so a.c");
}

static void cpp_functions_are_qualified(void **state)
{
	static const char source[] =
		"volatile int sink;\n"
		"namespace ns { namespace { struct Local { __attribute__((noinline)) void "
		"method(int x) { sink = x; } }; }\n"
		"template <class T> __attribute__((noinline)) T twice(T x) { sink = 1; return x * "
		"2; }\n"
		"struct S { S(int x); int v; };\n"
		"S::S(int x) { v = twice(x); Local().method(v); } }\n"
		"extern \"C\" int entry(int x) { return ns::S(x).v + ns::twice(x * 1.5); }\n"
		"extern \"C\" int call(int x) { return [](int y) __attribute__((noinline)) { sink "
		"= y; return y; }(x); }\n";
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{ "_ZN2ns12_GLOBAL__N_15Local6methodEi",
		  "ns::(anonymous namespace)::Local::method(int)" },
		{ "_ZN2ns5twiceIiEET_S1_", "int ns::twice<int>(int)" },
		{ "_ZN2ns5twiceIdEET_S1_", "double ns::twice<double>(double)" },
		{ "_ZN2ns1SC1Ei", "ns::S::S(int)" },
		{ "entry", "entry" },
	};
	static const char *const commands[] = {
		"g++ -O2 -g -fPIC -shared -nostdlib -fno-ipa-icf -o a.so a.cpp",
		"clang++ -O2 -g -fPIC -shared -nostdlib -o a.so a.cpp",
	};
	struct compiled *c = *state;

	compiled_source(c, "a.cpp", source);
	for (size_t k = 0; k < 2; k++) {
		struct object *o;

		if (!compiled_run(c, commands[k]))
			skip();
		o = compiled_open(c, "a.so");
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			uint64_t vaddr, size;

			/* Compilers rename what they clone. */
			if (!object_symbol(o, cases[i].symbol, &vaddr, &size))
				continue;
			assert_string_equal(compiled_name(c, o, vaddr + size - 1), cases[i].name);
		}
		assert_true(compiled_symbol(o, "entry") > 0);
	}
}

static void names_without_linkage_name_are_qualified_by_their_scopes(void **state)
{
	static const char source[] =
		"volatile int sink;\n"
		"namespace outer { struct S { struct Inner { static inline "
		"__attribute__((always_inline)) void work(int x) { sink = x; } }; };\n"
		"namespace { inline __attribute__((always_inline)) void hidden(int x) { "
		"S::Inner::work(x); } } }\n"
		"extern \"C\" void entry(int x) { outer::hidden(x); }\n";
	struct compiled *c = *state;
	struct object *o;
	uint64_t start, size, n_deep = 0;

	compiled_source(c, "a.cpp", source);
	/* Renames the attribute: a file of a compiler that writes none. */
	if (!compiled_run(c, "g++ -O2 -g -gdwarf-4 -fPIC -shared -nostdlib -S a.cpp && "
			     "sed -i 's/\\.uleb128 0x6e\\t# (DW_AT_linkage_name)/.uleb128 0x3fe0/; "
			     "s/^\\t\\.uleb128 0x6e$/\\t.uleb128 0x3fe0/' a.s && g++ -shared "
			     "-nostdlib -o a.so a.s"))
		skip();
	o = compiled_open(c, "a.so");
	assert_true(object_symbol(o, "entry", &start, &size));
	for (uint64_t vaddr = start; vaddr < start + size; vaddr++) {
		if (compiled_lookup(c, o, vaddr) != 3)
			continue;
		n_deep++;
		assert_string_equal(profile_get_string(c->profile, compiled_function(c, 0)->name),
				    "outer::S::Inner::work");
		assert_string_equal(profile_get_string(c->profile, compiled_function(c, 1)->name),
				    "outer::(anonymous namespace)::hidden");
		assert_string_equal(profile_get_string(c->profile, compiled_function(c, 2)->name),
				    "entry");
	}
	assert_true(n_deep > 0);
}

static void check_rust(struct compiled *c, const char *command)
{
	static const char source[] =
		"fn black_box(x: u64) -> u64 { unsafe { std::ptr::read_volatile(&x) } }\n"
		"struct S(u64);\n"
		"impl S {\n"
		"    #[inline(always)]\n"
		"    fn step(&self, x: u64) -> u64 { black_box(x * self.0) }\n"
		"}\n"
		"#[inline(never)]\n"
		"fn work(s: &S, n: u64) -> u64 { (0..n).map(|i| s.step(i)).sum() }\n"
		"fn main() { println!(\"{}\", work(&S(3), black_box(10))); }\n";
	struct object *o;
	size_t n_step = 0;
	uint64_t start, size;

	compiled_source(c, "r.rs", source);
	if (!compiled_run(c, command))
		skip();
	o = compiled_open(c, "a.so");
	assert_true(object_function(o, object_entry(o), &start, &size));
	/* work() is found by its name: its symbol has a hash in it. */
	for (size_t i = 0, n; i < 3; i++) {
		const struct segment *s = object_segments(o, &n);

		for (uint64_t vaddr = s->vaddr; i == 0 && vaddr < s->vaddr + s->memsz && n_step < 3;
		     vaddr++) {
			if (!object_function(o, vaddr, &start, &size))
				continue;
			if (strcmp(compiled_name(c, o, vaddr), "r::work")) {
				vaddr = start + size - 1;
				continue;
			}
			for (size_t k = compiled_lookup(c, o, vaddr); k-- > 0;)
				if (!strcmp(profile_get_string(c->profile,
							       compiled_function(c, k)->name),
					    "r::S::step") ||
				    !strcmp(profile_get_string(c->profile,
							       compiled_function(c, k)->name),
					    "<r::S>::step"))
					n_step++;
		}
	}
	assert_true(n_step > 0);
}

static void rust_legacy_names_are_people_s(void **state)
{
	check_rust(*state, "rustc -O -g -C symbol-mangling-version=legacy -o a.so r.rs || rustc -O "
			   "-g -o a.so r.rs");
}

static void rust_v0_names_are_people_s(void **state)
{
	check_rust(*state, "rustc -O -g -C symbol-mangling-version=v0 -o a.so r.rs");
}

static void memory_stays_under_its_cap(void **state)
{
	struct compiled *c = *state;
	struct objects *os = objects_new(&(struct object_options){ .memory = 1 << 20 });
	SCOPED(close) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int err = 0;
	struct object *o = objects_get(os, fd, "/proc/self/exe", -1, &err);
	const struct segment *s;
	size_t n, most = 0;

	s = object_segments(o, &n);
	for (uint64_t vaddr = s->vaddr; vaddr < s->vaddr + s->memsz; vaddr++) {
		compiled_lookup(c, o, vaddr);
		if (vaddr % 512 == 0 && objects_memory(os) > most)
			most = objects_memory(os);
	}
	assert_true(most > 1 << 18);
	assert_true(most < 2 << 20);
	objects_free(os);
}

/* The sections of a file, each of which is then damaged in its own exact allocation. */
struct sections {
	struct elf_bytes bytes[7];
	uint64_t start, end;
};

static void ask_damaged(const struct sections *s, size_t which, const void *data, size_t len)
{
	struct dwarf_section parts[7];
	struct dwarf_frame frames[16];
	struct dwarf *d;

	for (size_t i = 0; i < 7; i++)
		parts[i] = i == which ? (struct dwarf_section){ data, len }
				      : (struct dwarf_section){ s->bytes[i].data, s->bytes[i].len };
	if (dwarf_new(&(struct dwarf_input){ .info = parts[0],
					     .abbrev = parts[1],
					     .line = parts[2],
					     .str = parts[3],
					     .line_str = parts[4],
					     .rnglists = parts[5],
					     .ranges = parts[6],
					     .text_start = s->start,
					     .text_end = s->end },
		      &d))
		return;
	for (uint64_t vaddr = s->start; vaddr < s->end; vaddr += 3)
		dwarf_find(d, vaddr, frames, 16);
	dwarf_free(d);
}

static void survives_mutation_of(struct compiled *c, const char *command)
{
	static const char *const names[7] = { ".debug_info",  ".debug_abbrev",	 ".debug_line",
					      ".debug_str",   ".debug_line_str", ".debug_rnglists",
					      ".debug_ranges" };
	struct sections s = { .start = 1 };
	char path[128];
	struct filemap *map;
	struct elf_section text;
	struct elf_file elf;
	int fd, err = 0;

	compiled_source(c, "a.c", inlined_c);
	if (!compiled_run(c, command))
		skip();
	snprintf(path, sizeof(path), "%s/a.so", c->dir);
	fd = open(path, O_RDONLY);
	map = filemap_new(fd, &err);
	close(fd);
	assert_int_equal(elf_file_init(&elf, filemap_data(map), filemap_len(map)), 0);
	assert_true(elf_file_section(&elf, ".text", &text));
	s.start = text.vaddr;
	s.end = s.start + text.size;
	for (size_t i = 0; i < 7; i++)
		elf_file_bytes(&elf, names[i], NULL, &s.bytes[i]);
	for (size_t i = 0; i < 7; i++) {
		size_t len = s.bytes[i].len;

		for (size_t cut = 0; cut < len; cut++) {
			SCOPED(free) uint8_t *copy = malloc(cut ? cut : 1);

			memcpy(copy, s.bytes[i].data, cut);
			ask_damaged(&s, i, copy, cut);
		}
		for (size_t bit = 0; i != 3 && i != 4 && bit < 8 * len; bit++) {
			SCOPED(free) uint8_t *copy = malloc(len);

			memcpy(copy, s.bytes[i].data, len);
			copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
			ask_damaged(&s, i, copy, len);
		}
	}
	elf_file_deinit(&elf);
	filemap_free(map);
}

static void dwarf5_survives_mutation(void **state)
{
	survives_mutation_of(
		*state,
		"gcc -O2 -g -gdwarf-5 -ffunction-sections -fPIC -shared -nostdlib -o a.so a.c");
}

static void dwarf3_survives_mutation(void **state)
{
	survives_mutation_of(*state, "gcc -O2 -g -gdwarf-3 -fPIC -shared -nostdlib -o a.so a.c");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, compiled_setup, compiled_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gcc_dwarf5_inlines_are_three_deep),
		TEST(gcc_dwarf2_inlines_are_three_deep),
		TEST(gcc_dwarf64_inlines_are_three_deep),
		TEST(gcc_lto_inlines_are_three_deep),
		TEST(compressed_inlines_are_three_deep),
		TEST(clang_dwarf4_inlines_are_three_deep),
		TEST(clang_dwarf5_inlines_are_three_deep),
		TEST(cpp_functions_are_qualified),
		TEST(names_without_linkage_name_are_qualified_by_their_scopes),
		TEST(rust_legacy_names_are_people_s),
		TEST(rust_v0_names_are_people_s),
		TEST(memory_stays_under_its_cap),
		TEST(dwarf5_survives_mutation),
		TEST(dwarf3_survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
