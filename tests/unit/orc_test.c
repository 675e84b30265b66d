// SPDX-License-Identifier: Apache-2.0
/* Steps up a kernel stack made by hand, by tables made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define UNWIND_GLOBAL static inline

#include "unwinders/orc.h"

#define TEXT 0xffffffff81000000ULL
#define TABLE 0xffffffff83000000ULL
#define STACK 0xffffc90000100000ULL
#define STACK_WORDS 64
#define N_ENTRIES 6

/* One kernel. Entry i holds from TEXT + 0x100 * i on. */
static struct {
	struct orc_tables tables;
	int32_t addresses[N_ENTRIES];
	struct orc_raw entries[N_ENTRIES];
	uint64_t stack[STACK_WORDS];
	uint64_t kept[16];
	unsigned n_kept, n_reads;
} kernel;

static int read_kernel(__u64 addr, void *buf, __u32 len)
{
	if (addr >= TABLE && addr - TABLE <= sizeof(kernel.addresses) - len)
		memcpy(buf, (char *)kernel.addresses + (addr - TABLE), len);
	else if (addr >= STACK && addr - STACK <= sizeof(kernel.stack) - len)
		memcpy(buf, (char *)kernel.stack + (addr - STACK), len);
	else
		return -1;
	kernel.n_reads++;
	return 0;
}

static int read_kernel_stack(const struct orc_walk *w, __u64 addr, __u64 *word)
{
	(void)w;
	return read_kernel(addr, word, sizeof(*word));
}

static struct orc_tables *orc_tables(void)
{
	return &kernel.tables;
}

static int orc_read_entry(const struct orc_tables *t, __u32 i, struct orc_raw *out)
{
	if (i >= t->n)
		return -1;
	*out = kernel.entries[i];
	return 0;
}

static __u32 orc_kept(__u32 place)
{
	for (unsigned i = 0; i < kernel.n_kept; i++)
		if (kernel.kept[i] >> 32 == place)
			return (__u32)kernel.kept[i];
	return 0;
}

static void orc_keep(__u32 place, __u32 rule)
{
	if (kernel.n_kept < 16)
		kernel.kept[kernel.n_kept++] = (uint64_t)place << 32 | rule;
}

#include "unwinders/orc.bpf.h"

static struct orc_walk setup_at(uint64_t ip)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.tables = (struct orc_tables){
		.text = TEXT,
		.text_end = TEXT + 0x1000,
		.addresses = TABLE,
		.entries = TABLE + 0x1000,
		.traps = { TEXT + 0x480 },
		.called = TEXT + 0x500,
		.n = N_ENTRIES,
		.registers = ORC_REGISTERS_OLD,
	};
	for (int i = 0; i < N_ENTRIES; i++)
		kernel.addresses[i] = (int32_t)(int64_t)(TEXT + 0x100ULL * i - (TABLE + 4ULL * i));
	return (struct orc_walk){ .ip = ip,
				  .sp = STACK,
				  .bp = 0x1234,
				  .stack_end = STACK + sizeof(kernel.stack),
				  .is_exact = 1 };
}

static void a_called_function_returns_above_the_return_address(void **state)
{
	struct orc_walk w = setup_at(TEXT + 0x150);

	(void)state;
	kernel.entries[1] =
		(struct orc_raw){ .sp_off = 24, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL };
	kernel.stack[2] = TEXT + 0x205;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_GOES_ON);
	assert_int_equal(w.ip, TEXT + 0x205);
	assert_int_equal(w.sp, STACK + 24);
	assert_int_equal(w.bp, 0x1234);
	assert_false(w.is_exact);
}

static void a_saved_rbp_is_the_callers(void **state)
{
	struct orc_walk w = setup_at(TEXT + 0x150);

	(void)state;
	kernel.entries[1] = (struct orc_raw){ .sp_off = 24,
					      .bp_off = -16,
					      .sp_reg = ORC_REG_SP_OLD,
					      .bp_reg = ORC_REG_CFA_OLD,
					      .kind = ORC_CALL };
	kernel.entries[2] = (struct orc_raw){ .sp_off = 16,
					      .bp_off = 8,
					      .sp_reg = ORC_REG_BP,
					      .bp_reg = ORC_REG_BP,
					      .kind = ORC_CALL };
	kernel.stack[1] = STACK + 80;
	kernel.stack[2] = TEXT + 0x205;
	kernel.stack[11] = TEXT + 0x305; /* CFA is rbp + 16 */
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_GOES_ON);
	assert_int_equal(w.bp, STACK + 80);
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_GOES_ON);
	assert_int_equal(w.ip, TEXT + 0x305);
	assert_int_equal(w.sp, STACK + 96);
	assert_int_equal(w.bp, TEXT + 0x305); /* what is at rbp + 8 */
}

static void a_return_address_belongs_to_the_call_before_it(void **state)
{
	struct orc_walk w = setup_at(TEXT + 0x200);

	(void)state;
	kernel.entries[1].kind = ORC_END;
	kernel.entries[2].kind = ORC_UNKNOWN;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_LEFT);
	w.is_exact = 0;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_DONE);
}

static void offsets_come_back_as_they_were(void **state)
{
	static const int offsets[] = { 0, 8, -8, 16, 4096, -4096, 32760, -32768 };

	(void)state;
	setup_at(TEXT);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		struct orc_raw raw = { .sp_off = offsets[i],
				       .bp_off = -offsets[i] == 32768 ? 8 : -offsets[i],
				       .sp_reg = ORC_REG_SP_OLD,
				       .bp_reg = ORC_REG_CFA_OLD,
				       .kind = ORC_CALL };
		__u32 rule = orc_pack(kernel.tables.registers, &raw);

		assert_int_equal(rule & 3, ORC_CALL);
		assert_int_equal(orc_unpack_offset(rule >> 5), raw.sp_off);
		assert_int_equal(orc_unpack_offset(rule >> 18), raw.bp_off);
	}
}

static void user_mode_is_the_end_and_the_kernel_is_not(void **state)
{
	struct orc_walk w = setup_at(TEXT + 0x150);

	(void)state;
	kernel.entries[1] =
		(struct orc_raw){ .sp_off = 8, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_REGS };
	kernel.stack[1 + PT_REGS_CS / 8] = 0x33;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_DONE);
	kernel.stack[1 + PT_REGS_CS / 8] = 0x10; /* an interrupt struck the kernel */
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_LEFT);
}

static void what_is_out_of_the_ordinary_is_left_to_the_kernel(void **state)
{
	static const struct {
		struct orc_raw entry;
		uint64_t caller;
	} cases[] = {
		{ { .sp_off = 8, .sp_reg = 9, .kind = ORC_CALL },
		  TEXT + 0x205 }, /* another stack */
		{ { .sp_off = 8, .sp_reg = ORC_REG_SP_OLD, .bp_reg = 8, .kind = ORC_CALL },
		  TEXT + 0x205 },
		{ { .sp_off = 12, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, TEXT + 0x205 },
		{ { .sp_off = 0, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, TEXT + 0x205 },
		{ { .sp_off = -8, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, TEXT + 0x205 },
		{ { .sp_off = 4096, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, TEXT + 0x205 },
		{ { .sp_off = 8, .sp_reg = ORC_REG_BP, .kind = ORC_CALL }, TEXT + 0x205 },
		{ { .sp_off = 8, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, 0xffffffffc0000100 },
		{ { .sp_off = 8, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, TEXT + 0x1000 },
		{ { .sp_off = 8, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL },
		  TEXT + 0x480 }, /* a trap */
		{ { .sp_off = 8, .sp_reg = ORC_REG_SP_OLD, .kind = ORC_CALL }, TEXT },
		{ { .kind = ORC_UNKNOWN }, TEXT + 0x205 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct orc_walk w = setup_at(TEXT + 0x150), before = w;

		kernel.entries[1] = cases[i].entry;
		kernel.stack[0] = cases[i].caller;
		assert_int_equal(orc_step(&w, &kernel.tables), ORC_LEFT);
		assert_int_equal(w.ip, before.ip);
		assert_int_equal(w.sp, before.sp);
	}
}

static void every_entry_is_found_where_it_holds(void **state)
{
	struct orc_walk w = setup_at(TEXT);

	(void)state;
	(void)w;
	for (uint32_t i = 0; i < N_ENTRIES; i++) {
		kernel.entries[i] = (struct orc_raw){ .sp_off = 8 * (int)i,
						      .sp_reg = ORC_REG_SP_OLD,
						      .kind = ORC_CALL };
		assert_int_equal(orc_unpack_offset(orc_search(0x100 * i) >> 5), 8 * i);
		assert_int_equal(orc_unpack_offset(orc_search(0x100 * i + 0xff) >> 5), 8 * i);
	}
	kernel.addresses[0] += 16; /* nothing says how the first bytes are unwound */
	assert_int_equal(orc_search(8), ORC_KNOWN | ORC_UNKNOWN);
}

static void a_functions_first_byte_says_how_registers_are_numbered(void **state)
{
	static const struct {
		struct orc_raw entry;
		uint64_t registers;
		uint32_t n;
	} cases[] = {
		{ { .sp_off = 8, .sp_reg = 5, .kind = ORC_CALL }, ORC_REGISTERS_OLD, N_ENTRIES },
		{ { .sp_off = 8, .sp_reg = 3, .kind = ORC_CALL }, ORC_REGISTERS_NEW, N_ENTRIES },
		{ { .sp_off = 8, .sp_reg = 4, .kind = ORC_CALL }, 0, 0 },
		{ { .sp_off = 16, .sp_reg = 5, .kind = ORC_CALL }, 0, 0 },
		{ { .sp_off = 8, .sp_reg = 5, .bp_reg = 1, .kind = ORC_CALL }, 0, 0 },
		{ { .sp_off = 8, .sp_reg = 5, .kind = ORC_REGS }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup_at(TEXT);
		kernel.tables.registers = 0;
		kernel.entries[5] = cases[i].entry;
		assert_int_equal(orc_learn(), cases[i].n != 0);
		assert_int_equal(kernel.tables.n, cases[i].n);
		assert_int_equal(kernel.tables.registers, cases[i].registers);
	}
	setup_at(TEXT);
	kernel.tables.called = 0; /* no such symbol */
	assert_int_equal(orc_learn(), 0);
	assert_int_equal(kernel.tables.n, 0);
}

static void a_rule_is_searched_once_and_not_too_often_in_one_walk(void **state)
{
	struct orc_walk w = setup_at(TEXT + 0x150);
	unsigned n_reads;

	(void)state;
	kernel.entries[1].kind = ORC_END;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_DONE);
	n_reads = kernel.n_reads;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_DONE);
	assert_int_equal(kernel.n_reads, n_reads);
	w.ip++;
	w.n_searched = ORC_MAX_SEARCHES;
	assert_int_equal(orc_step(&w, &kernel.tables), ORC_LEFT);
	assert_int_equal(kernel.n_reads, n_reads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_called_function_returns_above_the_return_address),
		cmocka_unit_test(a_saved_rbp_is_the_callers),
		cmocka_unit_test(a_return_address_belongs_to_the_call_before_it),
		cmocka_unit_test(offsets_come_back_as_they_were),
		cmocka_unit_test(user_mode_is_the_end_and_the_kernel_is_not),
		cmocka_unit_test(what_is_out_of_the_ordinary_is_left_to_the_kernel),
		cmocka_unit_test(every_entry_is_found_where_it_holds),
		cmocka_unit_test(a_functions_first_byte_says_how_registers_are_numbered),
		cmocka_unit_test(a_rule_is_searched_once_and_not_too_often_in_one_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
