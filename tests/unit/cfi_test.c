// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/cfi_bytes.h"
#include "tests/unit/mutation.h"
#include "unwinders/cfi_row.h"

#define INSNS(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const struct unwind_rule at_entry = { CFA_REG, 7, FP_SAME, 0, 8 };

static void assert_rule(const struct unwind_table *t, uint64_t addr, struct unwind_rule want)
{
	struct unwind_rule got = unwind_table_find(t, addr);

	if (memcmp(&got, &want, sizeof(got)))
		fail_msg("0x%lx: cfa %d reg %d off %d fp %d %d", (long)addr, got.cfa, got.reg,
			 got.cfa_off, got.fp, got.fp_off);
}

static struct unwind_table build(const struct cfi_bytes *eh, const struct cfi_bytes *debug)
{
	struct cfi_input in = { 0 };
	struct unwind_table t;

	if (eh)
		in.eh_frame = cfi_bytes_section(eh);
	if (debug)
		in.debug_frame = cfi_bytes_section(debug);
	assert_int_equal(cfi_build(&in, &t), 0);
	assert_true(unwind_table_is_valid(&t));
	return t;
}

static void each_row_becomes_the_rule_that_says_it(void **state)
{
	const struct {
		const uint8_t *insns;
		size_t len;
		struct unwind_rule want;
	} cases[] = {
		{ INSNS(0x00), { CFA_REG, 7, FP_SAME, 0, 8 } },
		{ INSNS(0x0e, 16, 0x86, 2), { CFA_REG, 7, FP_AT_CFA, -16, 16 } },
		{ INSNS(0x0d, 6, 0x86, 2), { CFA_REG, 6, FP_AT_CFA, -16, 8 } },
		{ INSNS(0x0c, 12, 0x80, 0x80, 4), { CFA_REG, 12, FP_SAME, 0, 65536 } },
		{ INSNS(0x12, 6, 0x7e), { CFA_REG, 6, FP_SAME, 0, 16 } },
		{ INSNS(0x13, 0x7d), { CFA_REG, 7, FP_SAME, 0, 24 } },
		{ INSNS(0x05, 6, 3), { CFA_REG, 7, FP_AT_CFA, -24, 8 } },
		{ INSNS(0x11, 6, 3), { CFA_REG, 7, FP_AT_CFA, -24, 8 } },
		{ INSNS(0x2f, 6, 3), { CFA_REG, 7, FP_AT_CFA, 24, 8 } },
		{ INSNS(0x86, 2, 0xc6), { CFA_REG, 7, FP_SAME, 0, 8 } },
		{ INSNS(0x86, 2, 0x06, 6), { CFA_REG, 7, FP_SAME, 0, 8 } },
		{ INSNS(0x08, 6), { CFA_REG, 7, FP_SAME, 0, 8 } },
		{ INSNS(0x07, 6), { CFA_REG, 7, FP_UNKNOWN, 0, 8 } },
		{ INSNS(0x07, 16), { CFA_END, 0, 0, 0, 0 } },
		{ INSNS(0x2e, 16, 0x0e, 32), { CFA_REG, 7, FP_SAME, 0, 32 } },
		{ INSNS(0x0a, 0x0e, 32, 0x0b), { CFA_REG, 7, FP_SAME, 0, 8 } },
		/* realigned stack: CFA = [rbp - 8], rbp at [rbp] */
		{ INSNS(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0),
		  { CFA_DEREF, 6, FP_AT_FP, 0, 0xfff8 } },
		{ INSNS(0x0f, 5, 0x77, 40, 0x06, 0x23, 8),
		  { CFA_DEREF, 7, FP_SAME, 0, 8 << 16 | 40 } },
		{ INSNS(0x0f, 5, 0x77, 40, 0x06, 0x38, 0x22),
		  { CFA_DEREF, 7, FP_SAME, 0, 8 << 16 | 40 } },
		{ INSNS(0x0f, 2, 0x7a, 16), { CFA_REG, 10, FP_SAME, 0, 16 } },
		{ INSNS(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		  { CFA_PLT, 7, FP_SAME, 0, 11 } },
		{ INSNS(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
		  { CFA_PLT, 7, FP_SAME, 0, 10 } },
		/* for user space */
		{ INSNS(0x09, 16, 2), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x80 | 16, 2), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x09, 6, 3), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x14, 6, 1), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x16, 6, 2, 0x76, 0), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x10, 6, 2, 0x77, 8), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x05, 6, 0x80, 0x40), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x0e, 0x80, 0x80, 0x80, 0x80, 0x10), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x0f, 4, 0x77, 0, 0x06, 0x06), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x0f, 5, 0x77, 0x80, 0x80, 2, 0x06), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x0d, 17), { CFA_USER, 0, 0, 0, 0 } },
		{ INSNS(0x14, 7, 1), { CFA_USER, 0, 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cfi_bytes b;
		struct unwind_table t;

		cfi_bytes_eh(&b);
		cfi_fde(&b, 0x1000, 0x100, cases[i].insns, cases[i].len);
		t = build(&b, NULL);
		print_message("case %zu\n", i);
		assert_rule(&t, 0x1000, cases[i].want);
		assert_rule(&t, 0x10ff, cases[i].want);
		unwind_table_deinit(&t);
	}
}

static void reads_every_version_and_encoding(void **state)
{
	static const struct {
		bool is_debug, is_64;
		uint8_t version;
		const char *augmentation;
		uint8_t encoding;
	} cases[] = {
		{ false, false, 1, "zR", CFI_PCREL_SDATA4 },
		{ false, false, 3, "zPLR", CFI_PCREL_SDATA4 },
		{ false, false, 1, "zRB", 0x03 },
		{ false, false, 1, "zR", 0x0b },
		{ false, false, 1, "zR", 0x04 },
		{ false, false, 1, "zR", 0x1c },
		{ false, false, 1, "zR", 0x01 },
		{ false, true, 1, "zR", CFI_PCREL_SDATA4 },
		{ false, false, 1, "eh", CFI_ABSOLUTE },
		{ false, false, 1, "", CFI_ABSOLUTE },
		{ true, false, 1, "", CFI_ABSOLUTE },
		{ true, false, 3, "", CFI_ABSOLUTE },
		{ true, false, 4, "", CFI_ABSOLUTE },
		{ true, true, 4, "", CFI_ABSOLUTE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cfi_bytes b = { .is_debug = cases[i].is_debug,
				       .is_64 = cases[i].is_64,
				       .version = cases[i].version,
				       .augmentation = cases[i].augmentation,
				       .encoding = cases[i].encoding };
		struct unwind_table t;

		cfi_cie(&b);
		cfi_fde(&b, 0x2000, 0x40, INSNS(0x41, 0x0e, 16));
		t = build(b.is_debug ? NULL : &b, b.is_debug ? &b : NULL);
		print_message("case %zu\n", i);
		assert_int_equal(t.n_bad_fdes, 0);
		assert_rule(&t, 0x2000, at_entry);
		assert_rule(&t, 0x203f, (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, 16 });
		assert_rule(&t, 0x2040, (struct unwind_rule){ 0 });
		unwind_table_deinit(&t);
	}
}

static void advances_by_every_instruction(void **state)
{
	static const uint8_t insns[] = { 0x42, 0x0e, 16,   0x02, 200, 0x0e, 24, 0x03, 0,    1,
					 0x0e, 32,   0x04, 0,	 0,   1,    0,	0x0e, 40,   0x1d,
					 1,    0,    0,	   0,	 0,   0,    0,	0,    0x0e, 48 };
	static const struct {
		uint64_t addr;
		int cfa_off;
	} want[] = { { 0x1001, 8 },   { 0x1002, 16 }, { 0x10c9, 16 },  { 0x10ca, 24 },
		     { 0x11c9, 24 },  { 0x11ca, 32 }, { 0x111c9, 32 }, { 0x111ca, 40 },
		     { 0x111cb, 48 }, { 0x3ffff, 48 } };
	struct cfi_bytes b;
	struct unwind_table t;

	(void)state;
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x3f000, insns, sizeof(insns));
	t = build(&b, NULL);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_rule(&t, want[i].addr,
			    (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, want[i].cfa_off });
	assert_rule(&t, 0x40000, (struct unwind_rule){ 0 });
	unwind_table_deinit(&t);
}

static void holes_have_no_data_and_neighbours_share_a_row(void **state)
{
	struct cfi_bytes b;
	struct unwind_table t;

	(void)state;
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1040, 0x10, NULL, 0); /* not in order of addresses */
	cfi_fde(&b, 0x1000, 0x20, NULL, 0);
	cfi_fde(&b, 0x1020, 0x10, NULL, 0);
	t = build(&b, NULL);
	assert_rule(&t, 0xfff, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x102f, at_entry);
	assert_rule(&t, 0x1030, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x1040, at_entry);
	assert_rule(&t, 0x1050, (struct unwind_rule){ 0 });
	assert_int_equal(t.words[2], 5); /* rows: page start, 1000, 1030, 1040, 1050 */
	unwind_table_deinit(&t);
}

static void the_hole_at_the_entry_point_is_the_outermost_frame(void **state)
{
	const struct unwind_rule none = { 0 }, outermost = { .cfa = CFA_END };
	static const struct {
		uint64_t entry, addr;
		bool is_outermost;
	} cases[] = {
		{ 0x1030, 0x102f, false }, { 0x1030, 0x1030, true },  { 0x1030, 0x103f, true },
		{ 0x1030, 0x1040, false }, { 0x1060, 0x115f, true },  { 0x1060, 0x1160, false },
		{ 0xf00, 0xeff, false },   { 0xf00, 0xf00, true },    { 0xf00, 0xfff, true },
		{ 0x1010, 0x1010, false }, { 0x9000, 0x9000, false }, { 0, 0x1030, false },
	};
	struct cfi_bytes b;

	(void)state;
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x20, NULL, 0);
	cfi_fde(&b, 0x1040, 0x10, NULL, 0);
	cfi_fde(&b, 0x2000, 0x10, NULL, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cfi_input in = { .eh_frame = cfi_bytes_section(&b),
					      .entry_vaddr = cases[i].entry };
		bool has_fde = cases[i].addr == 0x1010 || cases[i].addr == 0x1040;
		struct unwind_table t;

		assert_int_equal(cfi_build(&in, &t), 0);
		assert_rule(&t, cases[i].addr,
			    cases[i].is_outermost ? outermost : (has_fde ? at_entry : none));
		unwind_table_deinit(&t);
	}
}

static void stacks_begin_with_the_function_that_was_named(void **state)
{
	const struct unwind_rule outermost = { .cfa = CFA_END };
	struct cfi_input in = { .bottom_vaddr = 0x1040, .bottom_len = 0x30 };
	struct unwind_table t;
	struct cfi_bytes b;

	(void)state;
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x40, NULL, 0);
	cfi_fde(&b, 0x1040, 0x30, INSNS(0x0e, 16));
	cfi_fde(&b, 0x1070, 0x10, NULL, 0);
	in.eh_frame = cfi_bytes_section(&b);
	assert_int_equal(cfi_build(&in, &t), 0);
	assert_rule(&t, 0x103f, at_entry);
	assert_rule(&t, 0x1040, outermost);
	assert_rule(&t, 0x106f, outermost);
	assert_rule(&t, 0x1070, at_entry);
	unwind_table_deinit(&t);
}

static void overlaps_give_way_to_the_later_start_and_to_eh_frame(void **state)
{
	struct cfi_bytes eh, debug = { .is_debug = true, .version = 3, .augmentation = "" };
	struct unwind_table t;

	(void)state;
	cfi_bytes_eh(&eh);
	cfi_fde(&eh, 0x1000, 0x100, INSNS(0x0e, 16));
	cfi_fde(&eh, 0x1080, 0x40, INSNS(0x0e, 24));
	cfi_cie(&debug);
	cfi_fde(&debug, 0x1010, 0x10, INSNS(0x0e, 32));
	cfi_fde(&debug, 0x10b0, 0x30, INSNS(0x0e, 32));
	t = build(&eh, &debug);
	assert_rule(&t, 0x1018, (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, 16 });
	assert_rule(&t, 0x1080, (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, 24 });
	assert_rule(&t, 0x10bf, (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, 24 });
	assert_rule(&t, 0x10c0, (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, 32 });
	unwind_table_deinit(&t);
}

static void code_the_linker_discarded_is_not_there(void **state)
{
	struct cfi_bytes b = { .version = 1, .augmentation = "zR", .encoding = 0x04 };
	struct unwind_table t;

	(void)state;
	cfi_cie(&b);
	cfi_fde(&b, 0, 0x4000, INSNS(0x0e, 16));
	cfi_fde(&b, UINT64_MAX - 1, 1, INSNS(0x0e, 16));
	cfi_fde(&b, 0x500000, 0, INSNS(0x0e, 16));
	cfi_fde(&b, 0x400000, 0x10, NULL, 0);
	t = build(&b, NULL);
	assert_int_equal(t.n_fdes, 1);
	assert_rule(&t, 0x400000, at_entry);
	assert_rule(&t, 0x1000, (struct unwind_rule){ 0 });
	unwind_table_deinit(&t);
}

static void damage_costs_only_its_own_range(void **state)
{
	struct cfi_bytes b;
	struct unwind_table t;

	(void)state;
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x20, INSNS(0x44, 0x0b));	    /* restore_state of nothing */
	cfi_fde(&b, 0x1020, 0x20, INSNS(0x44, 0x3c));	    /* no such instruction */
	cfi_fde(&b, 0x1040, 0x20, INSNS(0x44, 0x0f, 0x7f)); /* expression beyond the end */
	cfi_fde(&b, UINT64_C(0x7f000000), 0x20, NULL, 0);
	cfi_fde(&b, 0x1060, 0x20, NULL, 0);
	t = build(&b, NULL);
	assert_int_equal(t.n_bad_fdes, 3);
	assert_rule(&t, 0x1000, at_entry);
	assert_rule(&t, 0x1005, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x1025, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x1045, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x1060, at_entry);
	unwind_table_deinit(&t);
}

static void a_stray_address_does_not_cost_memory(void **state)
{
	struct cfi_bytes b = { .version = 1, .augmentation = "zR", .encoding = 0x04 };
	struct unwind_table t;

	(void)state;
	cfi_cie(&b);
	cfi_fde(&b, 0x1000, 0x20, NULL, 0);
	cfi_fde(&b, 0x1020, 0x20, NULL, 0);
	cfi_fde(&b, UINT64_C(0x7fff00000000), 0x20, NULL, 0);
	t = build(&b, NULL);
	assert_int_equal(t.n_bad_fdes, 1);
	assert_true(t.n_words < 100);
	unwind_table_deinit(&t);
}

static void signal_frames_answer_for_the_byte_before(void **state)
{
	/* CFA = [rsp + 160], rip at rsp + 168 */
	static const uint8_t insns[] = { 0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1 };
	const struct unwind_rule want = { CFA_SIGNAL, 0, 0, 0, 0 };
	struct cfi_bytes b = { .version = 1, .augmentation = "zRS", .encoding = CFI_PCREL_SDATA4 };
	struct unwind_table t;

	(void)state;
	cfi_cie(&b);
	cfi_fde(&b, 0x1010, 9, insns, sizeof(insns));
	cfi_fde(&b, 0x102f, 9, insns, sizeof(insns)); /* glibc's begins early by itself */
	cfi_fde(&b, 0x1040, 9, INSNS(0x00));	      /* another layout than the kernel's */
	t = build(&b, NULL);
	assert_rule(&t, 0x100e, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x100f, want);
	assert_rule(&t, 0x1018, want);
	assert_rule(&t, 0x102e, (struct unwind_rule){ 0 });
	assert_rule(&t, 0x102f, want);
	assert_rule(&t, 0x1040, (struct unwind_rule){ CFA_USER, 0, 0, 0, 0 });
	unwind_table_deinit(&t);
}

/* An FDE with as many different rules as one likes. */
static struct cfi_section many_rules(size_t n, uint8_t **out)
{
	struct cfi_bytes b;
	uint8_t *data = malloc(sizeof(b.data) + 5 * n);
	uint32_t len;

	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x100000, NULL, 0);
	memcpy(data, b.data, b.len);
	for (size_t i = 0; i < n; i++) {
		const uint8_t insn[] = { 0x41, 0x0e, (uint8_t)(i | 128), (uint8_t)(i >> 7 | 128),
					 (uint8_t)(i >> 14 & 127) };

		memcpy(data + b.len + 5 * i, insn, 5);
	}
	len = (uint32_t)(b.len + 5 * n - b.entry - 4);
	memcpy(data + b.entry, &len, 4);
	*out = data;
	return (struct cfi_section){ data, b.len + 5 * n, CFI_BYTES_VADDR };
}

static void rules_beyond_the_cap_go_to_user_space(void **state)
{
	uint8_t *data;
	struct cfi_input in = { .eh_frame = many_rules(70000, &data) };
	struct unwind_table t;

	(void)state;
	assert_int_equal(cfi_build(&in, &t), 0);
	assert_true(unwind_table_is_valid(&t));
	assert_int_equal(t.words[3], 65535);
	assert_rule(&t, 0x1000 + 65000, (struct unwind_rule){ CFA_REG, 7, FP_SAME, 0, 64999 });
	assert_rule(&t, 0x1000 + 69000, (struct unwind_rule){ CFA_USER, 0, 0, 0, 0 });
	unwind_table_deinit(&t);
	free(data);
}

static void gives_up_above_the_cap_on_words(void **state)
{
	uint8_t *data;
	struct cfi_input in = { .eh_frame = many_rules(2000, &data), .max_words = 4000 };
	struct unwind_table t;

	(void)state;
	assert_int_equal(cfi_build(&in, &t), -E2BIG);
	in.max_words = 8000;
	assert_int_equal(cfi_build(&in, &t), 0);
	unwind_table_deinit(&t);
	free(data);
}

static void remembers_states_up_to_a_cap(void **state)
{
	uint8_t insns[600];
	struct cfi_bytes b;
	struct unwind_table t;

	(void)state;
	memset(insns, 0x0a, sizeof(insns));
	memset(insns + 200, 0x0b, 200);
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x20, insns, 400);
	cfi_fde(&b, 0x1020, 0x20, insns, 200);
	memset(insns, 0x0a, sizeof(insns));
	cfi_fde(&b, 0x1040, 0x20, insns, sizeof(insns));
	t = build(&b, NULL);
	assert_int_equal(t.n_bad_fdes, 1);
	assert_rule(&t, 0x103f, at_entry);
	assert_rule(&t, 0x1040, (struct unwind_rule){ 0 });
	unwind_table_deinit(&t);
}

static void says_when_there_is_nothing(void **state)
{
	static const uint8_t garbage[] = { 0x10, 0, 0, 0, 1, 2, 3, 4 };
	struct cfi_input in = { 0 };
	struct unwind_table t;
	struct cfi_row row;
	uint32_t budget = 10;

	(void)state;
	assert_int_equal(cfi_build(&in, &t), -ENOENT);
	assert_int_equal(cfi_row_find(&in, 0x1000, &budget, &row), -ENOENT);
	in.eh_frame = (struct cfi_section){ garbage, sizeof(garbage), 0 };
	assert_int_equal(cfi_build(&in, &t), -EBADMSG);
	in.is_aarch64 = true;
	assert_int_equal(cfi_build(&in, &t), -ENOTSUP);
}

static void build_damaged(const uint8_t *data, size_t len)
{
	struct cfi_input in = { .eh_frame = { data, len, CFI_BYTES_VADDR } };
	struct unwind_table t;
	struct cfi_row row;
	uint32_t budget = 100;

	if (cfi_build(&in, &t) == 0) {
		assert_true(unwind_table_is_valid(&t));
		unwind_table_find(&t, 0x1003);
		unwind_table_deinit(&t);
	}
	cfi_row_find(&in, 0x1003, &budget, &row);
}

static void survives_mutation(void **state)
{
	struct cfi_bytes b;

	(void)state;
	cfi_bytes_eh(&b);
	cfi_fde(&b, 0x1000, 0x40, INSNS(0x42, 0x0a, 0x0e, 16, 0x86, 2, 0x03, 4, 0, 0x0b, 0x0d, 6));
	b.augmentation = "zPLR";
	cfi_cie(&b);
	cfi_fde(&b, 0x1040, 0x40,
		INSNS(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x44, 0x07, 16));
	mutate(b.data, b.len, build_damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_becomes_the_rule_that_says_it),
		cmocka_unit_test(reads_every_version_and_encoding),
		cmocka_unit_test(advances_by_every_instruction),
		cmocka_unit_test(holes_have_no_data_and_neighbours_share_a_row),
		cmocka_unit_test(the_hole_at_the_entry_point_is_the_outermost_frame),
		cmocka_unit_test(stacks_begin_with_the_function_that_was_named),
		cmocka_unit_test(overlaps_give_way_to_the_later_start_and_to_eh_frame),
		cmocka_unit_test(code_the_linker_discarded_is_not_there),
		cmocka_unit_test(damage_costs_only_its_own_range),
		cmocka_unit_test(a_stray_address_does_not_cost_memory),
		cmocka_unit_test(signal_frames_answer_for_the_byte_before),
		cmocka_unit_test(rules_beyond_the_cap_go_to_user_space),
		cmocka_unit_test(gives_up_above_the_cap_on_words),
		cmocka_unit_test(remembers_states_up_to_a_cap),
		cmocka_unit_test(says_when_there_is_nothing),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
