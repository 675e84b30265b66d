/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The skeleton of one ELF file: program headers, sections and build id, over bytes we do not trust
 * (Tool Interface Standard, ELF 1.2; System V gABI, "Object Files"). 64 bit, little endian.
 *
 * Bytes are borrowed: they must stay as long as the elf_file. Pointers it hands out lie inside
 * them.
 */
#ifndef SYMBOLIZER_ELF_FILE_H
#define SYMBOLIZER_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_section {
	uint32_t type, link, info;
	uint64_t flags, vaddr, offset, size, entsize;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t vaddr, offset, filesz, memsz, align;
};

struct elf_file {
	const uint8_t *data;
	size_t len;
	uint16_t type, machine;
	uint64_t entry;
	/* Section headers are read when they are asked for: a hostile file has as many as fit. */
	const uint8_t *section_headers;
	size_t n_sections;
	const char *section_names;
	size_t section_names_len;
	struct elf_segment *segments; /* every program header */
	size_t n_segments;
	uint8_t build_id[64];
	size_t build_id_len;
	bool has_go_note;
};

/*
 * What may still be spent on what is made of files: decompressed sections, symbol tables and the
 * rest. Large sections go to a temporary file without a name, as memory that the kernel can take
 * back; small ones, and all where there is no disk, to memory.
 */
struct elf_room {
	uint64_t memory, disk; /* bytes */
};

/* Plain bytes of a section: as they are in the file, or decompressed. */
struct elf_bytes {
	const void *data;
	size_t len;
	void *owned; /* NULL: as they are in the file */
	bool is_on_disk;
};

/* 0; -EBADMSG no ELF or damaged headers; -ENOTSUP another class or byte order; -E2BIG more program
   headers than any program has; -ENOMEM. Damaged sections cost the sections only, as long as there
   are program headers. */
int elf_file_init(struct elf_file *ef, const void *data, size_t len);
void elf_file_deinit(struct elf_file *ef);

/* The first section of a name, or one by its number; false for none. out may be NULL. */
bool elf_file_section(const struct elf_file *ef, const char *name, struct elf_section *out);
bool elf_file_section_at(const struct elf_file *ef, size_t index, struct elf_section *out);
/* The section's bytes as they are in the file; false for one without bytes or outside the file. */
bool elf_file_raw(const struct elf_file *ef, const struct elf_section *s, const void **data,
		  size_t *len);
/* The same, decompressed when need be (zlib, zstd). room NULL: there is none. -ENOENT, -EBADMSG,
   -ENOTSUP, -E2BIG no room, -ENOMEM. */
int elf_file_bytes(const struct elf_file *ef, const char *name, struct elf_room *room,
		   struct elf_bytes *out);
/* Memory of the room, where there is one (not NULL); false: so much is not left. */
bool elf_room_take(struct elf_room *room, uint64_t len);
void elf_room_give(struct elf_room *room, uint64_t len);
/* Gives its room back. Bytes that are all zero are fine. */
void elf_bytes_deinit(struct elf_bytes *b, struct elf_room *room);
/* Anonymous memory in use. */
size_t elf_bytes_memory(const struct elf_bytes *b);
/* File bytes from a virtual address up to the end of its PT_LOAD. */
bool elf_file_at(const struct elf_file *ef, uint64_t vaddr, const void **data, size_t *len);
/* The .eh_frame section; through PT_GNU_EH_FRAME when there are no section headers. */
bool elf_file_eh_frame(const struct elf_file *ef, const void **data, size_t *len, uint64_t *vaddr);

#endif
