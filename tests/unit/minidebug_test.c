// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <lzma.h>

#include "symbolizer/minidebug.h"
#include "tests/unit/compiled.h"

#define MAX_LEN (2 << 20)

static uint8_t *pack(const void *bytes, size_t len, size_t *out_len)
{
	size_t cap = lzma_stream_buffer_bound(len);
	uint8_t *xz = malloc(cap);

	*out_len = 0;
	assert_int_equal(
		lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, len, xz, out_len, cap),
		LZMA_OK);
	return xz;
}

static void what_was_packed_is_unpacked(void **state)
{
	static const size_t lens[] = { 0, 1, 100, 65536, 65537, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		SCOPED(free) uint8_t *bytes = calloc(1, lens[i] + 1);
		SCOPED(free) uint8_t *xz = NULL;
		SCOPED(free) void *out = NULL;
		size_t xz_len, len = 1;

		for (size_t k = 0; k < lens[i]; k++)
			bytes[k] = (uint8_t)(k * k >> 3);
		xz = pack(bytes, lens[i], &xz_len);
		assert_int_equal(minidebug_unpack(xz, xz_len, MAX_LEN, &out, &len), 0);
		assert_int_equal(len, lens[i]);
		assert_memory_equal(out, bytes, len + 1);
	}
}

static void a_bomb_is_refused(void **state)
{
	SCOPED(free) uint8_t *zeros = calloc(1, 8 << 20);
	SCOPED(free) uint8_t *xz = NULL;
	void *out;
	size_t xz_len, len;

	(void)state;
	xz = pack(zeros, 8 << 20, &xz_len);
	assert_true(xz_len < 8192);
	assert_int_equal(minidebug_unpack(xz, xz_len, MAX_LEN, &out, &len), -E2BIG);
}

static void survives_mutation(void **state)
{
	static const char text[] = "some text, some text, some text that is packed";
	SCOPED(free) uint8_t *xz = NULL;
	size_t xz_len, len;

	(void)state;
	xz = pack(text, sizeof(text), &xz_len);
	for (size_t cut = 0; cut < xz_len; cut++) {
		SCOPED(free) uint8_t *copy = malloc(cut ? cut : 1);
		void *out;

		memcpy(copy, xz, cut);
		assert_true(minidebug_unpack(copy, cut, MAX_LEN, &out, &len) < 0);
	}
	for (size_t bit = 0; bit < 8 * xz_len; bit++) {
		SCOPED(free) uint8_t *copy = malloc(xz_len);
		SCOPED(free) void *out = NULL;

		memcpy(copy, xz, xz_len);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		minidebug_unpack(copy, xz_len, MAX_LEN, &out, &len);
	}
}

static void a_stripped_file_keeps_its_private_names(void **state)
{
	static const char source[] =
		"static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
		"__attribute__((visibility(\"hidden\"))) int also_hidden(int x) { return x * 7; }\n"
		"int shown(int x) { return hidden(x) + also_hidden(x + 1) * 5; }\n";
	struct compiled *c = *state;
	struct object *whole, *mini;
	uint64_t vaddr, size;

	compiled_source(c, "a.c", source);
	if (!compiled_run(c, "gcc -O1 -fPIC -shared -nostdlib -o whole.so a.c && "
			     "objcopy --only-keep-debug whole.so mini && xz -k mini && strip -o "
			     "stripped.so whole.so && "
			     "objcopy --add-section .gnu_debugdata=mini.xz stripped.so mini.so"))
		skip();
	whole = compiled_open(c, "whole.so");
	mini = compiled_open(c, "mini.so");
	assert_string_equal(object_symbol_source(mini), "minidebuginfo");
	vaddr = compiled_symbol(whole, "hidden");
	assert_false(object_symbol(mini, "hidden", &(uint64_t){ 0 }, &size));
	assert_string_equal(compiled_name(c, mini, vaddr), "hidden");
	assert_string_equal(compiled_name(c, mini, compiled_symbol(whole, "also_hidden")),
			    "also_hidden");
	assert_string_equal(compiled_name(c, mini, compiled_symbol(whole, "shown")), "shown");
}

static void a_damaged_minidebuginfo_leaves_the_dynamic_symbols(void **state)
{
	struct compiled *c = *state;
	struct object *o;

	compiled_source(c, "a.c", "int shown(int x) { return x; }\n");
	if (!compiled_run(
		    c,
		    "gcc -O1 -fPIC -shared -nostdlib -s -o a.so a.c && echo nonsense >mini.xz && "
		    "objcopy --add-section .gnu_debugdata=mini.xz a.so"))
		skip();
	o = compiled_open(c, "a.so");
	assert_string_equal(object_symbol_source(o), "dynsym");
	assert_string_equal(compiled_name(c, o, compiled_symbol(o, "shown")), "shown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_is_unpacked),
		cmocka_unit_test(a_bomb_is_refused),
		cmocka_unit_test(survives_mutation),
		cmocka_unit_test_setup_teardown(a_stripped_file_keeps_its_private_names,
						compiled_setup, compiled_teardown),
		cmocka_unit_test_setup_teardown(a_damaged_minidebuginfo_leaves_the_dynamic_symbols,
						compiled_setup, compiled_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
