// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "symbolizer/demangle.h"

struct name {
	const char *mangled, *plain;
};

static void check(const struct name *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SCOPED(free) char *plain = demangle(names[i].mangled);

		if (!names[i].plain) {
			assert_null(plain);
			continue;
		}
		assert_non_null(plain);
		assert_string_equal(plain, names[i].plain);
	}
}

#define CHECK(names) check(names, sizeof(names) / sizeof(*(names)))

static void cpp_names_have_their_parameters(void **state)
{
	static const struct name names[] = {
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
		{ "_ZN1AC1Ev", "A::A()" },
		{ "_ZN1AC2Ev", "A::A()" },
		{ "_ZN1AC4Ev", "A::A()" },
		{ "_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()" },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const" },
	};

	(void)state;
	CHECK(names);
}

static void clone_suffixes_stay_visible(void **state)
{
	static const struct name names[] = {
		{ "_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]" },
		{ "_ZN3foo3barEi.constprop.0", "foo::bar(int) [clone .constprop.0]" },
		{ "_ZN3foo3barEi.part.0.isra.1", "foo::bar(int) [clone .part.0.isra.1]" },
		{ "_RNvCs1234_7mycrate3foo.llvm.123", "mycrate::foo [clone .llvm.123]" },
		{ "_ZN7mycrate3foo17h0123456789abcdefE.llvm.7", "mycrate::foo [clone .llvm.7]" },
	};

	(void)state;
	CHECK(names);
}

static void rust_hashes_are_dropped(void **state)
{
	static const struct name names[] = {
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$"
		  "closure$u7d$$u7d$$GT$"
		  "17h0123456789abcdefE",
		  "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
		/* A C++ function may be called h. */
		{ "_ZN3foo1hEv", "foo::h()" },
	};

	(void)state;
	CHECK(names);
}

static void versions_are_cut_and_plain_names_left_alone(void **state)
{
	static const struct name names[] = {
		{ "_ZN3foo3barEi@@V_1", "foo::bar(int)" },
		{ "_ZN3foo3barEi@V_1", "foo::bar(int)" },
		{ "main", NULL },
		{ "", NULL },
		{ "_", NULL },
		{ "_Z", NULL },
		{ "_Zqq", NULL },
		{ "_ZN", NULL },
		{ "_R", NULL },
		{ "_Reset", NULL },
		{ "memcpy@@GLIBC_2.14", NULL },
		{ "main.main", NULL },
	};

	(void)state;
	CHECK(names);
}

/* Names that made demanglers recurse or grow without end. */
static void hostile_names_cost_little(void **state)
{
	static char deep[60000], long_name[100000];

	(void)state;
	memcpy(deep, "_Z1f", 4);
	memset(deep + 4, 'P', sizeof(deep) - 6);
	deep[sizeof(deep) - 2] = 'i';
	free(demangle(deep));
	memcpy(deep, "_RNv", 4);
	memset(deep + 4, 'N', sizeof(deep) - 5);
	free(demangle(deep));
	memset(deep + 2, 'Z', sizeof(deep) - 3);
	deep[1] = 'Z';
	free(demangle(deep));
	memset(long_name, 'a', sizeof(long_name) - 1);
	memcpy(long_name, "_Z", 2);
	assert_null(demangle(long_name));
	/* Each substitution doubles the text. */
	strcpy(deep, "_Z1fI1aE");
	for (int i = 0; i < 60; i++)
		strcat(deep, "I1bIS_S_EE");
	free(demangle(deep));
}

static void survives_mutation(void **state)
{
	static const char *const good[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi.cold",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		"_RINvNtC3std3mem8align_ofdE",
		"_ZZ4mainENKUlvE_clEv@@V_1",
	};

	(void)state;
	for (size_t g = 0; g < sizeof(good) / sizeof(*good); g++) {
		size_t len = strlen(good[g]);

		for (size_t cut = 0; cut <= len; cut++) {
			SCOPED(free) char *part = strndup(good[g], cut);

			free(demangle(part));
		}
		for (size_t bit = 0; bit < 8 * len; bit++) {
			SCOPED(free) char *flipped = strdup(good[g]);

			flipped[bit / 8] ^= (char)(1 << bit % 8);
			free(demangle(flipped));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_names_have_their_parameters),
		cmocka_unit_test(clone_suffixes_stay_visible),
		cmocka_unit_test(rust_hashes_are_dropped),
		cmocka_unit_test(versions_are_cut_and_plain_names_left_alone),
		cmocka_unit_test(hostile_names_cost_little),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
