// SPDX-License-Identifier: Apache-2.0
/*
 * Each reader is given far more than it should ever get, once to see how much CPU time that takes,
 * and once more with the second ^C in the middle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "core/hurry.h"
#include "core/scoped.h"
#include "symbolizer/dwarf.h"
#include "symbolizer/elf_file.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/jitdump.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/plt.h"
#include "symbolizer/symtab.h"
#include "tests/unit/elf_image.h"
#include "unwinders/cfi.h"
#include "unwinders/table.h"

#define TEXT 0x1000

struct bytes {
	uint8_t *data;
	size_t len, cap;
};

static void add(struct bytes *b, const void *data, size_t len)
{
	if (b->len + len > b->cap) {
		b->cap = 2 * (b->cap + len);
		b->data = realloc(b->data, b->cap);
		assert_non_null(b->data);
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void add_number(struct bytes *b, uint64_t value, size_t len)
{
	add(b, &value, len); /* little-endian, as all that weft reads */
}

static struct dwarf_section section(const struct bytes *b)
{
	return (struct dwarf_section){ b->data, b->len };
}

/* 1: a unit, 2: a function in it. Addresses as 8 bytes, lengths as 4. */
static const uint8_t abbrevs[] = {
	1,
	DW_TAG_compile_unit,
	1,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data4,
	DW_AT_stmt_list,
	DW_FORM_sec_offset,
	0,
	0,
	2,
	DW_TAG_subprogram,
	0,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data4,
	0,
	0,
	0,
};

struct work {
	struct elf_image elf;
	struct bytes info, line, eh_frame, dump;
	struct dwarf_input dwarf;
	char dir[64];
};

static void add_unit(struct work *w, uint64_t low, uint32_t n_functions)
{
	size_t start = w->info.len;
	uint32_t len;

	add_number(&w->info, 0, 4);
	add_number(&w->info, 4, 2); /* version */
	add_number(&w->info, 0, 4); /* abbreviations */
	add_number(&w->info, 8, 1);
	add_number(&w->info, 1, 1);
	add_number(&w->info, low, 8);
	add_number(&w->info, 16 * (n_functions ? n_functions : 1), 4);
	add_number(&w->info, 0, 4); /* line table */
	for (uint32_t i = 0; i < n_functions; i++) {
		add_number(&w->info, 2, 1);
		add(&w->info, "f", 2);
		add_number(&w->info, low + 16 * i, 8);
		add_number(&w->info, 16, 4);
	}
	add_number(&w->info, 0, 1);
	len = (uint32_t)(w->info.len - start - 4);
	memcpy(w->info.data + start, &len, 4);
}

static void set_dwarf(struct work *w)
{
	w->dwarf = (struct dwarf_input){ .info = section(&w->info),
					 .abbrev = { abbrevs, sizeof(abbrevs) },
					 .line = section(&w->line),
					 .text_start = TEXT,
					 .text_end = UINT64_C(1) << 40 };
}

static void make_functions(struct work *w)
{
	add_unit(w, TEXT, 3000000);
	set_dwarf(w);
}

static void make_units(struct work *w)
{
	for (uint32_t i = 0; i < 1000000; i++)
		add_unit(w, TEXT + 16 * i, 0);
	set_dwarf(w);
}

static void make_lines(struct work *w)
{
	static const uint8_t header[] = { 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1,
					  1, 0, 0, 0,	 1,  0,	 0, 1, 0, 0 };
	static const uint8_t begin[] = { 0, 9, DW_LNE_set_address, 0, TEXT >> 8, 0, 0, 0, 0, 0, 0 };
	static const uint8_t end[] = { 0, 1, DW_LNE_end_sequence };
	uint32_t len;

	add_unit(w, TEXT, 0);
	add_number(&w->line, 0, 4);
	add_number(&w->line, 4, 2);
	add_number(&w->line, sizeof(header), 4);
	add(&w->line, header, sizeof(header));
	add(&w->line, begin, sizeof(begin));
	for (uint32_t i = 0; i < 30000000; i++)
		add_number(&w->line, i % 2 ? DW_LNS_negate_stmt : DW_LNS_set_basic_block, 1);
	add(&w->line, end, sizeof(end));
	len = (uint32_t)w->line.len - 4;
	memcpy(w->line.data, &len, 4);
	set_dwarf(w);
}

static void read_dwarf(struct work *w)
{
	struct dwarf *d = NULL;
	struct dwarf_frame frame;

	if (!dwarf_new(&w->dwarf, &d))
		dwarf_find(d, TEXT + 8, &frame, 1);
	dwarf_free(d);
}

/* Names of 4 bytes: only few different ones, so that reading is what takes long. */
static void make_map(struct work *w)
{
	char path[128];
	FILE *f;

	strcpy(w->dir, "/tmp/hurry_test.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(path, sizeof(path), "%s/tmp", w->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", w->dir);
	f = fopen(path, "w");
	for (int i = 0; i < 1000000; i++)
		fprintf(f, "%x 10 f%d\n", i * 16, i % 1000);
	fclose(f);
}

static void read_map(struct work *w)
{
	SCOPED(close) int root = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct perf_map *m = perf_map_new(root, 1, getuid(), NULL);

	perf_map_refresh(m);
	perf_map_free(m);
}

static void make_dump(struct work *w)
{
	add_number(&w->dump, 0x4a695444, 4);
	add_number(&w->dump, 1, 4);
	add_number(&w->dump, 40, 4);
	for (int i = 0; i < 7; i++)
		add_number(&w->dump, 0, 4);
	for (uint32_t i = 0; i < 1000000; i++) {
		add_number(&w->dump, 0, 4);
		add_number(&w->dump, 58, 4);
		add_number(&w->dump, 1, 8);
		add_number(&w->dump, 0, 8);
		add_number(&w->dump, 0, 8);
		add_number(&w->dump, 16 * (uint64_t)i, 8);
		add_number(&w->dump, 16, 8);
		add_number(&w->dump, i, 8);
		add(&w->dump, "f", 2);
	}
}

static void read_dump(struct work *w)
{
	struct jit_symbols *s = jit_symbols_new(NULL);
	struct jitdump d = { 0 };

	jitdump_read(&d, w->dump.data, w->dump.len, s);
	jit_symbols_free(s);
}

static void make_tables(struct work *w)
{
	/* The return address is 8 below the CFA, which is the stack pointer and 8. */
	static const uint8_t cie[] = { 0,  0, 0, 0,    1, 'z', 'R',  0, 1, 0x78,
				       16, 1, 0, 0x0c, 7, 8,   0x90, 1, 0, 0 };
	uint64_t cie_at = w->eh_frame.len;

	add_number(&w->eh_frame, sizeof(cie), 4);
	add(&w->eh_frame, cie, sizeof(cie));
	for (uint32_t i = 0; i < 1000000; i++) {
		add_number(&w->eh_frame, 28, 4);
		add_number(&w->eh_frame, w->eh_frame.len - cie_at, 4);
		add_number(&w->eh_frame, TEXT + 16 * (uint64_t)i, 8);
		add_number(&w->eh_frame, 16, 8);
		add_number(&w->eh_frame, 0, 1);
		add_number(&w->eh_frame, 0x100e41, 3); /* one byte further the CFA is at 16 */
		add_number(&w->eh_frame, 0, 4);
	}
	add_number(&w->eh_frame, 0, 4);
}

static void read_tables(struct work *w)
{
	struct cfi_input in = { .eh_frame = { .data = w->eh_frame.data,
					      .len = w->eh_frame.len,
					      .vaddr = 0x10000000 },
				.text_vaddr = TEXT };
	struct unwind_table table = { 0 };

	cfi_build(&in, &table);
	unwind_table_deinit(&table);
}

static void make_symbols(struct work *w)
{
	image_init(&w->elf);
	image_functions(&w->elf, 2000000, "\0.symtab", 9);
}

static void read_symbols(struct work *w)
{
	struct symtab *t = NULL;
	struct elf_file elf;

	if (!elf_file_init(&elf, w->elf.data, w->elf.len))
		symtab_new(&elf, ".symtab", NULL, &t);
	symtab_free(t);
	elf_file_deinit(&elf);
}

/* Names of one byte, which are compared with more of them. */
static void make_sections(struct work *w)
{
	image_init(&w->elf);
	for (int i = 0; i < 65000; i++)
		image_section(&w->elf, 1, SHT_PROGBITS, 0, 0, 1, 0);
	image_finish(&w->elf, image_bytes(&w->elf, 0, SHT_STRTAB, "\0a", 3, 0));
}

static void read_sections(struct work *w)
{
	struct elf_file elf;

	if (!elf_file_init(&elf, w->elf.data, w->elf.len))
		for (int i = 0; i < 300; i++)
			elf_file_section(&elf, "b", NULL);
	elf_file_deinit(&elf);
}

static void make_relocations(struct work *w)
{
	size_t len = sizeof(Elf64_Rela) * 1000000;
	uint32_t strings, symbols;
	uint64_t at;

	image_init(&w->elf);
	strings = image_bytes(&w->elf, 0, SHT_STRTAB, "", 1, 0);
	symbols = image_bytes(&w->elf, 0, SHT_DYNSYM, NULL, sizeof(Elf64_Sym), strings);
	at = image_add(&w->elf, NULL, len);
	for (int i = 0; i < 1000; i++)
		image_section(&w->elf, 0, SHT_RELA, 0, at, len, symbols);
	image_finish(&w->elf, 0);
}

static void read_relocations(struct work *w)
{
	struct plt *p = NULL;
	struct elf_file elf;

	if (!elf_file_init(&elf, w->elf.data, w->elf.len) && !plt_new(&elf, NULL, &p))
		plt_free(p);
	elf_file_deinit(&elf);
}

static void make_zstd(struct work *w)
{
	size_t len = 200 << 20, cap = ZSTD_compressBound(len);
	Elf64_Chdr h = { .ch_type = 2, .ch_size = len, .ch_addralign = 1 };
	void *plain = calloc(1, len), *packed = malloc(cap);
	size_t packed_len = ZSTD_compress(packed, cap, plain, len, 1);
	uint64_t at;

	image_init(&w->elf);
	at = image_add(&w->elf, &h, sizeof(h));
	image_add(&w->elf, packed, packed_len);
	image_section(&w->elf, 1, SHT_PROGBITS, SHF_COMPRESSED, at, sizeof(h) + packed_len, 0);
	image_finish(&w->elf, image_bytes(&w->elf, 0, SHT_STRTAB, "\0z", 3, 0));
	free(plain);
	free(packed);
}

static void read_zstd(struct work *w)
{
	struct elf_room room = { .memory = 256 << 20 };
	struct elf_bytes bytes = { 0 };
	struct elf_file elf;

	if (!elf_file_init(&elf, w->elf.data, w->elf.len))
		elf_file_bytes(&elf, "z", &room, &bytes);
	elf_bytes_deinit(&bytes, &room);
	elf_file_deinit(&elf);
}

static void on_timer(int sig)
{
	(void)sig;
	hurry_set(true);
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The CPU time of a reader that is interrupted after so much of it; 0: that is not. */
static uint64_t time_of(void (*read)(struct work *w), struct work *w, uint64_t interrupt_us)
{
	struct itimerval timer = { .it_value = { .tv_usec = (suseconds_t)(interrupt_us % 1000000),
						 .tv_sec = (time_t)(interrupt_us / 1000000) } };
	uint64_t start = cpu_us(), used;

	setitimer(ITIMER_PROF, &timer, NULL);
	read(w);
	used = cpu_us() - start;
	setitimer(ITIMER_PROF, &(struct itimerval){ 0 }, NULL);
	hurry_set(false);
	return used;
}

static void the_second_interrupt_ends_every_reader(void **state)
{
	static const struct {
		const char *what;
		void (*make)(struct work *w), (*read)(struct work *w);
	} cases[] = {
		{ "functions of one DWARF unit", make_functions, read_dwarf },
		{ "DWARF units", make_units, read_dwarf },
		{ "lines of one DWARF unit", make_lines, read_dwarf },
		{ "perf map", make_map, read_map },
		{ "jitdump", make_dump, read_dump },
		{ "unwind table", make_tables, read_tables },
		{ "symbol table", make_symbols, read_symbols },
		{ "sections", make_sections, read_sections },
		{ "relocations", make_relocations, read_relocations },
		{ "section packed by zstd", make_zstd, read_zstd },
	};

	(void)state;
	signal(SIGPROF, on_timer);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct work w = { .dir = "" };
		uint64_t whole, part;
		char command[96];

		cases[i].make(&w);
		whole = time_of(cases[i].read, &w, 0);
		part = time_of(cases[i].read, &w, whole / 8);
		printf("# %s: %u ms, interrupted after %u: %u\n", cases[i].what,
		       (unsigned int)(whole / 1000), (unsigned int)(whole / 8000),
		       (unsigned int)(part / 1000));
		assert_in_range(whole, 30000, UINT32_MAX);  /* or it says nothing */
		assert_in_range(part, 0, whole / 2 + 8000); /* timers tick every 4 ms or 10 */
		image_deinit(&w.elf);
		free(w.info.data);
		free(w.line.data);
		free(w.eh_frame.data);
		free(w.dump.data);
		snprintf(command, sizeof(command), "rm -rf %s", w.dir);
		if (*w.dir)
			assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_interrupt_ends_every_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
