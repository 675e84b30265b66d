// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "runtimes/python_code.h"
#include "runtimes/python_str.h"
#include "tests/unit/mutation.h"
#include "tests/unit/python_debug_offsets.h"
#include "tests/unit/python_memory.h"
#include "unwinders/python_identity.h"

#define N_LAYOUTS 5
#define FREE_THREADED 4

/* One of each kind: text headers, tables, where the first instruction is. */
static struct python_layout layout(size_t i)
{
	static const uint32_t versions[] = { PYTHON_VERSION(3, 8, 1), PYTHON_VERSION(3, 10, 1),
					     PYTHON_VERSION(3, 11, 1) };
	uint8_t bytes[PYTHON_DEBUG_LEN];
	struct python_layout l;
	size_t len;

	if (i < 3) {
		assert_int_equal(python_layout_of_version(versions[i], false, &l), 0);
		return l;
	}
	if (i == FREE_THREADED)
		len = debug_offsets(bytes, PYTHON_VERSION(3, 14, 10), true, said_by_314t,
				    N_SAID(said_by_314t));
	else
		len = debug_offsets(bytes, PYTHON_VERSION(3, 15, 2), false, said_by_315,
				    N_SAID(said_by_315));
	assert_int_equal(python_layout_parse(bytes, len, &l), 0);
	return l;
}

static const uint8_t *lines_of(const struct python_layout *l)
{
	/* Two code units of the line behind the first one. */
	static const uint8_t pairs[2] = { 0, 1 }, ranges[2] = { 4, 1 }, entries[2] = { 0xe9, 2 };

	return l->lines == PYTHON_LNOTAB ? pairs : l->lines == PYTHON_LINETABLE ? ranges : entries;
}

static int read_code(const uint8_t *memory, size_t len, const struct python_layout *l,
		     uint64_t type, struct python_code *c)
{
	struct mem *m = mem_array(MEMORY_ADDR, memory, len);
	int err = python_code_read(m, l, MEMORY_ADDR + CODE, type, c);

	mem_free(m);
	return err;
}

static void code_is_read_in_every_layout(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct python_layout l = layout(i);
		uint8_t memory[MEMORY_LEN] = { 0 };
		struct python_code c;
		int line;

		put_code(memory, &l, lines_of(&l), 2);
		assert_int_equal(read_code(memory, MEMORY_LEN, &l, MEMORY_ADDR + CODE_TYPE, &c), 0);
		assert_string_equal(c.name, "Class.run");
		assert_int_equal(c.name_len, 9);
		assert_string_equal(c.file, "/srv.py");
		assert_int_equal(c.first_line, 7);
		assert_int_equal(c.flags, 0x43);
		assert_int_equal(c.lines_len, 2);
		assert_int_not_equal(c.identity, 0);
		assert_int_equal(python_code_line(&l, &c, 2, &line), 0);
		assert_int_equal(line, 8);
		assert_int_equal(python_code_line(&l, &c, -2, &line), 0);
		assert_int_equal(line, 7);
		python_code_deinit(&c);
	}
}

static void position_is_counted_in_bytes_of_code(void **state)
{
	struct python_layout old = layout(0), units = layout(1), pointer = layout(2);

	(void)state;
	assert_int_equal(python_position(&old, 0, 12), 12);
	assert_int_equal(python_position(&old, 0, 0xffffffff), -1);
	assert_int_equal(python_position(&units, 0, 12), 24);
	assert_int_equal(python_position(&units, 0, 0xffffffff), -2);
	assert_int_equal(python_position(&pointer, 4096, 4096 + 184 + 6), 6);
	assert_int_equal(python_position(&pointer, 4096, 4096 + 184 - 2), -2);
}

static void positions_outside_of_the_code_have_no_line(void **state)
{
	struct python_layout l = layout(3);
	uint8_t memory[MEMORY_LEN] = { 0 };
	struct python_code c;
	int line;

	(void)state;
	put_code(memory, &l, lines_of(&l), 2);
	put_bytes(memory, CODE + l.object.size, 1, 8);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), 0);
	assert_int_equal(python_code_line(&l, &c, 0, &line), 0);
	assert_int_equal(python_code_line(&l, &c, 2, &line), -ENOENT);
	assert_int_equal(python_code_line(&l, &c, INT64_MAX, &line), -ENOENT);
	python_code_deinit(&c);
}

/* The kernel half sends the lower half of how far an instruction is from its code object. */
static void threads_may_run_copies_of_the_code(void **state)
{
	struct python_layout l = layout(FREE_THREADED);
	uint64_t code = MEMORY_ADDR + CODE,
		 copies[] = { code + l.code.code, 0, 0x7e0000000100, MEMORY_ADDR - 0x200000000 };
	uint8_t memory[MEMORY_LEN] = { 0 };
	struct python_code c;
	int line = 0;

	(void)state;
	put_code(memory, &l, lines_of(&l), 2);
	put_bytes(memory, CODE + l.code.tlbc, MEMORY_ADDR + COPIES, 8);
	put_bytes(memory, COPIES, 4, 8);
	memcpy(memory + COPIES + 8, copies, sizeof(copies));
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), 0);
	assert_int_equal(c.n_copies, 3); /* NULL is none */
	for (size_t i = 0; i < 4; i++)
		for (uint64_t at = 0; i != 1 && at < 6; at += 2) {
			uint32_t sent = (uint32_t)(copies[i] + at - code);
			int err = python_code_line(&l, &c, python_position(&l, 0, sent), &line);

			assert_int_equal(err, at < 4 ? 0 : -ENOENT);
			assert_int_equal(line, 8);
		}
	python_code_deinit(&c);
	put_bytes(memory, COPIES, PYTHON_MAX_COPIES + 1, 8);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), 0);
	assert_int_equal(c.n_copies, 0);
	python_code_deinit(&c);
}

static void identity_is_what_the_kernel_half_computes(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		struct python_layout l = layout(i);
		__u64 words[PYTHON_IDENTITY_WORDS], hash = 0;
		uint8_t memory[MEMORY_LEN] = { 0 };
		struct python_code c;

		put_code(memory, &l, lines_of(&l), 2);
		memcpy(words, memory + CODE + l.code.id_off, l.code.id_len);
		if (l.code.id_needs_name)
			memcpy(&hash, memory + NAME + l.str.hash, 8);
		assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), 0);
		assert_int_equal(c.identity, python_code_identity(words, l.code.id_len / 8, hash));
		python_code_deinit(&c);
	}
}

static void another_name_in_the_same_place_is_another_identity(void **state)
{
	struct python_layout l = layout(0);
	uint8_t memory[MEMORY_LEN] = { 0 };
	struct python_code c, other;

	(void)state;
	put_code(memory, &l, lines_of(&l), 2);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), 0);
	put_str(memory, &l, NAME, 3, "new", 1, true, true);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &other), 0);
	assert_string_equal(other.name, "new");
	assert_int_not_equal(c.identity, other.identity);
	python_code_deinit(&c);
	python_code_deinit(&other);
}

static void every_form_of_string_becomes_utf8(void **state)
{
	static const uint16_t ucs2[] = { 'a', 0xe9, 0x3042, 0xd800, 0xdcff };
	static const uint32_t ucs4[] = { 'a', 0x1f40d, 0x10ffff, 0x110000 };
	static const struct {
		const void *text;
		size_t n;
		unsigned int width;
		bool is_ascii, is_compact;
		const char *utf8;
	} cases[] = {
		{ "", 0, 1, true, true, "" },
		{ "plain", 5, 1, true, true, "plain" },
		{ "plain", 5, 1, true, false, "plain" },
		{ "caf\xe9", 4, 1, false, true, "caf\xc3\xa9" },
		{ "caf\xe9", 4, 1, false, false, "caf\xc3\xa9" },
		{ ucs2, 5, 2, false, true, "a\xc3\xa9\xe3\x81\x82\xef\xbf\xbd\xff" },
		{ ucs4, 4, 4, false, true, "a\xf0\x9f\x90\x8d\xf4\x8f\xbf\xbf\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS * sizeof(cases) / sizeof(*cases); i++) {
		struct python_layout l = layout(i % N_LAYOUTS);
		const typeof(*cases) *t = &cases[i / N_LAYOUTS];
		uint8_t memory[MEMORY_LEN] = { 0 };
		struct mem *m = mem_array(MEMORY_ADDR, memory, MEMORY_LEN);
		char *text;
		size_t len;

		if (i % 2)
			l.str.kind_bit = 8; /* free-threaded, from 3.14 on */
		put_str(memory, &l, NAME, t->n, t->text, t->width, t->is_ascii, t->is_compact);
		assert_int_equal(python_str_read(m, &l, MEMORY_ADDR + NAME, 5, &text, &len), 0);
		assert_string_equal(text, t->utf8);
		assert_int_equal(len, strlen(t->utf8));
		free(text);
		mem_free(m);
	}
}

static void strings_that_lie_are_refused(void **state)
{
	static const struct {
		uint64_t n_chars;
		uint32_t kind; /* width, 8: compact, 16: ASCII */
		int err;
	} cases[] = {
		{ 1 << 30, 1 | 8 | 16, -E2BIG }, /* the name of 1 GB */
		{ UINT64_MAX, 4 | 8, -E2BIG },
		{ UINT64_MAX / 4 + 2, 4 | 8, -E2BIG },
		{ 4000, 1 | 8 | 16, -EFAULT }, /* behind the memory */
		{ 3, 3 | 8, -EBADMSG },
		{ 3, 5 | 8, -EBADMSG },
		{ 3, 2 | 8 | 16, -EBADMSG },
		{ 3, 0, -ENOTSUP },
		{ 1, 1, -EFAULT }, /* text at 0 */
	};

	(void)state;
	for (size_t i = 0; i < N_LAYOUTS * sizeof(cases) / sizeof(*cases); i++) {
		struct python_layout l = layout(i % N_LAYOUTS);
		const typeof(*cases) *t = &cases[i / N_LAYOUTS];
		uint8_t memory[MEMORY_LEN] = { 0 };
		struct mem *m = mem_array(MEMORY_ADDR, memory, MEMORY_LEN);
		char *text = NULL;
		size_t len;

		put_bytes(memory, NAME + l.str.length, t->n_chars, 8);
		put_bytes(memory, NAME + l.str.state, (uint64_t)t->kind << l.str.kind_bit, 4);
		assert_int_equal(
			python_str_read(m, &l, MEMORY_ADDR + NAME, PYTHON_MAX_NAME, &text, &len),
			t->err);
		assert_null(text);
		mem_free(m);
	}
}

static void what_is_no_code_object_is_refused(void **state)
{
	struct python_layout l = layout(3);
	uint8_t memory[MEMORY_LEN] = { 0 };
	struct python_code c;

	(void)state;
	put_code(memory, &l, lines_of(&l), 2);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, MEMORY_ADDR, &c), -EBADMSG);
	assert_int_equal(read_code(memory, CODE + 100, &l, 0, &c), -EFAULT);
	put_bytes(memory, NAME + l.str.length, 1 << 30, 8);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), -E2BIG);
	put_bytes(memory, CODE + l.code.qualname, 0, 8);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), -EFAULT);
}

static void a_name_is_enough(void **state)
{
	struct python_layout l = layout(3);
	uint8_t memory[MEMORY_LEN] = { 0 };
	struct python_code c;
	int line;

	(void)state;
	put_code(memory, &l, lines_of(&l), 2);
	put_bytes(memory, FILENAME + l.str.length, 1 << 30, 8);
	put_bytes(memory, LINES + l.bytes.size, 1 << 30, 8);
	assert_int_equal(read_code(memory, MEMORY_LEN, &l, 0, &c), 0);
	assert_string_equal(c.name, "Class.run");
	assert_string_equal(c.file, "");
	assert_int_equal(python_code_line(&l, &c, 2, &line), -ENOENT);
	python_code_deinit(&c);
}

/* Memory that becomes another code object after some reads. */
struct changing_mem {
	struct mem m;
	uint8_t *memory;
	const struct python_layout *l;
	int n_reads_left;
};

static int changing_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	struct changing_mem *c = (struct changing_mem *)m;

	if (addr < MEMORY_ADDR || addr - MEMORY_ADDR > MEMORY_LEN - len)
		return -EFAULT;
	if (c->n_reads_left-- == 0)
		put_bytes(c->memory, CODE + c->l->code.first_line, 99, 4);
	memcpy(buf, c->memory + (addr - MEMORY_ADDR), len);
	return 0;
}

static void objects_that_change_meanwhile_are_noticed(void **state)
{
	static const struct mem_ops ops = { .read = changing_read, .free = NULL };

	(void)state;
	for (int n = 1; n < 5; n++) {
		struct python_layout l = layout(3);
		uint8_t memory[MEMORY_LEN] = { 0 };
		struct changing_mem m = { { &ops }, memory, &l, n };
		struct python_code c;

		put_code(memory, &l, lines_of(&l), 2);
		assert_int_equal(python_code_read(&m.m, &l, MEMORY_ADDR + CODE, 0, &c), -ESTALE);
	}
}

static struct python_layout damaged; /* whose memory it is */

/* Lengths that are lies must not be believed. */
static void read_damaged(const uint8_t *memory, size_t len)
{
	struct python_code c;
	int line;

	if (read_code(memory, len, &damaged, 0, &c))
		return;
	assert_true(c.name_len <= 4 * PYTHON_MAX_NAME && c.lines_len <= PYTHON_MAX_LINES);
	for (int64_t position = -2; position < 10; position++)
		python_code_line(&damaged, &c, position, &line);
	python_code_deinit(&c);
}

static void survives_mutation(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LAYOUTS; i++) {
		uint8_t memory[MEMORY_LEN] = { 0 };

		damaged = layout(i);
		put_code(memory, &damaged, lines_of(&damaged), 2);
		mutate(memory, LINES + damaged.bytes.data + 2, read_damaged);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_read_in_every_layout),
		cmocka_unit_test(position_is_counted_in_bytes_of_code),
		cmocka_unit_test(positions_outside_of_the_code_have_no_line),
		cmocka_unit_test(threads_may_run_copies_of_the_code),
		cmocka_unit_test(identity_is_what_the_kernel_half_computes),
		cmocka_unit_test(another_name_in_the_same_place_is_another_identity),
		cmocka_unit_test(every_form_of_string_becomes_utf8),
		cmocka_unit_test(strings_that_lie_are_refused),
		cmocka_unit_test(what_is_no_code_object_is_refused),
		cmocka_unit_test(a_name_is_enough),
		cmocka_unit_test(objects_that_change_meanwhile_are_noticed),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
