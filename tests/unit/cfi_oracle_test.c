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

#include "tests/unit/cfi_elf.h"
#include "unwinders/arch_x86_64.h"
#include "unwinders/cfi_row.h"

/* Installed files to compare on; those that are missing are passed over. */
static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/lib/x86_64-linux-gnu/libgcc_s.so.1",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
	"/usr/bin/gdb",
	"/usr/bin/gcc-12",
	"/usr/bin/bash",
};

/* ---- the oracle: what libdw says of an address, as a rule ---- */

static const struct unwind_rule user = { .cfa = CFA_USER };

static bool is_s16(int64_t n)
{
	return n == (int16_t)n;
}

/* breg + offset, breg + offset deref, the same + constant. */
static bool oracle_load(const Dwarf_Op *ops, size_t n, struct unwind_rule *rule, bool *is_deref,
			int64_t *offset, int64_t *addend)
{
	*is_deref = n > 1;
	*addend = 0;
	if (n < 1 || n > 4 || ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg15)
		return false;
	if (n > 1 && ops[1].atom != DW_OP_deref)
		return false;
	if (n == 3 && ops[2].atom != DW_OP_plus_uconst)
		return false;
	if (n == 4)
		return false; /* const + plus: none in the files above */
	rule->reg = (ops[0].atom - DW_OP_breg0) & 15;
	*offset = (int64_t)ops[0].number;
	if (n == 3)
		*addend = (int64_t)ops[2].number;
	return true;
}

static bool oracle_plt(const Dwarf_Op *ops, size_t n, struct unwind_rule *rule)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	 DW_OP_plus };

	if (n != 9 || ops[0].number != 8 || ops[1].number != 0)
		return false;
	for (size_t i = 0; i < 9; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	rule->cfa = CFA_PLT;
	rule->reg = REG_SP;
	rule->cfa_off = ops[4].atom - DW_OP_lit0;
	return true;
}

static bool oracle_cfa(Dwarf_Frame *frame, struct unwind_rule *rule)
{
	Dwarf_Op *ops;
	size_t n;
	bool is_deref;
	int64_t offset, addend;

	if (dwarf_frame_cfa(frame, &ops, &n))
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx) {
		rule->cfa = CFA_REG;
		rule->reg = ops[0].number & 15;
		rule->cfa_off = (int32_t)ops[0].number2;
		return ops[0].number < 16 && (int64_t)ops[0].number2 == rule->cfa_off;
	}
	if (oracle_plt(ops, n, rule))
		return true;
	if (!oracle_load(ops, n, rule, &is_deref, &offset, &addend) || !is_s16(offset) ||
	    !is_s16(addend))
		return false;
	rule->cfa = is_deref ? CFA_DEREF : CFA_REG;
	rule->cfa_off =
		is_deref ? (int32_t)((uint32_t)addend << 16 | (uint16_t)offset) : (int32_t)offset;
	return true;
}

/* call_frame_cfa [plus_uconst n]: saved at CFA + n. */
static bool is_saved_at_cfa(const Dwarf_Op *ops, size_t n, int64_t *offset)
{
	if (n < 1 || n > 2 || ops[0].atom != DW_OP_call_frame_cfa ||
	    (n == 2 && ops[1].atom != DW_OP_plus_uconst))
		return false;
	*offset = n == 2 ? (int64_t)ops[1].number : 0;
	return true;
}

static bool oracle_fp(Dwarf_Frame *frame, struct unwind_rule *rule)
{
	struct unwind_rule ignored = { 0 };
	Dwarf_Op mem[3], *ops;
	size_t n;
	bool is_deref;
	int64_t offset, addend;

	if (dwarf_frame_register(frame, REG_FP, mem, &ops, &n))
		return false;
	if (n == 0) {
		rule->fp = ops ? FP_UNKNOWN : FP_SAME;
		return true;
	}
	if (is_saved_at_cfa(ops, n, &offset)) {
		rule->fp = FP_AT_CFA;
	} else {
		if (!oracle_load(ops, n, &ignored, &is_deref, &offset, &addend) || is_deref ||
		    ignored.reg != REG_FP)
			return false;
		rule->fp = FP_AT_FP;
	}
	rule->fp_off = (int16_t)offset;
	return is_s16(offset);
}

static struct unwind_rule oracle(Dwarf_CFI *cfi, uint64_t addr)
{
	struct unwind_rule rule = { 0 };
	Dwarf_Frame *frame;
	Dwarf_Op mem[3], *ops;
	Dwarf_Addr start, end;
	bool is_signal;
	size_t n;
	int64_t ra;

	if (dwarf_cfi_addrframe(cfi, addr, &frame))
		return rule;
	dwarf_frame_info(frame, &start, &end, &is_signal);
	if (dwarf_frame_register(frame, REG_PC, mem, &ops, &n))
		rule = user;
	else if (n == 0 && ops)
		rule.cfa = CFA_END;
	else if (is_signal)
		rule.cfa = CFA_SIGNAL;
	else if (!is_saved_at_cfa(ops, n, &ra) || ra != -8)
		rule = user;
	else if (!oracle_cfa(frame, &rule) || !oracle_fp(frame, &rule))
		rule = user;
	free(frame);
	return rule;
}

static bool is_same_rule(struct unwind_rule a, struct unwind_rule b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* libdw's rule of a register as one of ours; expressions only as such. */
static enum register_how oracle_how(Dwarf_Frame *frame, int reg, int64_t *number)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	*number = 0;
	if (dwarf_frame_register(frame, reg, mem, &ops, &n))
		return REGISTER_UNDEFINED;
	if (n == 0)
		return ops ? REGISTER_UNDEFINED : REGISTER_SAME;
	if (is_saved_at_cfa(ops, n, number))
		return REGISTER_OFFSET;
	if (ops[n - 1].atom == DW_OP_stack_value)
		return is_saved_at_cfa(ops, n - 1, number) ? REGISTER_VAL_OFFSET
							   : REGISTER_VAL_EXPRESSION;
	if (n == 1 && ops[0].atom == DW_OP_regx) {
		*number = (int64_t)ops[0].number;
		return REGISTER_REGISTER;
	}
	return REGISTER_EXPRESSION;
}

/* What the ABI says of a register without a rule, as libdw has it. */
static enum register_how abi_how(int reg)
{
	if (reg == REG_SP)
		return REGISTER_VAL_OFFSET;
	return CALLEE_SAVED_REGS >> reg & 1 ? REGISTER_SAME : REGISTER_UNDEFINED;
}

/* Every register's rule in the full row. */
static size_t check_row(const struct cfi_elf *e, uint64_t addr, const char *path)
{
	Dwarf_Frame *frame;
	struct cfi_row row;
	uint32_t budget = 0; /* the search table must do */
	size_t n_wrong = 0;

	if (dwarf_cfi_addrframe(e->cfi, addr, &frame))
		return 0;
	if (cfi_row_find(&e->in, addr, &budget, &row)) {
		print_error("%s 0x%lx: no row\n", path, (long)addr);
		free(frame);
		return 1;
	}
	for (int reg = 0; reg < N_DWARF_REGS; reg++) {
		const struct register_rule *rule = &row.row.regs[reg];
		int64_t number, ours = rule->how == REGISTER_OFFSET ||
						       rule->how == REGISTER_REGISTER ||
						       rule->how == REGISTER_VAL_OFFSET
					       ? rule->offset
					       : 0;
		enum register_how how = oracle_how(frame, reg, &number);

		/* elfutils' table of the ABI has rax where rbx should be. */
		if (rule->how == REGISTER_UNSPECIFIED && (reg == 0 || reg == 3))
			continue;
		if ((rule->how == REGISTER_UNSPECIFIED ? abi_how(reg) : rule->how) == how &&
		    ours == number)
			continue;
		print_error("%s 0x%lx: register %d is %d %ld, libdw: %d %ld\n", path, (long)addr,
			    reg, rule->how, (long)ours, how, (long)number);
		n_wrong++;
	}
	free(frame);
	return n_wrong;
}

static size_t check_at(const struct cfi_elf *e, const struct unwind_table *t, uint64_t addr,
		       const char *path)
{
	struct unwind_rule got = unwind_table_find(t, addr), want = oracle(e->cfi, addr);

	if (is_same_rule(got, want))
		return 0;
	print_error(
		"%s 0x%lx: cfa %d reg %d off %d fp %d %d, libdw: cfa %d reg %d off %d fp %d %d\n",
		path, (long)addr, got.cfa, got.reg, got.cfa_off, got.fp, got.fp_off, want.cfa,
		want.reg, want.cfa_off, want.fp, want.fp_off);
	return 1;
}

/* Every boundary between rows, on both sides, and random addresses in between. */
static size_t check_file(const struct cfi_elf *e, const struct unwind_table *t, const char *path)
{
	struct table_header h;
	size_t n_wrong = 0;
	uint64_t low, len;

	memcpy(&h, t->words, sizeof(h));
	for (uint32_t page = 0; page < h.n_pages && n_wrong < 20; page++) {
		for (uint32_t i = t->words[h.directory + page];
		     i < t->words[h.directory + page + 1]; i++) {
			uint64_t addr = ((uint64_t)h.first_page + page) << TABLE_PAGE_BITS |
					(t->words[h.rows + i] & 0xffff);

			n_wrong += check_at(e, t, addr, path) + check_at(e, t, addr - 1, path);
		}
	}
	low = (uint64_t)h.first_page << TABLE_PAGE_BITS;
	len = (uint64_t)h.n_pages << TABLE_PAGE_BITS;
	for (int i = 0; i < 20000 && n_wrong < 20; i++) {
		uint64_t addr = low + (uint64_t)random() % len;

		n_wrong += check_at(e, t, addr, path) + check_row(e, addr, path);
	}
	return n_wrong;
}

static void every_row_is_what_libdw_says(void **state)
{
	size_t n_files = 0, n_rows = 0, n_user = 0, n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct unwind_table t;
		struct cfi_elf e;

		if (!cfi_elf_open(&e, files[i]))
			continue;
		assert_int_equal(cfi_build(&e.in, &t), 0);
		assert_true(unwind_table_is_valid(&t));
		assert_int_equal(t.n_bad_fdes, 0);
		n_wrong += check_file(&e, &t, files[i]);
		n_files++;
		n_rows += t.words[2];
		n_user += t.n_user_rows;
		unwind_table_deinit(&t);
		cfi_elf_close(&e);
	}
	print_message("%zu files, %zu rows, %zu for user space, %zu wrong\n", n_files, n_rows,
		      n_user, n_wrong);
	assert_int_equal(n_wrong, 0);
	assert_true(n_files >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_what_libdw_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
