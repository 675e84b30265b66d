// SPDX-License-Identifier: Apache-2.0
/* OTEP 4947 from both halves: where threads have the variable, by what the dynamic linker wrote,
   and what the kernel half's code, run here, reads there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "runtimes/thread_context.h"
#include "symbolizer/tls_symbol.h"
#include "tests/unit/mutation.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define BASE 0x10000
#define LEN 1024
#define BIAS 0x8000
#define GOT (BASE + 0x10)
#define PAIR (BASE + 0x40)
#define RECORD (BASE + 0x80)
#define VECTOR (BASE + 0x100)
#define BLOCK (BASE + 0x180)
#define THREAD (BASE + 0x300)
#define OFFSET ((uint64_t)-0x40)
#define MODULE 2

static struct {
	struct mem mem;
	const uint8_t *bytes;
	size_t len;
	uint8_t made[LEN];
} memory;

static int memory_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	(void)m;
	if (addr < BASE || addr - BASE > memory.len || len > memory.len - (addr - BASE))
		return -EFAULT;
	memcpy(buf, memory.bytes + (addr - BASE), len);
	return 0;
}

static void memory_free(struct mem *m)
{
	(void)m;
}

static int read_user(__u64 addr, void *buf, __u32 len)
{
	return memory_read(NULL, addr, buf, len);
}

#include "unwinders/thread_context.bpf.h"

static void put(uint64_t addr, uint64_t word)
{
	memcpy(memory.made + (addr - BASE), &word, sizeof(word));
}

/* A thread whose variable points to a record, in static room and in that of a module. */
static void begin(void)
{
	static const struct mem_ops ops = { .read = memory_read, .free = memory_free };

	memset(&memory, 0, sizeof(memory));
	memory.mem.ops = &ops;
	memory.bytes = memory.made;
	memory.len = LEN;
	for (size_t i = 0; i < 24; i++)
		memory.made[RECORD - BASE + i] = (uint8_t)(i + 1);
	put(RECORD + 24, 1); /* valid */
	put(THREAD + OFFSET, RECORD);
	put(THREAD + TLS_VECTOR, VECTOR);
	put(VECTOR + TLS_VECTOR_ENTRY * MODULE, BLOCK);
	put(BLOCK + 0x18, RECORD);
}

static const struct python_slot_at at_offset = { OFFSET, PYTHON_SLOT_STATIC, 0 };
static const struct python_slot_at in_module = { 0x18, PYTHON_SLOT_MODULE, MODULE };

static int read_at(const struct python_slot_at *slot, struct python_span_ids *ids)
{
	memset(ids, 0, sizeof(*ids));
	return thread_context_read(slot, THREAD, ids);
}

static void the_record_has_the_ids(void **state)
{
	const struct python_slot_at *const slots[] = { &at_offset, &in_module };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct python_span_ids ids;

		begin();
		assert_int_equal(read_at(slots[i], &ids), THREAD_CONTEXT_SPAN);
		assert_int_equal(ids.trace_id[0], 1);
		assert_int_equal(ids.trace_id[15], 16);
		assert_int_equal(ids.span_id[0], 17);
		assert_int_equal(ids.span_id[7], 24);
	}
}

static void ids_of_zeros_say_that_there_is_no_span(void **state)
{
	struct python_span_ids ids;

	(void)state;
	begin();
	put(RECORD + 16, 0);
	assert_int_equal(read_at(&at_offset, &ids), THREAD_CONTEXT_NO_SPAN);
	begin();
	put(RECORD, 0);
	assert_int_equal(read_at(&at_offset, &ids), THREAD_CONTEXT_SPAN);
	put(RECORD + 8, 0);
	assert_int_equal(read_at(&at_offset, &ids), THREAD_CONTEXT_NO_SPAN);
}

static void what_is_not_valid_says_nothing(void **state)
{
	static const uint64_t valids[] = { 0, 2, 0xff };
	static const uint64_t pointers[] = { 0, RECORD + 0x10000, BASE + LEN - 27, UINT64_MAX };
	struct python_span_ids ids;

	(void)state;
	for (size_t i = 0; i < sizeof(valids) / sizeof(*valids); i++) {
		begin();
		put(RECORD + 24, valids[i]);
		assert_int_equal(read_at(&at_offset, &ids), THREAD_CONTEXT_NONE);
	}
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		begin();
		put(THREAD + OFFSET, pointers[i]);
		assert_int_equal(read_at(&at_offset, &ids), THREAD_CONTEXT_NONE);
	}
}

static void a_thread_without_the_module_says_nothing(void **state)
{
	static const uint64_t blocks[] = { 0, UINT64_MAX, 8 };
	struct python_span_ids ids;

	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		begin();
		put(VECTOR + TLS_VECTOR_ENTRY * MODULE, blocks[i]);
		assert_int_equal(read_at(&in_module, &ids), THREAD_CONTEXT_NONE);
	}
	put(THREAD + TLS_VECTOR, 0);
	assert_int_equal(read_at(&in_module, &ids), THREAD_CONTEXT_NONE);
	assert_int_equal(read_at(&(struct python_slot_at){ 0 }, &ids), THREAD_CONTEXT_NONE);
}

static void the_variable_is_where_the_dynamic_linker_put_it(void **state)
{
	static const struct {
		enum tls_model model;
		uint64_t got[2], pair[2];
		int err;
		uint32_t kind, module;
		uint64_t where;
	} cases[] = {
		{ TLS_OFFSET_AT, { OFFSET, 0 }, { 0 }, 0, PYTHON_SLOT_STATIC, 0, OFFSET },
		{ TLS_PAIR_AT, { 3, 0x18 }, { 0 }, 0, PYTHON_SLOT_MODULE, 3, 0x18 },
		{ TLS_DESCRIPTOR_AT, { 1, OFFSET }, { 0 }, 0, PYTHON_SLOT_STATIC, 0, OFFSET },
		{ TLS_DESCRIPTOR_AT, { 1, PAIR }, { 3, 8 }, 0, PYTHON_SLOT_MODULE, 3, 8 },
		/* Nothing is written yet. */
		{ TLS_OFFSET_AT, { 0, 0 }, { 0 }, -EAGAIN, 0, 0, 0 },
		{ TLS_PAIR_AT, { 0, 0 }, { 0 }, -EAGAIN, 0, 0, 0 },
		{ TLS_DESCRIPTOR_AT, { 0, 0 }, { 0 }, -EAGAIN, 0, 0, 0 },
		{ TLS_DESCRIPTOR_AT, { 0, OFFSET }, { 0 }, -EAGAIN, 0, 0, 0 },
		/* What cannot be. */
		{ TLS_OFFSET_AT, { (uint64_t)-1 << 40, 0 }, { 0 }, -EAGAIN, 0, 0, 0 },
		{ TLS_PAIR_AT, { 1 << 16, 8 }, { 0 }, -EAGAIN, 0, 0, 0 },
		{ TLS_PAIR_AT, { 3, UINT64_MAX }, { 0 }, -EAGAIN, 0, 0, 0 },
		{ TLS_DESCRIPTOR_AT, { 1, 16 }, { 0 }, -EAGAIN, 0, 0, 0 },
		/* As before it is bound: a relocation, whose second word is its kind. */
		{ TLS_DESCRIPTOR_AT, { 1, PAIR }, { GOT, 7ull << 32 | 36 }, -EAGAIN, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tls_symbol symbol = { cases[i].model, 0, GOT - BIAS };
		struct python_slot_at out = { 0 };

		begin();
		put(GOT, cases[i].got[0]);
		put(GOT + 8, cases[i].got[1]);
		put(PAIR, cases[i].pair[0]);
		put(PAIR + 8, cases[i].pair[1]);
		assert_int_equal(thread_context_resolve(&symbol, BIAS, &memory.mem, &out),
				 cases[i].err);
		assert_int_equal(out.kind, cases[i].kind);
		assert_int_equal(out.module, cases[i].module);
		assert_int_equal(out.where, cases[i].where);
	}
}

static void a_programs_own_needs_no_memory(void **state)
{
	struct tls_symbol symbol = { TLS_AT_OFFSET, (int64_t)OFFSET, 0 };
	struct python_slot_at out;

	(void)state;
	begin();
	memory.len = 0;
	assert_int_equal(thread_context_resolve(&symbol, BIAS, &memory.mem, &out), 0);
	assert_int_equal(out.where, OFFSET);
	symbol.model = TLS_PAIR_AT;
	assert_int_equal(thread_context_resolve(&symbol, BIAS, &memory.mem, &out), -EAGAIN);
	symbol.model = TLS_NONE;
	assert_int_equal(thread_context_resolve(&symbol, BIAS, &memory.mem, &out), -EAGAIN);
}

static void parse(const uint8_t *bytes, size_t len)
{
	static const enum tls_model models[] = { TLS_OFFSET_AT, TLS_PAIR_AT, TLS_DESCRIPTOR_AT };
	struct python_span_ids ids;
	struct python_slot_at slot;

	memory.bytes = bytes;
	memory.len = len;
	for (size_t i = 0; i < 3; i++) {
		struct tls_symbol symbol = { models[i], 0, GOT - BIAS };

		if (!thread_context_resolve(&symbol, BIAS, &memory.mem, &slot))
			thread_context_read(&slot, THREAD, &ids);
	}
	memory.bytes = memory.made;
}

static void survives_mutation(void **state)
{
	(void)state;
	begin();
	put(GOT, MODULE);
	put(GOT + 8, 0x18);
	mutate(memory.made, LEN, parse);
	put(GOT + 8, PAIR);
	put(PAIR, MODULE);
	mutate(memory.made, LEN, parse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_record_has_the_ids),
		cmocka_unit_test(ids_of_zeros_say_that_there_is_no_span),
		cmocka_unit_test(what_is_not_valid_says_nothing),
		cmocka_unit_test(a_thread_without_the_module_says_nothing),
		cmocka_unit_test(the_variable_is_where_the_dynamic_linker_put_it),
		cmocka_unit_test(a_programs_own_needs_no_memory),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
