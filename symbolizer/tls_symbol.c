// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/tls_symbol.h"

#include <elf.h>
#include <string.h>

#include "core/hurry.h"
#include "core/reader.h"
#include "symbolizer/elf_file.h"

/* Of symbols and relocations: those of the largest files are some 50 MB. */
#define MAX_BYTES (UINT64_C(64) << 20)
#define N_BETWEEN_HURRIES 65536

#ifdef __aarch64__
enum { OFFSET_RELOC = 1030, MODULE_RELOC = 1028, DESCRIPTOR_RELOC = 1031 };
#define TLS_HEAD 16 /* the variables of a program are behind it */
#else
enum {
	OFFSET_RELOC = R_X86_64_TPOFF64,
	MODULE_RELOC = R_X86_64_DTPMOD64,
	DESCRIPTOR_RELOC = R_X86_64_TLSDESC,
};
#endif

/* A variable in the table of dynamic symbols. */
struct variable {
	uint32_t number;
	uint64_t value;
};

static bool is_called(const void *strings, size_t len, uint32_t at, const char *name)
{
	size_t n = strlen(name) + 1;

	return at < len && n <= len - at && !memcmp((const char *)strings + at, name, n);
}

static bool find_variable(const struct elf_file *ef, const char *name, struct variable *out)
{
	struct elf_section table, names;
	const void *symbols, *strings;
	size_t len, strings_len;
	struct reader r;

	if (!elf_file_section(ef, ".dynsym", &table) || !elf_file_raw(ef, &table, &symbols, &len) ||
	    !elf_file_section_at(ef, table.link, &names) ||
	    !elf_file_raw(ef, &names, &strings, &strings_len) || len > MAX_BYTES ||
	    !memmem(strings, strings_len, name, strlen(name) + 1))
		return false;
	reader_init(&r, symbols, len);
	for (uint32_t i = 0; reader_left(&r) >= sizeof(Elf64_Sym); i++) {
		uint32_t at = reader_u32(&r, "symbol name");
		uint8_t info = reader_u8(&r, "symbol info");
		uint16_t section;

		reader_u8(&r, "symbol visibility");
		section = reader_u16(&r, "symbol section");
		out->number = i;
		out->value = reader_u64(&r, "symbol value");
		reader_u64(&r, "symbol size");
		if (ELF64_ST_TYPE(info) == STT_TLS && section != SHN_UNDEF &&
		    is_called(strings, strings_len, at, name))
			return true;
		if (i % N_BETWEEN_HURRIES == 0 && hurry_is_on())
			return false;
	}
	return false;
}

static enum tls_model model_of(uint32_t type)
{
	switch (type) {
	case OFFSET_RELOC:
		return TLS_OFFSET_AT;
	case MODULE_RELOC:
		return TLS_PAIR_AT;
	case DESCRIPTOR_RELOC:
		return TLS_DESCRIPTOR_AT;
	default:
		return TLS_NONE;
	}
}

/* How one section of relocations has its place in the GOT filled. */
static struct tls_symbol find_relocation(const struct elf_file *ef, const struct elf_section *s,
					 uint32_t number)
{
	const void *data;
	struct reader r;
	size_t len;

	if (s->type != SHT_RELA || !elf_file_raw(ef, s, &data, &len) || len > MAX_BYTES)
		return (struct tls_symbol){ 0 };
	reader_init(&r, data, len);
	for (size_t i = 0; reader_left(&r) >= sizeof(Elf64_Rela); i++) {
		uint64_t got = reader_u64(&r, "relocation offset");
		uint64_t info = reader_u64(&r, "relocation info");
		uint64_t addend = reader_u64(&r, "relocation addend");
		enum tls_model model = model_of((uint32_t)ELF64_R_TYPE(info));

		if (model != TLS_NONE && ELF64_R_SYM(info) == number && !addend)
			return (struct tls_symbol){ model, 0, got };
		if (i % N_BETWEEN_HURRIES == 0 && hurry_is_on())
			break;
	}
	return (struct tls_symbol){ 0 };
}

/* The program's own variables are where its linker has put them, next to the thread pointer. */
static struct tls_symbol in_program(const struct elf_file *ef, uint64_t value)
{
	for (size_t i = 0; i < ef->n_segments; i++) {
		const struct elf_segment *s = &ef->segments[i];
		uint64_t align = s->align ? s->align : 1, end;

		if (s->type != PT_TLS)
			continue;
		if (align & (align - 1) || align > 1 << 20 || s->memsz > 1 << 30 ||
		    value >= s->memsz)
			break;
#ifdef __aarch64__
		end = (TLS_HEAD + align - 1) & ~(align - 1);
		return (struct tls_symbol){ TLS_AT_OFFSET, (int64_t)(end + value), 0 };
#else
		end = (s->memsz + align - 1) & ~(align - 1);
		return (struct tls_symbol){ TLS_AT_OFFSET, (int64_t)(value - end), 0 };
#endif
	}
	return (struct tls_symbol){ 0 };
}

static bool is_program(const struct elf_file *ef)
{
	return ef->type == ET_EXEC || elf_file_section(ef, ".interp", NULL);
}

struct tls_symbol tls_symbol_find(const struct elf_file *ef, const char *name)
{
	struct tls_symbol found = { 0 };
	struct elf_section s;
	struct variable v;

	if (!find_variable(ef, name, &v))
		return found;
	if (is_program(ef))
		return in_program(ef, v.value);
	for (size_t i = 0; found.model == TLS_NONE && elf_file_section_at(ef, i, &s); i++)
		found = find_relocation(ef, &s, v.number);
	return found;
}
