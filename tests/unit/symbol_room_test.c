// SPDX-License-Identifier: Apache-2.0
/* What hostile files may take of the memory that all files have for their symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <lzma.h>

#include "core/profile.h"
#include "symbolizer/symtab.h"
#include "tests/unit/compiled.h"
#include "tests/unit/elf_image.h"

#define MB ((uint64_t)1 << 20)
#define ENTRY_LEN 16 /* of a symbol in memory */

static const char names[] = "\0.symtab\0.gnu_debugdata";

static void write_file(const struct compiled *c, const char *name, const void *bytes, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void write_functions(const struct compiled *c, const char *name, uint32_t n)
{
	struct elf_image e;

	image_init(&e);
	image_functions(&e, n, names, sizeof(names));
	write_file(c, name, e.data, e.len);
	image_deinit(&e);
}

static struct objects *objects_with(uint64_t memory)
{
	static const char *const none[] = { NULL };

	return objects_new(&(struct object_options){ .debug_dirs = none, .memory = memory });
}

static void symbols_that_find_no_room_are_refused(void **state)
{
	const uint32_t n = 100000;
	struct elf_image e;
	struct elf_file elf;

	(void)state;
	image_init(&e);
	image_functions(&e, n, names, sizeof(names));
	assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
	for (uint64_t k = 1; k < 48; k++) {
		struct elf_room room = { .memory = k * n * ENTRY_LEN / 16 }, before = room;
		struct symtab *t = NULL;
		struct symbol s;
		int err = symtab_new(&elf, ".symtab", &room, &t);

		/* It grows by a quarter. */
		assert_int_equal(err, k < 16 ? -E2BIG : k >= 21 ? 0 : err);
		if (!err) {
			/* Sorted, with the copy that takes or without. */
			assert_int_equal(before.memory - room.memory, n * ENTRY_LEN);
			for (uint64_t i = 0; i < n; i++) {
				assert_true(symtab_find(t, IMAGE_TEXT + 16 * i + 7, &s));
				assert_int_equal(s.start, IMAGE_TEXT + 16 * i);
			}
		}
		symtab_free(t);
		assert_int_equal(room.memory, before.memory);
	}
	elf_file_deinit(&elf);
	image_deinit(&e);
}

static void two_million_functions_take_nothing_from_others(void **state)
{
	struct compiled *c = *state;
	struct objects *os = objects_with(12 * MB);
	struct object *honest, *large;

	write_functions(c, "honest", 1000);
	write_functions(c, "large", 2000000);
	honest = compiled_open_in(c, os, "honest");
	large = compiled_open_in(c, os, "large");
	for (uint64_t i = 0; i < 20; i++) {
		assert_string_equal(compiled_name(c, large, IMAGE_TEXT + 16 * i), "");
		assert_string_equal(compiled_name(c, honest, IMAGE_TEXT + 16 * i), "some_function");
		assert_in_range(objects_memory(os), 0, MB);
	}
	assert_int_equal(objects_refused(os), 1);
	objects_free(os);
}

static void files_that_do_not_fit_side_by_side_take_turns(void **state)
{
	struct compiled *c = *state;
	struct objects *os = objects_with(12 * MB);
	static const char *const files[] = { "first", "second", "third" };

	for (size_t i = 0; i < 3; i++) {
		struct object *o;

		write_functions(c, files[i], 500000); /* 8 MB each */
		o = compiled_open_in(c, os, files[i]);
		assert_string_equal(compiled_name(c, o, IMAGE_TEXT + 16 * 499999), "some_function");
		assert_in_range(objects_memory(os), 8 * MB - MB / 2, 12 * MB);
	}
	assert_int_equal(objects_refused(os), 0);
	objects_free(os);
}

/* xz data of zeros, with a dictionary. */
static uint8_t *pack(size_t len, uint32_t dictionary, size_t *out_len)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t cap = lzma_stream_buffer_bound(len);
	uint8_t *plain = calloc(1, len), *xz = malloc(cap);

	assert_false(lzma_lzma_preset(&options, 0));
	options.dict_size = dictionary;
	*out_len = 0;
	assert_int_equal(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, plain, len, xz,
						   out_len, cap),
			 LZMA_OK);
	free(plain);
	return xz;
}

static void packed_symbols_take_no_more_than_the_room(void **state)
{
	static const struct {
		size_t len;
		uint32_t dictionary;
		bool is_refused;
	} cases[] = {
		{ 1 << 20, 1 << 20, false },
		{ 40 << 20, 1 << 20, true },
		{ 1 << 20, 32 << 20, true },
	};
	struct compiled *c = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct objects *os = objects_with(12 * MB);
		struct elf_image e;
		size_t xz_len;
		uint8_t *xz = pack(cases[i].len, cases[i].dictionary, &xz_len);

		image_init(&e);
		image_bytes(&e, 9, SHT_PROGBITS, xz, xz_len, 0);
		image_finish(&e, image_bytes(&e, 0, SHT_STRTAB, names, sizeof(names), 0));
		write_file(c, "packed", e.data, e.len);
		assert_string_equal(compiled_name(c, compiled_open_in(c, os, "packed"), IMAGE_TEXT),
				    "");
		assert_int_equal(objects_refused(os), cases[i].is_refused);
		assert_in_range(objects_memory(os), 0, cases[i].is_refused ? MB : 2 * MB);
		objects_free(os);
		image_deinit(&e);
		free(xz);
	}
}

static void section_headers_take_no_memory(void **state)
{
	struct compiled *c = *state;
	struct objects *os = objects_with(12 * MB);
	struct elf_image e;
	char name[32];

	image_init(&e);
	for (int i = 0; i < 65000; i++)
		image_section(&e, 0, SHT_PROGBITS, 0, 0, 1, 0);
	image_finish(&e, 0);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "sections%d", i);
		write_file(c, name, e.data, e.len);
		assert_string_equal(compiled_name(c, compiled_open_in(c, os, name), IMAGE_TEXT),
				    "");
	}
	assert_in_range(objects_memory(os), 0, MB);
	assert_int_equal(objects_refused(os), 0);
	image_deinit(&e);
	objects_free(os);
}

static void files_without_end_are_refused_beyond_their_share(void **state)
{
	struct objects *os = objects_with(MB);
	struct elf_image e;
	int err = 0;

	(void)state;
	image_init(&e);
	image_finish(&e, 0);
	for (int i = 0; i < 10000 && !err; i++) {
		memcpy(e.data + offsetof(Elf64_Ehdr, e_entry), &i, sizeof(i));
		if (!objects_get_bytes(os, e.data, e.len, "file", &err))
			assert_int_equal(err, -E2BIG);
		else
			err = 0;
	}
	assert_int_equal(err, -E2BIG);
	assert_int_equal(objects_refused(os), 1);
	assert_in_range(objects_memory(os), MB / 8, MB / 2);
	image_deinit(&e);
	objects_free(os);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_that_find_no_room_are_refused),
		cmocka_unit_test_setup_teardown(two_million_functions_take_nothing_from_others,
						compiled_setup, compiled_teardown),
		cmocka_unit_test_setup_teardown(files_that_do_not_fit_side_by_side_take_turns,
						compiled_setup, compiled_teardown),
		cmocka_unit_test_setup_teardown(packed_symbols_take_no_more_than_the_room,
						compiled_setup, compiled_teardown),
		cmocka_unit_test_setup_teardown(section_headers_take_no_memory, compiled_setup,
						compiled_teardown),
		cmocka_unit_test(files_without_end_are_refused_beyond_their_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
