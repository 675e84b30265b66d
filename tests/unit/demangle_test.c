// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
		{ "_ZN1AcvT_IiEEv", "A::operator int<int>()" },
		/* A lambda's function, whose class is a template's argument. */
		{ "_ZZNSt9once_flag18_Prepare_executionC4IZSt9call_onceIRFvvEJEEvRS_OT_DpOT0_"
		  "EUlvE_EERS6_ENUlvE_4_FUNEv",
		  "std::once_flag::_Prepare_execution::_Prepare_execution<std::call_once<void "
		  "(&)()>"
		  "(std::once_flag&, void (&)())::{lambda()#1}>(void "
		  "(&)())::{lambda()#1}::_FUN()" },
		/* "sr" as older compilers wrote it. */
		{ "_ZN4llvm10checkedAddIiEENSt9enable_ifIXsr3std9is_signedIT_EE5valueENS_8Optional"
		  "IS2_EEE4typeES2_S2_",
		  "std::enable_if<std::is_signed<int>::value, llvm::Optional<int> >::type "
		  "llvm::checkedAdd<int>(int, int)" },
		{ "_GLOBAL__I__Z3foov", "global constructors keyed to foo()" },
		{ "_GLOBAL__D_foo", "global destructors keyed to foo" },
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
		{ "_GLOBAL__", NULL },
		{ "_GLOBAL__I_", NULL },
	};

	(void)state;
	CHECK(names);
}

static void names_of_kilobytes_are_demangled(void **state)
{
	char mangled[8000] = "_Z1fIJ", plain[8000] = "void f<";

	(void)state;
	for (int i = 0; i < 400; i++) {
		sprintf(mangled + strlen(mangled), "3tagILi%dEE", i);
		sprintf(plain + strlen(plain), "%stag<%d>", i ? ", " : "", i);
	}
	strcat(mangled, "EEvv");
	strcat(plain, " >()");
	CHECK(((struct name[]){ { mangled, plain } }));
}

static char *repeat(char *at, const char *part, int n)
{
	while (n--)
		at = stpcpy(at, part);
	return at;
}

/* A substitution by its number. */
static char *put_substitution(char *at, int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	*at++ = 'S';
	if (n > 36)
		*at++ = digits[(n - 1) / 36];
	if (n)
		*at++ = digits[(n - 1) % 36];
	*at++ = '_';
	*at = 0;
	return at;
}

/* Each parameter is twice the one before: 2^n names to print. */
static void write_doubling(char *at, int n)
{
	at = stpcpy(at, "_Z1f1aI1b1bE");
	for (int i = 0; i < n; i++) {
		at = put_substitution(stpcpy(at, "S_I"), i + 3);
		at = stpcpy(put_substitution(at, i + 3), "E");
	}
}

/* The same inside a pack expansion, which is searched before anything is printed. */
static void write_pack_search(char *at, int n)
{
	at = repeat(stpcpy(at, "_Z1fDp"), "1aI", n);
	at = stpcpy(at, "1b1bE");
	for (int i = 0; i < n - 1; i++)
		at = stpcpy(put_substitution(at, n + 2 + i), "E");
}

/* Each parameter refers to a pack of two parameters of the next template, and the last is empty. */
static void write_parameters(char *at, int n)
{
	at = repeat(stpcpy(at, "_Z1fIJJEEEv"), "Z1gIJJT_T_EEEv", n);
	repeat(stpcpy(at, "T_"), "E1x", n);
}

/* The parser tries each list of arguments twice. */
static void write_conversion(char *at, int n)
{
	at = repeat(stpcpy(at, "_ZN1acv"), "T_I", n);
	stpcpy(repeat(stpcpy(at, "i"), "E", n), "Ev");
}

/* Four ways to 2^n steps: printed as long as they are few, refused before they are taken. The
 * second to fourth write nothing meanwhile. Without the bounds this test would take years. */
static void a_hostile_name_costs_bounded_work(void **state)
{
	static void (*const write[])(char *at, int n) = { write_doubling, write_pack_search,
							  write_parameters, write_conversion };
	char name[4000];

	(void)state;
	for (size_t i = 0; i < sizeof(write) / sizeof(*write); i++) {
		SCOPED(free) char *small = NULL;

		write[i](name, 4);
		small = demangle(name);
		assert_int_equal(small != NULL, write[i] != write_conversion);
		for (int n = 30; n <= 60; n += 10) {
			write[i](name, n);
			assert_null(demangle(name));
		}
	}
	write_doubling(name, 13); /* little work, too much text */
	assert_null(demangle(name));
}

static void hostile_names_do_not_exhaust_the_stack(void **state)
{
	static const char *const parts[] = { "P",  "Z",	 "N",	"F",  "1aI", "Z1fvEUl", "LZ",
					     "de", "Dt", "T_I", "KF", "A_",  "J",	"i" };
	char name[9000];

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		repeat(stpcpy(name, "_Z1f"), parts[i], 8000 / (int)strlen(parts[i]));
		free(demangle(name));
		repeat(stpcpy(name, "_ZN1aIX"), parts[i], 8000 / (int)strlen(parts[i]));
		free(demangle(name));
	}
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	memcpy(name, "_Z", 2);
	assert_null(demangle(name));
}

/* In a process of its own: its end would be a signal. */
static void a_small_stack_is_enough(void **state)
{
	char name[9000];
	int status;

	(void)state;
	repeat(stpcpy(name, "_Z1f"), "P", 8000);
	strcat(name, "i");
	if (!fork()) {
		struct rlimit small = { 512 << 10, 512 << 10 };
		SCOPED(free) char *plain = NULL;

		setrlimit(RLIMIT_STACK, &small);
		if (demangle(name))
			_exit(1);
		plain = demangle("_ZN3foo3barEi");
		_exit(!plain);
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
}

static void survives_mutation(void **state)
{
	static const char *const good[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi.cold",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		"_RINvNtC3std3mem8align_ofdE",
		"_ZZ4mainENKUlvE_clEv@@V_1",
		"_GLOBAL__I__Z3foov",
		"_ZN1AcvT_IJiiEEEDpRT_",
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
		cmocka_unit_test(a_small_stack_is_enough), /* first: a stack that grew stays */
		cmocka_unit_test(cpp_names_have_their_parameters),
		cmocka_unit_test(clone_suffixes_stay_visible),
		cmocka_unit_test(rust_hashes_are_dropped),
		cmocka_unit_test(versions_are_cut_and_plain_names_left_alone),
		cmocka_unit_test(names_of_kilobytes_are_demangled),
		cmocka_unit_test(a_hostile_name_costs_bounded_work),
		cmocka_unit_test(hostile_names_do_not_exhaust_the_stack),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
