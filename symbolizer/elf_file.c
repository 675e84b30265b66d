// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "core/reader.h"

#define MAX_SECTIONS 65536
#define MAX_SEGMENTS 1170 /* the kernel runs no program with more than 64 KiB of headers */
#define MAX_NOTES 65536	  /* of a file: many sections may mean the same bytes */
#define NT_GO_BUILD_ID 4

struct header {
	uint64_t phoff, shoff;
	uint64_t n_segments, n_sections;
	uint32_t shstrndx;
};

static struct elf_section read_section(struct reader *r)
{
	struct elf_section s = { 0 };

	reader_u32(r, "section name");
	s.type = reader_u32(r, "section type");
	s.flags = reader_u64(r, "section flags");
	s.vaddr = reader_u64(r, "section address");
	s.offset = reader_u64(r, "section offset");
	s.size = reader_u64(r, "section size");
	s.link = reader_u32(r, "section link");
	s.info = reader_u32(r, "section info");
	reader_u64(r, "section alignment");
	s.entsize = reader_u64(r, "section entry size");
	return s;
}

static struct elf_segment read_segment(struct reader *r)
{
	struct elf_segment s = { 0 };

	s.type = reader_u32(r, "segment type");
	s.flags = reader_u32(r, "segment flags");
	s.offset = reader_u64(r, "segment offset");
	s.vaddr = reader_u64(r, "segment address");
	reader_u64(r, "segment physical address");
	s.filesz = reader_u64(r, "segment file size");
	s.memsz = reader_u64(r, "segment memory size");
	s.align = reader_u64(r, "segment alignment");
	return s;
}

static int read_header(struct elf_file *ef, struct header *h)
{
	struct reader r;
	const uint8_t *ident;

	reader_init(&r, ef->data, ef->len);
	ident = reader_bytes(&r, EI_NIDENT, "ELF identification");
	if (!ident || memcmp(ident, ELFMAG, SELFMAG))
		return -EBADMSG;
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	ef->type = reader_u16(&r, "ELF type");
	ef->machine = reader_u16(&r, "machine");
	reader_u32(&r, "ELF version");
	ef->entry = reader_u64(&r, "entry point");
	h->phoff = reader_u64(&r, "program header offset");
	h->shoff = reader_u64(&r, "section header offset");
	reader_u32(&r, "flags");
	reader_u16(&r, "header size");
	if (reader_u16(&r, "program header size") != sizeof(Elf64_Phdr))
		h->phoff = 0;
	h->n_segments = reader_u16(&r, "program header count");
	if (reader_u16(&r, "section header size") != sizeof(Elf64_Shdr))
		h->shoff = 0;
	h->n_sections = reader_u16(&r, "section header count");
	h->shstrndx = reader_u16(&r, "section name table");
	return reader_error(&r);
}

/* Section 0 holds what does not fit into the header's 16 bits. */
static void read_large_counts(const struct elf_file *ef, struct header *h)
{
	struct elf_section first;
	struct reader r;

	if (!h->shoff)
		return;
	reader_init(&r, ef->data, ef->len);
	reader_seek(&r, h->shoff, "section headers");
	first = read_section(&r);
	if (reader_error(&r))
		return;
	if (!h->n_sections)
		h->n_sections = first.size;
	if (h->shstrndx == SHN_XINDEX)
		h->shstrndx = first.link;
	if (h->n_segments == PN_XNUM)
		h->n_segments = first.info;
}

static int read_segments(struct elf_file *ef, const struct header *h)
{
	struct reader r;

	if (!h->phoff || !h->n_segments)
		return 0;
	reader_init(&r, ef->data, ef->len);
	reader_seek(&r, h->phoff, "program headers");
	if (reader_error(&r) || h->n_segments > reader_left(&r) / sizeof(Elf64_Phdr))
		return -EBADMSG;
	if (h->n_segments > MAX_SEGMENTS)
		return -E2BIG;
	ef->segments = calloc(h->n_segments, sizeof(*ef->segments));
	if (!ef->segments)
		return -ENOMEM;
	while (ef->n_segments < h->n_segments)
		ef->segments[ef->n_segments++] = read_segment(&r);
	return reader_error(&r);
}

static int find_sections(struct elf_file *ef, const struct header *h)
{
	struct elf_section names;
	const void *data;
	struct reader r;

	if (!h->shoff || !h->n_sections)
		return 0;
	reader_init(&r, ef->data, ef->len);
	reader_seek(&r, h->shoff, "section headers");
	if (reader_error(&r) || h->n_sections > reader_left(&r) / sizeof(Elf64_Shdr) ||
	    h->n_sections > MAX_SECTIONS)
		return ef->n_segments ? 0 : -EBADMSG;
	ef->section_headers = r.pos;
	ef->n_sections = h->n_sections;
	if (elf_file_section_at(ef, h->shstrndx, &names) &&
	    elf_file_raw(ef, &names, &data, &ef->section_names_len))
		ef->section_names = data;
	return 0;
}

/* A step for each note, whatever its length. */
static void read_notes(struct elf_file *ef, const void *data, size_t len, unsigned int *n_left)
{
	struct reader r;

	reader_init(&r, data, len);
	while (!reader_at_end(&r) && *n_left && !hurry_is_on()) {
		uint32_t name_len = reader_u32(&r, "note name length");
		uint32_t desc_len = reader_u32(&r, "note length");
		uint32_t type = reader_u32(&r, "note type");
		const char *name =
			reader_bytes(&r, ((uint64_t)name_len + 3) & ~UINT64_C(3), "note name");
		const uint8_t *desc = reader_bytes(&r, desc_len, "note");

		--*n_left;
		if (!name || !desc)
			return;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(name, "GNU", 4) &&
		    desc_len <= sizeof(ef->build_id) && !ef->build_id_len) {
			memcpy(ef->build_id, desc, desc_len);
			ef->build_id_len = desc_len;
		}
		if (type == NT_GO_BUILD_ID && name_len == 4 && !memcmp(name, "Go\0", 4))
			ef->has_go_note = true;
		if (desc_len % 4)
			reader_skip(&r, 4 - desc_len % 4, "note padding");
	}
}

static bool file_range(const struct elf_file *ef, uint64_t offset, uint64_t size, const void **data,
		       size_t *len)
{
	if (offset > ef->len || size > ef->len - offset || !size)
		return false;
	*data = ef->data + offset;
	*len = size;
	return true;
}

static void find_notes(struct elf_file *ef)
{
	unsigned int n_left = MAX_NOTES;
	const void *data;
	size_t len;

	for (size_t i = 0; i < ef->n_sections && n_left && !hurry_is_on(); i++) {
		struct elf_section s;

		if (elf_file_section_at(ef, i, &s) && s.type == SHT_NOTE &&
		    elf_file_raw(ef, &s, &data, &len))
			read_notes(ef, data, len, &n_left);
	}
	for (size_t i = 0; i < ef->n_segments; i++) {
		const struct elf_segment *s = &ef->segments[i];

		if (s->type == PT_NOTE && file_range(ef, s->offset, s->filesz, &data, &len))
			read_notes(ef, data, len, &n_left);
	}
}

int elf_file_init(struct elf_file *ef, const void *data, size_t len)
{
	struct header h = { 0 };
	int err;

	*ef = (struct elf_file){ .data = data, .len = len };
	err = read_header(ef, &h);
	if (err < 0)
		return err;
	read_large_counts(ef, &h);
	err = read_segments(ef, &h);
	if (!err)
		err = find_sections(ef, &h);
	if (err < 0) {
		elf_file_deinit(ef);
		return err;
	}
	find_notes(ef);
	return 0;
}

void elf_file_deinit(struct elf_file *ef)
{
	free(ef->segments);
	*ef = (struct elf_file){ 0 };
}

bool elf_file_section_at(const struct elf_file *ef, size_t index, struct elf_section *out)
{
	struct elf_section s;
	struct reader r;

	if (index >= ef->n_sections)
		return false;
	reader_init(&r, ef->section_headers, ef->n_sections * sizeof(Elf64_Shdr));
	reader_seek(&r, index * sizeof(Elf64_Shdr), "section header");
	s = read_section(&r);
	if (out)
		*out = s;
	return true;
}

/* No more of the names is looked at than this one is long. */
bool elf_file_section(const struct elf_file *ef, const char *name, struct elf_section *out)
{
	size_t len = strlen(name) + 1;
	struct reader r;

	reader_init(&r, ef->section_headers, ef->n_sections * sizeof(Elf64_Shdr));
	for (size_t i = 0; i < ef->n_sections && !hurry_is_on(); i++) {
		uint32_t at;

		reader_seek(&r, i * sizeof(Elf64_Shdr), "section header");
		at = reader_u32(&r, "section name");
		if (at < ef->section_names_len && len <= ef->section_names_len - at &&
		    !memcmp(ef->section_names + at, name, len))
			return elf_file_section_at(ef, i, out);
	}
	return false;
}

bool elf_file_raw(const struct elf_file *ef, const struct elf_section *s, const void **data,
		  size_t *len)
{
	return s->type != SHT_NOBITS && s->type != SHT_NULL &&
	       file_range(ef, s->offset, s->size, data, len);
}

bool elf_file_at(const struct elf_file *ef, uint64_t vaddr, const void **data, size_t *len)
{
	for (size_t i = 0; i < ef->n_segments; i++) {
		const struct elf_segment *s = &ef->segments[i];
		uint64_t skip = vaddr - s->vaddr;

		if (s->type == PT_LOAD && vaddr >= s->vaddr && skip < s->filesz &&
		    s->offset <= UINT64_MAX - skip)
			return file_range(ef, s->offset + skip, s->filesz - skip, data, len);
	}
	return false;
}
