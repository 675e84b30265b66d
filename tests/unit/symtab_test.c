// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "core/filemap.h"
#include "symbolizer/symtab.h"
#include "tests/unit/compiled.h"
#include "tests/unit/mutation.h"

static void assembly_is_named(void **state)
{
	static const char source[] = "	.text\n"
				     "	.globl sized, unsized, after, _under, __under, inner\n"
				     "	.type sized, @function\n	.type unsized, "
				     "@function\n	.type after, @function\n"
				     "	.type _under, @function\n	.type __under, "
				     "@function\n	.type inner, @function\n"
				     "sized:	.skip 64\n"
				     "	.size sized, 64\n"
				     "gap:	.skip 16\n"
				     "unsized:	.skip 32\n"
				     "local_label:	.skip 32\n"
				     "after:	.skip 8\n"
				     "inner:	.skip 8\n	.size inner, 8\n"
				     "tail:	.skip 48\n	.size after, 64\n"
				     "__under:\n_under:	.skip 16\n	.size _under, 16\n	"
				     ".size __under, 16\n";
	static const struct {
		const char *base;
		uint64_t offset;
		const char *name;
	} cases[] = {
		{ "sized", 0, "sized" },
		{ "sized", 63, "sized" },
		{ "sized", 64, "gap" },
		{ "sized", 79, "gap" },
		{ "unsized", 0, "unsized" },
		{ "unsized", 31, "unsized" },
		/* A label inside of a function is not a function. */
		{ "unsized", 32, "unsized" },
		{ "unsized", 63, "unsized" },
		{ "after", 0, "after" },
		{ "after", 9, "inner" },
		{ "after", 20, "after" },
		{ "_under", 3, "_under" },
	};
	struct compiled *c = *state;
	struct object *o;

	compiled_source(c, "a.s", source);
	if (!compiled_run(c, "gcc -nostdlib -shared -o a.so a.s"))
		skip();
	o = compiled_open(c, "a.so");
	assert_string_equal(object_symbol_source(o), "symtab");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(
			compiled_name(c, o, compiled_symbol(o, cases[i].base) + cases[i].offset),
			cases[i].name);
		assert_int_equal(c->flags, 0);
	}
}

static const char folded_source[] = "template <class T> __attribute__((noinline)) void fill(T *p, "
				    "T v, int n) { for (int i = 0; i < n; i++) p[i] = v; }\n"
				    "template void fill<int>(int *, int, int);\n"
				    "template void fill<unsigned>(unsigned *, unsigned, int);\n"
				    "struct A { A(); }; A::A() {}\n"
				    "extern \"C\" int twice_a(int x) { return x * 2 + 77; }\n"
				    "extern \"C\" int other_b(int x) { return x * 2 + 77; }\n"
				    "extern \"C\" int alone(int x) { return x * 3 + 77; }\n";

static void check_folded(struct compiled *c, const char *command)
{
	struct object *o;
	const char *name;

	compiled_source(c, "f.cpp", folded_source);
	if (!compiled_run(c, command))
		skip();
	o = compiled_open(c, "f.so");
	name = compiled_name(c, o, compiled_symbol(o, "_Z4fillIiEvPT_S0_i") + 1);
	assert_true(c->flags & LOCATION_FOLDED);
	assert_true(!strcmp(name, "void fill<int>(int*, int, int) (=void fill<unsigned "
				  "int>(unsigned int*, unsigned int, int))") ||
		    !strcmp(name, "void fill<unsigned int>(unsigned int*, unsigned int, int) "
				  "(=void fill<int>(int*, int, int))"));
	name = compiled_name(c, o, compiled_symbol(o, "twice_a") + 1);
	assert_true(c->flags & LOCATION_FOLDED);
	assert_true(!strcmp(name, "twice_a (=other_b)") || !strcmp(name, "other_b (=twice_a)"));
	assert_string_equal(compiled_name(c, o, compiled_symbol(o, "alone") + 1), "alone");
	assert_int_equal(c->flags, 0);
	/* C1 and C2 are one constructor. */
	assert_string_equal(compiled_name(c, o, compiled_symbol(o, "_ZN1AC1Ev")), "A::A()");
	assert_int_equal(c->flags, 0);
}

static void functions_folded_by_gold_are_all_named(void **state)
{
	check_folded(
		*state,
		"g++ -O2 -fPIC -shared -nostdlib -ffunction-sections -fno-ipa-icf -fuse-ld=gold "
		"-Wl,--icf=all -o f.so f.cpp");
}

static void functions_folded_by_lld_are_all_named(void **state)
{
	check_folded(
		*state,
		"g++ -O2 -fPIC -shared -nostdlib -ffunction-sections -fno-ipa-icf -fuse-ld=lld "
		"-Wl,--icf=all -o f.so f.cpp");
}

static void functions_folded_before_dwarf_are_all_named(void **state)
{
	check_folded(
		*state,
		"g++ -O2 -g -fPIC -shared -nostdlib -ffunction-sections -fno-ipa-icf -fuse-ld=gold "
		"-Wl,--icf=all -o f.so f.cpp");
}

static void functions_folded_by_gcc_are_all_named(void **state)
{
	static const char source[] =
		"static __attribute__((noinline)) int first(int x) { return x * 5 + 1; }\n"
		"static __attribute__((noinline)) int second(int x) { return x * 5 + 1; }\n"
		"int use(int x) { return first(x) ^ second(x + 1); }\n";
	struct compiled *c = *state;
	struct object *o;
	const char *name;
	uint64_t vaddr;

	compiled_source(c, "g.c", source);
	if (!compiled_run(c, "gcc -O2 -fPIC -shared -nostdlib -o g.so g.c && test $(nm g.so | grep "
			     "-cE 'first|second') = 2"))
		skip();
	o = compiled_open(c, "g.so");
	vaddr = compiled_symbol(o, "first");
	name = compiled_name(c, o, vaddr);
	assert_true(!strcmp(name, "first (=second)") || !strcmp(name, "second (=first)"));
	assert_true(c->flags & LOCATION_FOLDED);
}

static void symbol_versions_are_cut(void **state)
{
	struct compiled *c = *state;
	struct object *o;

	compiled_source(c, "v.c",
			"__asm__(\".symver old_f,f@V_1\"); __asm__(\".symver new_f,f@@V_2\");\n"
			"int old_f(void) { return 1; }\nint new_f(void) { return 2; }\n");
	compiled_source(c, "v.map", "V_1 { global: f; local: *; }; V_2 { global: f; } V_1;\n");
	if (!compiled_run(c, "gcc -fPIC -shared -nostdlib -Wl,--version-script=v.map -o v.so v.c"))
		skip();
	o = compiled_open(c, "v.so");
	assert_string_equal(compiled_name(c, o, compiled_symbol(o, "f")), "f");
	assert_int_equal(c->flags, 0);
}

static void plt_stubs_are_named_after_their_function(void **state)
{
	static const char *const commands[] = {
		"g++ -O1 -fPIC -shared -nostdlib -fcf-protection=none -Wl,-z,lazy -o p.so p.cpp",
		"g++ -O1 -fPIC -shared -nostdlib -fcf-protection=full -Wl,-z,ibtplt -o p.so p.cpp",
		"g++ -O1 -fPIC -shared -nostdlib -fuse-ld=lld -o p.so p.cpp",
		"g++ -O1 -fPIC -shared -nostdlib -s -fuse-ld=gold -o p.so p.cpp",
	};
	struct compiled *c = *state;

	compiled_source(
		c, "p.cpp",
		"namespace ns { void far(int); } extern \"C\" void near_by(int);\n"
		"extern \"C\" void call(int x) { ns::far(x); near_by(x); ns::far(x + 1); }\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		size_t n, n_far = 0, n_near = 0, n_call = 0;
		const struct segment *s;
		struct object *o;

		if (!compiled_run(c, commands[i]))
			continue;
		o = compiled_open(c, "p.so");
		s = object_segments(o, &n);
		for (uint64_t vaddr = s->vaddr; vaddr < s->vaddr + s->memsz; vaddr++) {
			const char *name = compiled_name(c, o, vaddr);

			n_far += !strcmp(name, "ns::far(int)@plt");
			n_near += !strcmp(name, "near_by@plt");
			n_call += !strcmp(name, "call");
		}
		assert_int_equal(n_far, 16);
		assert_int_equal(n_near, 16);
		assert_true(n_call > 16);
	}
}

struct table {
	struct filemap *map;
	struct elf_file elf;
	struct symtab *symtab;
};

static bool open_table(struct table *t, const char *path, const char *section)
{
	SCOPED(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	*t = (struct table){ .map = fd < 0 ? NULL : filemap_new(fd, &err) };
	return t->map && !elf_file_init(&t->elf, filemap_data(t->map), filemap_len(t->map)) &&
	       !symtab_new(&t->elf, section, NULL, &t->symtab);
}

static void close_table(struct table *t)
{
	symtab_free(t->symtab);
	elf_file_deinit(&t->elf);
	filemap_free(t->map);
}

static const char *libc_path(void)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6",
					     "/usr/lib/libc.so.6" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (!access(paths[i], R_OK))
			return paths[i];
	return "";
}

static void aliases_of_libc_have_one_good_name(void **state)
{
	static const char *const names[] = {
		"read", "write",  "malloc", "free",	 "fopen",
		"puts", "memcpy", "open",   "nanosleep", "pthread_mutex_lock"
	};
	struct table t;
	uint64_t vaddr, size;
	struct symbol s;

	(void)state;
	if (!open_table(&t, libc_path(), ".dynsym"))
		skip();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *folded[4];

		assert_true(symtab_by_name(&t.elf, ".dynsym", names[i], &vaddr, &size));
		assert_true(symtab_find(t.symtab, vaddr + 1, &s));
		assert_int_equal(s.start, vaddr);
		assert_true(s.name[0] != '_');
		assert_int_equal(symtab_folded(t.symtab, &s, folded, 4), 0);
	}
	assert_true(symtab_by_name(&t.elf, ".dynsym", "__read", &vaddr, &size));
	assert_true(symtab_find(t.symtab, vaddr, &s));
	assert_string_equal(s.name, "read");
	close_table(&t);
}

static void every_function_that_nm_lists_is_found(void **state)
{
	FILE *f = popen("nm -S /proc/$PPID/exe 2>/dev/null", "r");
	unsigned long start, size;
	char type, name[512];
	struct table t;
	struct symbol s;
	size_t n = 0;

	(void)state;
	if (!f || !open_table(&t, "/proc/self/exe", ".symtab"))
		skip();
	for (char line[1024]; fgets(line, sizeof(line), f);) {
		if (sscanf(line, "%lx %lx %c %511s", &start, &size, &type, name) != 4 ||
		    !strchr("TtWi", type))
			continue;
		for (int at_end = 0; at_end < 2; at_end++) {
			assert_true(symtab_find(t.symtab, at_end ? start + size - 1 : start, &s));
			assert_int_equal(s.start, start);
			assert_int_equal(s.size, size);
		}
		n++;
	}
	pclose(f);
	assert_true(n > 100);
	assert_true(symtab_memory(t.symtab) >= n * 16);
	close_table(&t);
}

static void ask_damaged(const uint8_t *data, size_t len)
{
	struct symtab *t = NULL;
	struct elf_file elf;
	const char *folded[4];
	struct symbol s;

	if (elf_file_init(&elf, data, len) < 0)
		return;
	if (!symtab_new(&elf, ".symtab", NULL, &t))
		for (uint64_t vaddr = 0; vaddr < 0x3000; vaddr += 0x40)
			if (symtab_find(t, vaddr, &s))
				symtab_folded(t, &s, folded, 4);
	symtab_free(t);
	elf_file_deinit(&elf);
}

static void survives_mutation(void **state)
{
	struct compiled *c = *state;
	char path[128];
	int err = 0, fd;
	struct filemap *map;

	compiled_source(c, "m.s",
			".globl f,g\n.type f,@function\n.type g,@function\nf:\ng: nop\n.size "
			"f,1\n.size g,1\nl: nop\n");
	if (!compiled_run(c, "gcc -nostdlib -shared "
			     "-Wl,-z,noseparate-code,-z,norelro,--hash-style=sysv -o m.so m.s"))
		skip();
	snprintf(path, sizeof(path), "%s/m.so", c->dir);
	fd = open(path, O_RDONLY);
	map = filemap_new(fd, &err);
	close(fd);
	mutate(filemap_data(map), filemap_len(map), ask_damaged);
	filemap_free(map);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, compiled_setup, compiled_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(assembly_is_named),
		TEST(functions_folded_by_gold_are_all_named),
		TEST(functions_folded_by_lld_are_all_named),
		TEST(functions_folded_before_dwarf_are_all_named),
		TEST(functions_folded_by_gcc_are_all_named),
		TEST(symbol_versions_are_cut),
		TEST(plt_stubs_are_named_after_their_function),
		TEST(aliases_of_libc_have_one_good_name),
		TEST(every_function_that_nm_lists_is_found),
		TEST(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
