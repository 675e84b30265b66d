// SPDX-License-Identifier: Apache-2.0
/* The names are made by hand from the grammar, but for those that say where they are from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "symbolizer/rust_v0.h"

struct name {
	const char *mangled, *plain;
};

static void check(const struct name *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		SCOPED(free) char *plain = rust_v0_demangle(names[i].mangled);

		if (!plain)
			fail_msg("%s is refused", names[i].mangled);
		assert_string_equal(plain, names[i].plain);
	}
}

#define CHECK(names) check(names, sizeof(names) / sizeof(*(names)))

static void paths_are_shown_without_disambiguators(void **state)
{
	static const struct name names[] = {
		/* The rustc book's examples. */
		{ "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
		  "<std::path::PathBuf>::new" },
		{ "_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example" },
		{ "_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
		  "<mycrate::Example as mycrate::Trait>::foo" },
		{ "_RNvYNtCs15kBYyAo9fc_7mycrate7ExampleNtB4_5Trait7exampleB4_",
		  "<mycrate::Example as mycrate::Trait>::example" },
		{ "_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_", "mycrate::example::<i32, 1>" },
		{ "_RNvNvNvCs7qp2U7fqm6G_7mycrate7EXAMPLE7___getit5___KEY$tlv$init",
		  "mycrate::EXAMPLE::__getit::__KEY" },
		{ "_RNvC1a1f.llvm.123", "a::f" },
		{ "_RINvC1a1fINtC1a1bhEE", "a::f::<a::b<u8>>" },
		{ "_RC4f128", "f128" },
	};

	(void)state;
	CHECK(names);
}

static void closures_and_shims_are_numbered(void **state)
{
	static const struct name names[] = {
		{ "_RNCNvC1a4main0", "a::main::{closure#0}" },
		{ "_RNCNCNvC1a4mains_0s0_0", "a::main::{closure#1}::{closure#2}" },
		{ "_RNSNvC1a1f6vtable", "a::f::{shim:vtable#0}" },
		{ "_RNXNvC1a1fs_3abc", "a::f::{X:abc#1}" },
		{ "_RNxC1a0", "a" },
	};

	(void)state;
	CHECK(names);
}

static void types_read_as_in_a_source(void **state)
{
	static const struct name names[] = {
		{ "_RIC1aabcdefhijlE",
		  "a::<i8, bool, char, f64, str, f32, u8, isize, usize, i32>" },
		{ "_RIC1amnopstuvxyzE", "a::<u32, i128, u128, _, i16, u16, (), ..., i64, u64, !>" },
		{ "_RIC1aAhj8_E", "a::<[u8; 8]>" },
		{ "_RIC1aShTEThEThiEE", "a::<[u8], (), (u8,), (u8, isize)>" },
		{ "_RIC1aRhQhPhOhRL_hE", "a::<&u8, &mut u8, *const u8, *mut u8, &u8>" },
		{ "_RIC1aFEuFhiEhFUKCEuFK9sysv64_xyEuE",
		  "a::<fn(), fn(u8, isize) -> u8, unsafe extern \"C\" fn(), "
		  "extern \"sysv64-xy\" fn()>" },
		{ "_RIC1aFG0_RL1_hQL0_hEuE", "a::<for<'a, 'b> fn(&'a u8, &'b mut u8)>" },
		{ "_RIC1aFG_RL0_FG_RL0_RL1_hEuEuE", "a::<for<'a> fn(&'a for<'b> fn(&'b &'a u8))>" },
		{ "_RIC1aL_hE", "a::<'_, u8>" },
		{ "_RIC1aWmRm0_m63_E", "a::<u32 is 0..=99>" },
		{ "_RIC1aWmORm0_m1_Rm3_m4_EWPhNE",
		  "a::<u32 is 0..=1 | 3..=4, *const u8 is !null>" },
	};

	(void)state;
	CHECK(names);
}

static void trait_objects_have_their_associated_types(void **state)
{
	static const struct name names[] = {
		{ "_RIC1aDNtB0_1TEL_E", "a::<dyn a::T>" },
		{ "_RIC1aDNtC1a1TNtC1a4SendEL_E", "a::<dyn a::T + a::Send>" },
		{ "_RIC1aDNtC1a1Tp3Outup3KonKh5_EL_E", "a::<dyn a::T<Out = (), Kon = 5>>" },
		{ "_RIC1aDINtC1a1ThEp3OutuEL_E", "a::<dyn a::T<u8, Out = ()>>" },
		{ "_RIC1aINtC1a1ThEDB3_p3OutuEL_E", "a::<a::T<u8>, dyn a::T<u8, Out = ()>>" },
		{ "_RIC1aDG_INtC1a1TRL0_hEEL_E", "a::<dyn for<'a> a::T<&'a u8>>" },
		{ "_RIC1aFG_DNtC1a1TEL0_EuE", "a::<for<'a> fn(dyn a::T + 'a)>" },
	};

	(void)state;
	CHECK(names);
}

static void constants_are_shown_as_literals(void **state)
{
	static const struct name names[] = {
		{ "_RIC1aKh0_Kj7b_Kln5_KpE", "a::<0, 123, -5, _>" },
		{ "_RIC1aKyffffffffffffffff_E", "a::<18446744073709551615>" },
		{ "_RIC1aKnn80000000000000000_Ko12345678901234567890_E",
		  "a::<-0x80000000000000000, 0x12345678901234567890>" },
		{ "_RIC1aKb0_Kb1_E", "a::<false, true>" },
		{ "_RIC1aKc61_Kc27_Kc22_Kca_Kc0_Kc1b_Kcdf_E",
		  "a::<'a', '\\'', '\"', '\\n', '\\0', '\\u{1b}', 'ß'>" },
		{ "_RIC1aKRe61c39f22275c_Ke61_KRe_E", "a::<\"aß\\\"'\\\\\", {*\"a\"}, \"\">" },
		{ "_RIC1aKRAh1_h2_EKTh1_EKTEKQTh1_b1_EE",
		  "a::<{&[1, 2]}, {(1,)}, {()}, {&mut (1, true)}>" },
		{ "_RIC1aKVNtC1a4NoneUKVINtC1a4SomehETh1_EE",
		  "a::<{a::None}, {a::Some::<u8>(1)}>" },
		{ "_RIC1aKVNtC1a3FooS1xh1_s_1yRe61_EE", "a::<{a::Foo { x: 1, y: \"a\" }}>" },
		{ "_RIC1aKh1_KB4_E", "a::<1, 1>" },
	};

	(void)state;
	CHECK(names);
}

static void identifiers_may_be_unicode(void **state)
{
	static const struct name names[] = {
		{ "_RNvC1au9bcher_kva", "a::bücher" },
		{ "_RNvC1au3n3h", "a::☃" },
		{ "_RNCNSXC1aNtB4_u9bcher_kvaNtB4_1T6vtables_0",
		  "<a::bücher as a::T>::{shim:vtable#0}::{closure#1}" },
		/* "_" parts the length from what begins with a digit. */
		{ "_RNvC1a3_1_2", "a::1_2" },
		/* RFC 2603's example. */
		{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		  "utf8_idents::საჭმელად_გემრიელი_სადილი" },
	};

	(void)state;
	CHECK(names);
}

static void malformed_names_are_refused(void **state)
{
	static const char *const names[] = {
		"",
		"_R",
		"_ZN1aE",
		"_RNvC1a", /* ends early */
		"_RNvC1a1fx",
		"_R1NvC1a1f",	    /* an encoding to come */
		"_RNvC1a1\xc3\xbc", /* bytes of no identifier */
		"_RNvC1a9f",	    /* longer than the name */
		"_RNvC1a99999999999999999999f",
		"_RN1C1a1f", /* no namespace */
		"_RB_",	     /* refers to itself, */
		"_RNvB5_1f", /* forwards, */
		"_RNvCs0000000000000_1a1f",
		"_RNvBzzzzzzzzzzzz_1f", /* and beyond */
		"_RIC1aRL0_hE",		/* no such lifetime */
		"_RIC1aFG_EhL0_E",
		"_RIC1aKb2_E",
		"_RIC1aKcd800_E",
		"_RIC1aKc110000_E",
		"_RIC1aKhg_E",
		"_RIC1aKRec3_E", /* no UTF-8 */
		"_RIC1aKRe6_E",
		"_RIC1aKVNtC1a1bXE",
		"_RIC1aKdE",
		"_RIC1aDNtC1a1TE", /* no lifetime */
		"_RIC1aWhXE",
		"_RNvC1au3_zz",
		"_RNvC1au0",
		"_RIC1aFK0_EuE",
		"_RIC1aGE",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		SCOPED(free) char *plain = rust_v0_demangle(names[i]);

		if (plain)
			fail_msg("%s is shown as %s", names[i], plain);
	}
}

static char *put_backref(char *at, size_t target)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	*at++ = 'B';
	if (target > 62 * 62)
		*at++ = digits[(target - 1) / 62 / 62];
	if (target > 62)
		*at++ = digits[(target - 1) / 62 % 62];
	*at++ = digits[(target - 1) % 62];
	return stpcpy(at, "_");
}

/* Each argument is a tuple of two of the argument before: 2^n steps and so much text. */
static void write_doubling(char *name, int n)
{
	size_t last = strlen("IC1a"), next;
	char *at = stpcpy(name, "_RIC1ah");

	for (; n--; last = next) {
		next = (size_t)(at - name) - 2;
		at = put_backref(put_backref(stpcpy(at, "T"), last), last);
		at = stpcpy(at, "E");
	}
	strcpy(at, "E");
}

/* n_links arguments that refer to the one before, and n that refer to the last of them: four
 * characters of text each, for n_links steps. */
static void write_chain(char *name, int n_links, int n)
{
	size_t last = strlen("IC1a"), next;
	char *at = stpcpy(name, "_RIC1ah");

	for (; n_links--; last = next) {
		next = (size_t)(at - name) - 2;
		at = put_backref(at, last);
	}
	while (n--)
		at = put_backref(at, last);
	strcpy(at, "E");
}

static void a_hostile_name_costs_bounded_work(void **state)
{
	static const char *const hostile[] = {
		/* Found by fuzzing: billions of bound lifetimes, where they are shown and where
		   not. */
		"_RINvNtC3std3mem8ail_QQQQhQTTTTTDGLOBAL_TTTTTTTTTTTTTTTTTThhTTTT__hhE",
		"_RIC1aFGZZZZZZ_EuE",
		"_RMIC1aFGZZZZZZ_EuEh",
		"_RIC1aFGZZZZZZZZZZZZ_EuE",
		"_RIC1aKh000000000000000000000000000000000_E",
	};
	SCOPED(free) char *doubled = NULL;
	SCOPED(free) char *chained = NULL;
	static char name[60000];

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		assert_null(rust_v0_demangle(hostile[i]));
	write_doubling(name, 3);
	doubled = rust_v0_demangle(name);
	assert_string_equal(doubled, "a::<u8, (u8, u8), ((u8, u8), (u8, u8)), "
				     "(((u8, u8), (u8, u8)), ((u8, u8), (u8, u8)))>");
	for (int n = 30; n <= 200; n += 10) {
		write_doubling(name, n);
		assert_null(rust_v0_demangle(name));
	}
	write_chain(name, 200, 10);
	chained = rust_v0_demangle(name);
	assert_non_null(chained);
	assert_int_equal(strlen(chained), strlen("a::<>") + 211 * strlen("u8, ") - strlen(", "));
	write_chain(name, 200, 10000);
	assert_null(rust_v0_demangle(name));
}

static void depth_is_bounded(void **state)
{
	static const char *const parts[] = {
		"R", "S", "T", "NvNv", "I", "M", "FE", "Y", "P", "WO"
	};
	static char name[60000];

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		strcpy(name, "_RIC1a");
		for (size_t len = 6; len < sizeof(name) - 10; len += strlen(parts[i]))
			strcpy(name + len, parts[i]);
		assert_null(rust_v0_demangle(name));
	}
}

static void survives_mutation(void **state)
{
	static const char *const good[] = {
		"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
		"_RIC1aFG0_RL1_hQL0_hEuDG_INtC1a1TRL0_hEp3OutuEL_AhKj8_WmORm0_m1_EE",
		"_RIC1aKnn80_KVNtC1a3FooS1xh1_s_1yRe61c39f_EKTc61_b1_EKRAh1_EE",
		"_RNCNSXC1aNtB4_u9bcher_kvaNtB4_1T6vtables_0.llvm.1",
	};

	(void)state;
	for (size_t g = 0; g < sizeof(good) / sizeof(*good); g++) {
		size_t len = strlen(good[g]);

		for (size_t cut = 0; cut <= len; cut++) {
			SCOPED(free) char *part = strndup(good[g], cut);

			free(rust_v0_demangle(part));
		}
		for (size_t bit = 0; bit < 8 * len; bit++) {
			SCOPED(free) char *flipped = strdup(good[g]);

			flipped[bit / 8] ^= (char)(1 << bit % 8);
			free(rust_v0_demangle(flipped));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_shown_without_disambiguators),
		cmocka_unit_test(closures_and_shims_are_numbered),
		cmocka_unit_test(types_read_as_in_a_source),
		cmocka_unit_test(trait_objects_have_their_associated_types),
		cmocka_unit_test(constants_are_shown_as_literals),
		cmocka_unit_test(identifiers_may_be_unicode),
		cmocka_unit_test(malformed_names_are_refused),
		cmocka_unit_test(a_hostile_name_costs_bounded_work),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
