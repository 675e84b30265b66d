// SPDX-License-Identifier: Apache-2.0
#include "unwinders/cfi_row.h"

#include <errno.h>
#include <string.h>

#include "unwinders/cfi_entry.h"

#define HDR_VERSION 1
#define HDR_TABLE_ENCODING 0x3b /* data-relative, 4 bytes, signed: what every linker writes */
#define HDR_ENTRY 8

static int64_t hdr_pair(const struct reader *table, uint64_t i, int64_t *second)
{
	struct reader r = *table;
	int64_t first;

	reader_skip(&r, i * HDR_ENTRY, "search table");
	first = (int32_t)reader_u32(&r, "function address");
	*second = (int32_t)reader_u32(&r, "entry address");
	return first;
}

/* The address of the FDE whose function starts last at or before vaddr. False: no usable table. */
static bool hdr_search(const struct cfi_input *in, uint64_t vaddr, uint64_t *fde)
{
	struct eh_bases bases = { .section = in->eh_frame_hdr.vaddr,
				  .data = in->eh_frame_hdr.vaddr };
	uint64_t low = 0, high;
	uint8_t frame_encoding, count_encoding;
	int64_t second;
	struct reader r;

	reader_init(&r, in->eh_frame_hdr.data, in->eh_frame_hdr.data ? in->eh_frame_hdr.len : 0);
	if (reader_u8(&r, "version") != HDR_VERSION)
		return false;
	frame_encoding = reader_u8(&r, "frame encoding");
	count_encoding = reader_u8(&r, "count encoding");
	if (reader_u8(&r, "table encoding") != HDR_TABLE_ENCODING)
		return false;
	eh_pointer_skip(&r, frame_encoding, &bases);
	high = eh_pointer_read(&r, count_encoding, &bases);
	if (reader_error(&r) || high == 0 || high > reader_left(&r) / HDR_ENTRY)
		return false;
	while (high - low > 1) {
		uint64_t mid = low + (high - low) / 2;

		if (bases.data + (uint64_t)hdr_pair(&r, mid, &second) <= vaddr)
			low = mid;
		else
			high = mid;
	}
	if (bases.data + (uint64_t)hdr_pair(&r, low, &second) > vaddr)
		return false;
	*fde = bases.data + (uint64_t)second;
	return true;
}

static bool fde_covers(const struct cfi_fde *fde, uint64_t vaddr)
{
	return vaddr >= fde->start && vaddr < fde->end;
}

/* By the search table if there is one and it is right. */
static int find_by_hdr(struct cfi_frames *f, const struct cfi_input *in, uint64_t vaddr,
		       struct cfi_fde *fde)
{
	uint64_t addr;

	if (!hdr_search(in, vaddr, &addr) || addr < in->eh_frame.vaddr)
		return -ENOENT;
	if (cfi_fde_at(f, addr - in->eh_frame.vaddr, fde) || !fde_covers(fde, vaddr))
		return -ENOENT;
	return 0;
}

static int find_by_scan(struct cfi_frames *f, uint64_t vaddr, uint32_t *budget, struct cfi_fde *fde)
{
	int err;

	while ((err = cfi_fde_next(f, fde)) != 0) {
		if (err < 0 && reader_at_end(&f->section))
			return -ENOENT;
		if (err > 0 && fde->start && fde_covers(fde, vaddr))
			return 0;
		if (*budget == 0)
			return -E2BIG;
		--*budget;
	}
	return -ENOENT;
}

static int run_to(struct cfi_frames *f, const struct cfi_fde *fde, uint64_t vaddr,
		  struct cfi_row *out)
{
	struct cfa_program p = { 0 };
	uint64_t next;
	int more;

	cfi_fde_program(f, fde, &p);
	while ((more = cfa_program_run(&p, &next)) == 1 && next <= vaddr)
		p.pc = next;
	if (more < 0)
		return more;
	*out = (struct cfi_row){ p.row, fde->start, fde->end, fde->cie->return_register,
				 fde->cie->is_signal };
	return 0;
}

int cfi_row_find(const struct cfi_input *in, uint64_t vaddr, uint32_t *budget, struct cfi_row *out)
{
	int err = -ENOENT;

	for (int is_debug = 0; is_debug < 2 && err == -ENOENT; is_debug++) {
		struct cfi_frames f = { 0 };
		struct cfi_fde fde;

		cfi_frames_init(&f, in, !is_debug);
		if (!is_debug)
			err = find_by_hdr(&f, in, vaddr, &fde);
		if (err == -ENOENT)
			err = find_by_scan(&f, vaddr, budget, &fde);
		if (!err)
			err = run_to(&f, &fde, vaddr, out);
		cfi_frames_deinit(&f);
	}
	return err;
}
