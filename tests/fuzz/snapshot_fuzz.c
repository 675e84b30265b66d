// SPDX-License-Identifier: Apache-2.0
/*
 * A walk over a stack, code and unwind data that all lie: the first 256 bytes are code, the next
 * 256 the .eh_frame that goes with it, then come registers and the stack.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/snapshot.h"

#define CODE UINT64_C(0x400000)
#define CODE_LEN 256
#define CFI_LEN 256
#define STACK UINT64_C(0x7fff0000)
#define MAX_FRAMES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	const uint8_t *code;
	struct cfi_input cfi;
	struct unwind_table table;
	bool has_table;
};

static bool find(void *ctx, uint64_t pc, struct code_region *out)
{
	struct world *w = ctx;

	if (pc < CODE || pc >= CODE + CODE_LEN)
		return false;
	*out = (struct code_region){ .start = CODE, .end = CODE + CODE_LEN, .cfi = &w->cfi };
	out->table = w->has_table ? &w->table : NULL;
	out->code = w->code;
	out->code_len = CODE_LEN;
	out->code_start = CODE;
	return true;
}

static bool function(void *ctx, uint64_t pc, uint64_t *start, uint64_t *size)
{
	struct world *w = ctx;

	*start = pc & ~UINT64_C(63);
	*size = w->code[0] % 128;
	return w->code[1] % 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t stack[SNAPSHOT_PAGE];
	static const uint8_t known = 1;
	struct wire_frame frames[MAX_FRAMES];
	struct world w = { .code = data };
	struct snapshot s = {
		.valid_regs = 0x1ffff, .is_exact = true, .find = find, .function = function
	};
	size_t n = 0;

	if (size < CODE_LEN + CFI_LEN + sizeof(s.regs))
		return 0;
	w.cfi.eh_frame = (struct cfi_section){ data + CODE_LEN, CFI_LEN, CODE + CODE_LEN };
	w.has_table = cfi_build(&w.cfi, &w.table) == 0;
	data += CODE_LEN + CFI_LEN;
	size -= CODE_LEN + CFI_LEN;
	memcpy(s.regs, data, sizeof(s.regs));
	memset(stack, 0, sizeof(stack));
	size -= sizeof(s.regs);
	memcpy(stack, data + sizeof(s.regs), size < sizeof(stack) ? size : sizeof(stack));
	s.ctx = &w;
	s.stack_start = STACK;
	s.stack = stack;
	s.stack_len = sizeof(stack);
	s.page_known = &known;
	snapshot_walk(&s, frames, &n, MAX_FRAMES);
	if (n > MAX_FRAMES)
		abort();
	unwind_table_deinit(&w.table);
	return 0;
}
