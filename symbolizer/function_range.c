// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/function_range.h"

#include <elf.h>
#include <errno.h>

/* Encodings of pointers (Linux Standard Base 5.0 core, "DWARF Extensions", table 10.5). */
enum { FORMAT_ABSPTR, FORMAT_UDATA2 = 2, FORMAT_UDATA4, FORMAT_UDATA8, FORMAT_SIGNED = 8 };
#define FORMAT_MASK 0x0f
#define BASE_PC 0x10
#define BASE_MASK 0xf0

#define COUNT_ENCODING 0x03 /* four bytes, unsigned */
#define TABLE_ENCODING 0x3b /* four bytes, signed, from the section's start */
#define PAIR_LEN 8
#define LENGTH_64_BIT 0xffffffff /* the real length follows in 8 bytes */

/* A section of a debug file has no bytes; program headers count where there are no sections. */
static bool find_header(const struct elf_file *ef, const void **data, size_t *len, uint64_t *vaddr)
{
	struct elf_section s;

	if (elf_file_section(ef, ".eh_frame_hdr", &s) && !(s.flags & SHF_COMPRESSED) &&
	    elf_file_raw(ef, &s, data, len)) {
		*vaddr = s.vaddr;
		return true;
	}
	for (size_t i = 0; i < ef->n_segments && !ef->n_sections; i++) {
		*vaddr = ef->segments[i].vaddr;
		if (ef->segments[i].type == PT_GNU_EH_FRAME)
			return elf_file_at(ef, *vaddr, data, len);
	}
	return false;
}

static int64_t read_value(struct reader *r, unsigned int format)
{
	const char *what = "FDE address";

	switch (format) {
	case FORMAT_UDATA2:
		return reader_u16(r, what);
	case FORMAT_UDATA2 | FORMAT_SIGNED:
		return (int16_t)reader_u16(r, what);
	case FORMAT_UDATA4:
		return reader_u32(r, what);
	case FORMAT_UDATA4 | FORMAT_SIGNED:
		return (int32_t)reader_u32(r, what);
	case FORMAT_ABSPTR:
	case FORMAT_UDATA8:
	case FORMAT_UDATA8 | FORMAT_SIGNED:
		return (int64_t)reader_u64(r, what);
	}
	reader_fail(r, -ENOTSUP, "pointer format");
	return 0;
}

void function_ranges_init(struct function_ranges *ranges, const struct elf_file *elf)
{
	uint8_t version, pointer_encoding, count_encoding, table_encoding;
	const void *data;
	struct reader r;
	size_t len;
	uint32_t n;

	*ranges = (struct function_ranges){ .elf = elf };
	if (!find_header(elf, &data, &len, &ranges->vaddr))
		return;
	reader_init(&r, data, len);
	version = reader_u8(&r, "version");
	pointer_encoding = reader_u8(&r, "encoding of the pointer");
	count_encoding = reader_u8(&r, "encoding of the count");
	table_encoding = reader_u8(&r, "encoding of the table");
	read_value(&r, pointer_encoding & FORMAT_MASK);
	n = reader_u32(&r, "count");
	if (reader_error(&r) || version != 1 || count_encoding != COUNT_ENCODING ||
	    table_encoding != TABLE_ENCODING)
		return;
	ranges->n = n < reader_left(&r) / PAIR_LEN ? n : reader_left(&r) / PAIR_LEN;
	ranges->table = reader_sub(&r, ranges->n * PAIR_LEN, "table");
}

/* The pair's two addresses; i is below n. */
static void read_pair(const struct function_ranges *ranges, size_t i, uint64_t *start,
		      uint64_t *fde)
{
	struct reader r = ranges->table;

	reader_seek(&r, i * PAIR_LEN, "pair");
	*start = ranges->vaddr + (uint64_t)(int32_t)reader_u32(&r, "function");
	*fde = ranges->vaddr + (uint64_t)(int32_t)reader_u32(&r, "FDE");
}

/* A reader over the entry at an address, and the address of its first byte behind the length. */
static bool open_entry(const struct elf_file *ef, uint64_t vaddr, struct reader *entry,
		       uint64_t *body)
{
	struct reader r;
	const void *data;
	uint64_t len;
	size_t left;

	if (!elf_file_at(ef, vaddr, &data, &left))
		return false;
	reader_init(&r, data, left);
	len = reader_u32(&r, "entry length");
	if (len == LENGTH_64_BIT)
		len = reader_u64(&r, "entry length");
	*body = vaddr + reader_offset(&r);
	*entry = reader_sub(&r, len, "entry");
	return !reader_error(&r);
}

/* The letters behind the 'z' say in which order the augmentation data follows: R is what we want.
 */
static void find_encoding(struct reader *r, const char *letters, uint8_t *encoding)
{
	reader_uleb(r, "augmentation length");
	for (const char *c = letters; *c && !reader_error(r); c++) {
		switch (*c) {
		case 'R':
			*encoding = reader_u8(r, "FDE encoding");
			return;
		case 'L':
			reader_u8(r, "LSDA encoding");
			break;
		case 'P':
			read_value(r, reader_u8(r, "personality encoding") & FORMAT_MASK);
			break;
		default: /* 'S' and 'B' bring no data; behind an unknown letter nothing is certain
			  */
			if (*c != 'S' && *c != 'B')
				reader_fail(r, -ENOTSUP, "augmentation");
		}
	}
}

/* How the FDEs of a CIE write their addresses. */
static bool read_encoding(const struct elf_file *ef, uint64_t cie, uint8_t *encoding)
{
	const char *augmentation;
	uint8_t version;
	uint64_t body;
	struct reader r;

	if (!open_entry(ef, cie, &r, &body) || reader_u32(&r, "CIE id") != 0)
		return false;
	version = reader_u8(&r, "CIE version");
	augmentation = reader_string(&r, "augmentation");
	if (reader_error(&r) || (version != 1 && version != 3))
		return false;
	*encoding = FORMAT_ABSPTR;
	if (*augmentation && *augmentation != 'z')
		return false;
	reader_uleb(&r, "code alignment");
	reader_sleb(&r, "data alignment");
	if (version == 1)
		reader_u8(&r, "return register");
	else
		reader_uleb(&r, "return register");
	if (*augmentation)
		find_encoding(&r, augmentation + 1, encoding);
	return !reader_error(&r);
}

/* An FDE that does not begin where the table says is damage. */
static bool read_fde(const struct function_ranges *ranges, uint64_t fde, uint64_t start,
		     struct function_range *out)
{
	uint64_t body, at, first, size;
	uint8_t encoding;
	struct reader r;
	uint32_t id;

	if (!open_entry(ranges->elf, fde, &r, &body))
		return false;
	id = reader_u32(&r, "CIE pointer");
	if (!id || !read_encoding(ranges->elf, body - id, &encoding))
		return false;
	at = body + reader_offset(&r);
	first = (uint64_t)read_value(&r, encoding & FORMAT_MASK);
	size = (uint64_t)read_value(&r, encoding & FORMAT_MASK & ~FORMAT_SIGNED);
	if ((encoding & BASE_MASK) == BASE_PC)
		first += at;
	else if (encoding & BASE_MASK)
		return false;
	if (reader_error(&r) || first != start || !size || size > UINT64_MAX - start)
		return false;
	*out = (struct function_range){ start, size };
	return true;
}

bool function_range_below(const struct function_ranges *ranges, uint64_t vaddr,
			  struct function_range *out)
{
	size_t lo = 0, hi = ranges->n;
	uint64_t start, fde;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		read_pair(ranges, mid, &start, &fde);
		if (start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	read_pair(ranges, lo - 1, &start, &fde);
	return start <= vaddr && read_fde(ranges, fde, start, out);
}

bool function_range_find(const struct function_ranges *ranges, uint64_t vaddr,
			 struct function_range *out)
{
	struct function_range range;

	if (!function_range_below(ranges, vaddr, &range) || vaddr - range.start >= range.size)
		return false;
	*out = range;
	return true;
}
