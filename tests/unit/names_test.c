// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exporter/names.h"
#include "exporter/who.h"
#include "tests/unit/sample_profile.h"

static void names_split_into_scope_and_method(void **state)
{
	static const struct {
		enum frame_kind kind;
		const char *name, *scope, *method;
	} cases[] = {
		{ FRAME_NATIVE, "main", "", "main" },
		{ FRAME_NATIVE, "foo.part.0", "", "foo.part.0" },
		{ FRAME_NATIVE, "a::B<int>::c(int, x::y)", "a::B<int>", "c" },
		{ FRAME_NATIVE, "void ns::call<a::b>(std::function<void (int)>)", "ns",
		  "call<a::b>" },
		{ FRAME_NATIVE, "(anonymous namespace)::f()", "(anonymous namespace)", "f" },
		{ FRAME_NATIVE, "ns::Op::operator()(int) const", "ns::Op", "operator()" },
		{ FRAME_NATIVE, "ns::operator<< <char>(std::ostream&)", "ns", "operator<< <char>" },
		{ FRAME_NATIVE, "ns::f(int)::{lambda(char)#1}::operator()(char) const",
		  "ns::f(int)::{lambda(char)#1}", "operator()" },
		{ FRAME_NATIVE, "run [clone .cold]", "", "run" },
		{ FRAME_NATIVE, "<alloc::vec::Vec<T> as core::Clone>::clone",
		  "<alloc::vec::Vec<T> as core::Clone>", "clone" },
		{ FRAME_NATIVE, "<fn(u8) -> u8 as ops::FnOnce<(u8,)>>::call_once",
		  "<fn(u8) -> u8 as ops::FnOnce<(u8,)>>", "call_once" },
		{ FRAME_JAVA, "com.example.Shop.checkout", "com.example.Shop", "checkout" },
		{ FRAME_JAVA, "com.example.Shop.<init>(int)", "com.example.Shop", "<init>" },
		{ FRAME_PYTHON, "shop.cart.Cart.total", "shop.cart.Cart", "total" },
		{ FRAME_PYTHON, "app.<lambda>", "app", "<lambda>" },
		{ FRAME_GO, "main.main", "main", "main" },
		{ FRAME_GO, "github.com/a.b/c.(*T).M", "github.com/a.b/c.(*T)", "M" },
		{ FRAME_GO, "slices.Map[go.shape.int]", "slices", "Map[go.shape.int]" },
		{ FRAME_JIT, "LazyCompile:~run /app/a.js:3", "", "LazyCompile:~run /app/a.js:3" },
		{ FRAME_MARK, "[truncated]", "", "[truncated]" },
		{ FRAME_NATIVE, "", "", "" },
		{ FRAME_NATIVE, "::", "", "::" },
		{ FRAME_NATIVE, "a::", "", "a::" },
		{ FRAME_NATIVE, "<<<<", "", "<<<<" },
		{ FRAME_NATIVE, ">>)(", "", ">>)" },
		{ FRAME_NATIVE, "operator", "", "operator" },
		{ FRAME_JAVA, "...", ".", "." },
		{ FRAME_GO, "a/", "", "a/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct name_parts parts = name_split(cases[i].name, cases[i].kind);
		char scope[128] = "", method[128] = "";

		memcpy(scope, parts.scope, parts.scope_len);
		memcpy(method, parts.method, parts.method_len);
		if (strcmp(scope, cases[i].scope) || strcmp(method, cases[i].method))
			fail_msg("%s: \"%s\" and \"%s\"", cases[i].name, scope, method);
	}
}

static void frame_without_a_symbol_goes_by_its_file(void **state)
{
	struct profile *p = sample_profile_empty();
	uint32_t libc = sample_mapping(p, "/usr/lib/libc.so.6", 0, 1, 0, "");
	char long_name[400];
	struct frame f;

	(void)state;
	location_frame(p, sample_location(p, FRAME_NATIVE, libc, 0x1234, 0, 0), 0, &f);
	assert_string_equal(f.name, "[libc.so.6]");
	location_frame(p, sample_location(p, FRAME_JIT, 0, 0x1234, 0, 0), 0, &f);
	assert_string_equal(f.name, "[unknown]");
	location_frame(p, 0, 0, &f);
	assert_string_equal(f.name, "[unknown]");
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	libc = sample_mapping(p, long_name, 0, 1, 0, "");
	location_frame(p, sample_location(p, FRAME_NATIVE, libc, UINT64_MAX, 0, 0), 0, &f);
	assert_string_equal(strchr(f.name, ']'), "]");
	libc = sample_mapping(p, "[vdso]", 0, 1, 0, "");
	location_frame(p, sample_location(p, FRAME_NATIVE, libc, 0x1234, 0, 0), 0, &f);
	assert_string_equal(f.name, "[vdso]");
	profile_free(p);
}

static void inlined_calls_are_frames_innermost_first(void **state)
{
	static const char *const names[] = { "std::min<int>(int const&, int const&)", "clamp(int)",
					     "app::Engine<int>::run(int)" };
	struct profile *p = sample_profile_empty();
	uint32_t id = sample_inlined(p, 0);
	struct frame f;

	(void)state;
	assert_int_equal(location_n_frames(p, id), 3);
	for (size_t i = 0; i < 3; i++) {
		location_frame(p, id, i, &f);
		assert_string_equal(f.name, names[i]);
		assert_int_equal(f.is_inline, i < 2);
	}
	profile_free(p);
}

static void program_is_neither_library_nor_kernel(void **state)
{
	static const struct {
		const char *path;
		bool is_program;
	} cases[] = {
		{ "/usr/bin/python3.11", true },
		{ "app", true },
		{ "/usr/lib/libc.so.6", false },
		{ "[kernel.kallsyms]", false },
		{ "[vdso]", false },
		{ "//anon", false },
		{ "/memfd:x (deleted)", true },
		{ "/usr/lib/a.so", false },
	};
	struct profile *p = sample_profile_empty();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
			mapping_is_program(p, sample_mapping(p, cases[i].path, i, i, 0, "")),
			cases[i].is_program);
	assert_false(mapping_is_program(p, 0));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_split_into_scope_and_method),
		cmocka_unit_test(frame_without_a_symbol_goes_by_its_file),
		cmocka_unit_test(inlined_calls_are_frames_innermost_first),
		cmocka_unit_test(program_is_neither_library_nor_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
