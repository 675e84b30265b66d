// SPDX-License-Identifier: Apache-2.0
/* Headers and sections of ELF files, most of them made to cost as much as they can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <time.h>
#include <zstd.h>

#include "symbolizer/elf_file.h"
#include "symbolizer/plt.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/mutation.h"

/* Most of a second on a slow machine; without a bound each of these takes a minute or many. */
#define MAX_CPU_MS 4000
#define MANY 65000

static const char names[] = "\0.first\0.second\0.symtab\0.plt";

static uint64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void sections_are_found_by_name_and_number(void **state)
{
	struct elf_section s = { 0 };
	struct elf_image e;
	struct elf_file elf;

	(void)state;
	image_init(&e);
	image_bytes(&e, 1, SHT_PROGBITS, "abc", 3, 0);
	image_bytes(&e, 8, SHT_PROGBITS, "defg", 4, 0);
	image_bytes(&e, 1000, SHT_PROGBITS, "h", 1, 0);
	image_finish(&e, image_bytes(&e, 0, SHT_STRTAB, names, sizeof(names) - 1, 0));
	assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
	assert_true(elf_file_section(&elf, ".second", &s));
	assert_int_equal(s.size, 4);
	assert_true(elf_file_section(&elf, "second", NULL) == false);
	assert_true(elf_file_section_at(&elf, 1, &s));
	assert_int_equal(s.size, 3);
	assert_false(elf_file_section_at(&elf, 5, &s));
	/* Its end is not in the table. */
	assert_false(elf_file_section(&elf, ".plt", &s));
	elf_file_deinit(&elf);
	image_deinit(&e);
}

static void long_names_of_many_sections_cost_little(void **state)
{
	size_t len = 16 << 20;
	char *strings = malloc(len);
	struct elf_image e;
	struct elf_file elf;
	uint64_t start;

	(void)state;
	memset(strings, 'a', len);
	image_init(&e);
	for (uint32_t i = 0; i < MANY; i++)
		image_section(&e, i, SHT_PROGBITS, 0, 0, 1, 0);
	image_finish(&e, image_bytes(&e, 0, SHT_STRTAB, strings, len, 0));
	start = cpu_ms();
	assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
	for (int i = 0; i < 40; i++) /* as many as are asked for in a file */
		assert_false(elf_file_section(&elf, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL));
	assert_in_range(cpu_ms() - start, 0, MAX_CPU_MS);
	elf_file_deinit(&elf);
	image_deinit(&e);
	free(strings);
}

static void notes_over_the_same_bytes_cost_little(void **state)
{
	static const uint32_t id[] = { 4, 4, NT_GNU_BUILD_ID, 0x00554e47, 0x12345678 };
	size_t len = 12 << 16;
	struct elf_image e;
	struct elf_file elf;
	uint64_t at, start;

	(void)state;
	image_init(&e);
	image_bytes(&e, 0, SHT_NOTE, id, sizeof(id), 0);
	at = image_add(&e, NULL, len); /* 65,536 empty ones */
	for (uint32_t i = 0; i < MANY; i++)
		image_section(&e, 0, SHT_NOTE, 0, at, len, 0);
	image_finish(&e, 0);
	start = cpu_ms();
	assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
	assert_in_range(cpu_ms() - start, 0, MAX_CPU_MS);
	assert_int_equal(elf.build_id_len, 4);
	elf_file_deinit(&elf);
	image_deinit(&e);
}

static void relocations_over_the_same_bytes_cost_little(void **state)
{
	struct elf_room room = { .memory = 64 << 20 };
	size_t len = sizeof(Elf64_Rela) * 50000;
	struct plt *p = NULL;
	struct elf_image e;
	struct elf_file elf;
	uint32_t symbols;
	uint64_t at, start;

	(void)state;
	image_init(&e);
	symbols = image_bytes(&e, 0, SHT_DYNSYM, &(Elf64_Sym){ 0 }, sizeof(Elf64_Sym),
			      image_bytes(&e, 0, SHT_STRTAB, "", 1, 0));
	at = image_add(&e, NULL, len);
	for (uint32_t i = 0; i < MANY; i++)
		image_section(&e, 0, SHT_RELA, 0, at, len, symbols);
	image_finish(&e, 0);
	assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
	start = cpu_ms();
	assert_int_equal(plt_new(&elf, &room, &p), elf.machine == EM_X86_64 ? -E2BIG : -ENOENT);
	assert_in_range(cpu_ms() - start, 0, MAX_CPU_MS);
	assert_int_equal(room.memory, 64 << 20);
	elf_file_deinit(&elf);
	image_deinit(&e);
}

static void more_segments_than_a_program_has_are_refused(void **state)
{
	struct elf_image e;
	struct elf_file elf;
	Elf64_Half n = 1171;

	(void)state;
	image_init(&e);
	image_add(&e, NULL, n * sizeof(Elf64_Phdr));
	image_finish(&e, 0);
	memcpy(e.data + offsetof(Elf64_Ehdr, e_phnum), &n, sizeof(n));
	assert_int_equal(elf_file_init(&elf, e.data, e.len), -E2BIG);
	image_deinit(&e);
}

/* A file with one section, ".first", that is compressed. */
static void make_compressed(struct elf_image *e, const void *bytes, size_t len, int level)
{
	Elf64_Chdr h = { .ch_type = 2, .ch_size = len, .ch_addralign = 1 };
	size_t cap = ZSTD_compressBound(len), packed_len;
	void *packed = malloc(cap);
	uint64_t at;

	packed_len = ZSTD_compress(packed, cap, bytes, len, level);
	assert_false(ZSTD_isError(packed_len));
	image_init(e);
	at = image_add(e, &h, sizeof(h));
	image_add(e, packed, packed_len);
	image_section(e, 1, SHT_PROGBITS, SHF_COMPRESSED, at, sizeof(h) + packed_len, 0);
	image_finish(e, image_bytes(e, 0, SHT_STRTAB, names, sizeof(names), 0));
	free(packed);
}

static void zstd_sections_are_unpacked_piece_by_piece(void **state)
{
	static const size_t lens[] = { 1, 1000, 1 << 20, (1 << 20) + 1, 20000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		struct elf_room room = { .memory = 64 << 20 };
		uint32_t *words = calloc(1, lens[i] + sizeof(*words));
		struct elf_bytes bytes;
		struct elf_image e;
		struct elf_file elf;

		for (uint32_t k = 0; k < lens[i] / sizeof(*words); k++)
			words[k] = k % 7 ? k / 100 : k * 2654435761;
		make_compressed(&e, words, lens[i], 3);
		assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
		assert_int_equal(elf_file_bytes(&elf, ".first", &room, &bytes), 0);
		assert_int_equal(bytes.len, lens[i]);
		assert_memory_equal(bytes.data, words, lens[i]);
		elf_bytes_deinit(&bytes, &room);
		assert_int_equal(room.memory, 64 << 20);
		elf_file_deinit(&elf);
		image_deinit(&e);
		free(words);
	}
}

static void sections_of_another_length_than_they_say_are_damaged(void **state)
{
	static const int64_t changes[] = { -1, 1, 1 << 20 };
	char *zeros = calloc(1, 3 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		struct elf_room room = { .memory = 64 << 20 };
		uint64_t len = (uint64_t)((3 << 20) + changes[i]);
		struct elf_bytes bytes;
		struct elf_image e;
		struct elf_file elf;

		make_compressed(&e, zeros, 3 << 20, 1);
		memcpy(e.data + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) +
			       offsetof(Elf64_Chdr, ch_size),
		       &len, sizeof(len));
		assert_int_equal(elf_file_init(&elf, e.data, e.len), 0);
		assert_int_equal(elf_file_bytes(&elf, ".first", &room, &bytes), -EBADMSG);
		assert_int_equal(room.memory, 64 << 20);
		elf_file_deinit(&elf);
		image_deinit(&e);
	}
	free(zeros);
}

static void ask_damaged(const uint8_t *data, size_t len)
{
	struct elf_room room = { .memory = 1 << 20 };
	struct elf_bytes bytes = { 0 };
	struct plt *p = NULL;
	struct elf_file elf;

	if (elf_file_init(&elf, data, len) < 0)
		return;
	for (size_t i = 0; i < 8; i++)
		elf_file_section_at(&elf, i, NULL);
	if (!elf_file_bytes(&elf, ".first", &room, &bytes))
		elf_bytes_deinit(&bytes, &room);
	if (!plt_new(&elf, &room, &p))
		plt_free(p);
	assert_int_equal(room.memory, 1 << 20);
	elf_file_deinit(&elf);
}

/* With everything: notes, a compressed section, relocations and a stub. */
static void survives_mutation(void **state)
{
	static const uint32_t id[] = { 4, 4, NT_GNU_BUILD_ID, 0x00554e47, 0x12345678 };
	static const uint8_t stub[16] = { 0xff, 0x25, 0xfa };
	static const Elf64_Sym symbol = { .st_name = 1 };
	static const Elf64_Rela rela = { .r_offset = 0x1100,
					 .r_info = ELF64_R_INFO(0, R_X86_64_JUMP_SLOT) };
	Elf64_Chdr h = { .ch_type = 2, .ch_size = 64, .ch_addralign = 1 };
	char zeros[64] = "", packed[64 + sizeof(h)];
	uint32_t strings, symbols;
	struct elf_image e;
	size_t len;

	(void)state;
	memcpy(packed, &h, sizeof(h));
	len = ZSTD_compress(packed + sizeof(h), sizeof(packed) - sizeof(h), zeros, sizeof(zeros),
			    1);
	assert_false(ZSTD_isError(len));
	image_init(&e);
	image_section(&e, 1, SHT_PROGBITS, SHF_COMPRESSED, image_add(&e, packed, sizeof(h) + len),
		      sizeof(h) + len, 0);
	image_bytes(&e, 0, SHT_NOTE, id, sizeof(id), 0);
	image_bytes(&e, 24, SHT_PROGBITS, stub, sizeof(stub), 0);
	strings = image_bytes(&e, 0, SHT_STRTAB, "\0f", 3, 0);
	symbols = image_bytes(&e, 0, SHT_DYNSYM, &symbol, sizeof(symbol), strings);
	image_bytes(&e, 0, SHT_RELA, &rela, sizeof(rela), symbols);
	image_finish(&e, image_bytes(&e, 0, SHT_STRTAB, names, sizeof(names), 0));
	mutate(e.data, e.len, ask_damaged);
	image_deinit(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_are_found_by_name_and_number),
		cmocka_unit_test(long_names_of_many_sections_cost_little),
		cmocka_unit_test(notes_over_the_same_bytes_cost_little),
		cmocka_unit_test(relocations_over_the_same_bytes_cost_little),
		cmocka_unit_test(more_segments_than_a_program_has_are_refused),
		cmocka_unit_test(zstd_sections_are_unpacked_piece_by_piece),
		cmocka_unit_test(sections_of_another_length_than_they_say_are_damaged),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
