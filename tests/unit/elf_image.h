/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files that no linker would make, section by section, in memory. */
#ifndef TESTS_UNIT_ELF_IMAGE_H
#define TESTS_UNIT_ELF_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_TEXT 0x1000 /* where the code is said to be: a segment without bytes */
#define IMAGE_TEXT_LEN 0x40000000

struct elf_image {
	uint8_t *data;
	size_t len, cap;
	Elf64_Shdr *sections;
	size_t n_sections, cap_sections;
};

static inline uint64_t image_add(struct elf_image *e, const void *bytes, size_t len)
{
	uint64_t at = e->len;

	if (len > e->cap - e->len) {
		e->cap = 2 * (e->len + len);
		e->data = realloc(e->data, e->cap);
	}
	if (bytes)
		memcpy(e->data + at, bytes, len);
	else
		memset(e->data + at, 0, len);
	e->len += len;
	return at;
}

static inline void image_init(struct elf_image *e)
{
	*e = (struct elf_image){ 0 };
	image_add(e, NULL, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
}

static inline void image_deinit(struct elf_image *e)
{
	free(e->data);
	free(e->sections);
}

/* A section whose name is at an offset of the names. Its number. */
static inline uint32_t image_section(struct elf_image *e, uint32_t name, uint32_t type,
				     uint64_t flags, uint64_t offset, uint64_t size, uint32_t link)
{
	if (e->n_sections == e->cap_sections) {
		e->cap_sections = 2 * e->cap_sections + 16;
		e->sections = realloc(e->sections, e->cap_sections * sizeof(*e->sections));
	}
	if (!e->n_sections) /* the first one is none */
		e->sections[e->n_sections++] = (Elf64_Shdr){ 0 };
	e->sections[e->n_sections] = (Elf64_Shdr){ .sh_name = name,
						   .sh_type = type,
						   .sh_flags = flags,
						   .sh_addr = IMAGE_TEXT,
						   .sh_offset = offset,
						   .sh_size = size,
						   .sh_link = link };
	return (uint32_t)e->n_sections++;
}

/* A section with bytes of its own. */
static inline uint32_t image_bytes(struct elf_image *e, uint32_t name, uint32_t type,
				   const void *bytes, size_t len, uint32_t link)
{
	return image_section(e, name, type, 0, image_add(e, bytes, len), len, link);
}

/* Writes the headers; `names` is the number of the section with the names. */
static inline void image_finish(struct elf_image *e, uint32_t names)
{
	Elf64_Ehdr h = { .e_type = ET_DYN,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = (uint16_t)e->n_sections,
			 .e_shstrndx = (uint16_t)names };
	Elf64_Phdr text = { .p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = IMAGE_TEXT,
			    .p_memsz = IMAGE_TEXT_LEN };

#ifdef __aarch64__
	h.e_machine = EM_AARCH64;
#else
	h.e_machine = EM_X86_64;
#endif
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_shoff = image_add(e, e->sections, e->n_sections * sizeof(*e->sections));
	memcpy(e->data, &h, sizeof(h));
	memcpy(e->data + sizeof(h), &text, sizeof(text));
}

/* n functions of 16 bytes and of one name, in reverse, with their strings and the section of code.
   The sections' names are ".symtab" at 1 and others behind it, as the caller needs them. */
static inline void image_functions(struct elf_image *e, uint32_t n, const char *names,
				   size_t names_len)
{
	uint32_t code = image_section(e, 0, SHT_NOBITS, SHF_EXECINSTR, 0, IMAGE_TEXT_LEN, 0);
	uint32_t strings = image_bytes(e, 0, SHT_STRTAB, "\0some_function", 15, 0);
	uint64_t at = image_add(e, NULL, 0);
	uint32_t table;

	for (uint32_t i = n; i-- > 0;) {
		Elf64_Sym s = { .st_name = 1,
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_shndx = (uint16_t)code,
				.st_value = IMAGE_TEXT + 16 * (uint64_t)i,
				.st_size = 16 };

		image_add(e, &s, sizeof(s));
	}
	image_section(e, 1, SHT_SYMTAB, 0, at, e->len - at, strings);
	table = image_bytes(e, 0, SHT_STRTAB, names, names_len, 0);
	image_finish(e, table);
}

#endif
