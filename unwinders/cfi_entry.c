// SPDX-License-Identifier: Apache-2.0
#include "unwinders/cfi_entry.h"

#include <errno.h>
#include <string.h>

#define LENGTH_64_BIT 0xffffffff       /* the real length follows in 8 bytes */
#define CIE_ID_32 UINT32_C(0xffffffff) /* in .debug_frame; in .eh_frame it is 0 */
/* Of a CIE: it may be read again for each FDE; real ones are some 20 bytes long. */
#define MAX_CIE_LEN 4096
/* Of an FDE: its instructions are run for each row that is asked for; this is some milliseconds. */
#define MAX_FDE_LEN (1 << 20)

/* The frame of an entry: what stands before the fields of a CIE or an FDE. */
struct entry {
	uint64_t offset;
	uint64_t cie_offset; /* of an FDE */
	bool is_cie;
	struct reader body;
};

void cfi_frames_init(struct cfi_frames *f, const struct cfi_input *in, bool is_eh)
{
	const struct cfi_section *s = is_eh ? &in->eh_frame : &in->debug_frame;

	f->is_eh = is_eh;
	reader_init(&f->whole, s->data, s->data ? s->len : 0);
	f->section = f->whole;
	f->bases = (struct eh_bases){ s->vaddr, in->text_vaddr, in->got_vaddr };
}

void cfi_frames_deinit(struct cfi_frames *f)
{
	cfa_memory_deinit(&f->memory);
}

/* Reads the identifier, which says what the entry is and where an FDE's CIE stands. */
static void read_id(struct cfi_frames *f, struct entry *e, bool is_64)
{
	uint64_t at = reader_offset(&e->body) + e->body.base;
	uint64_t id = is_64 ? reader_u64(&e->body, "CIE id") : reader_u32(&e->body, "CIE id");

	if (f->is_eh) {
		e->is_cie = id == 0;
		if (id > at)
			reader_fail(&e->body, -EBADMSG, "CIE pointer");
		e->cie_offset = at - id;
	} else {
		e->is_cie = id == (is_64 ? UINT64_MAX : CIE_ID_32);
		e->cie_offset = id;
	}
}

/* 1; 0 at the end; the entry's own error, with r behind it; or r's error. */
static int entry_read(struct cfi_frames *f, struct reader *r, struct entry *e)
{
	uint64_t len = 0;
	bool is_64;

	/* A zero length ends what one object file brought along; another's may follow. */
	do {
		if (reader_at_end(r))
			return reader_error(r);
		e->offset = reader_offset(r);
		len = reader_u32(r, "entry length");
	} while (len == 0);
	is_64 = len == LENGTH_64_BIT;
	if (is_64)
		len = reader_u64(r, "entry length");
	e->body = reader_sub(r, len, "entry");
	if (reader_error(r))
		return reader_error(r);
	read_id(f, e, is_64);
	return reader_error(&e->body) ? reader_error(&e->body) : 1;
}

/* The letters behind the 'z' say in which order the augmentation data follows. */
static void read_augmentation(struct cfi_frames *f, struct reader *r, const char *letters,
			      struct cfi_cie *cie)
{
	uint64_t len = reader_uleb(r, "augmentation length");
	struct reader data = reader_sub(r, len, "augmentation data");

	for (const char *c = letters; *c && !reader_error(&data); c++) {
		switch (*c) {
		case 'R':
			cie->fde_encoding = reader_u8(&data, "FDE encoding");
			break;
		case 'L':
			reader_u8(&data, "LSDA encoding");
			break;
		case 'P':
			eh_pointer_skip(&data, reader_u8(&data, "personality encoding"), &f->bases);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		default: /* 'B' and 'G' bring no data; behind an unknown letter nothing is certain
			  */
			if (*c != 'B' && *c != 'G')
				return;
		}
	}
	if (reader_error(&data))
		reader_fail(r, reader_error(&data), "augmentation data");
}

static void read_cie_fields(struct cfi_frames *f, struct reader *r, struct cfi_cie *cie)
{
	uint8_t version = reader_u8(r, "CIE version");
	const char *augmentation = reader_string(r, "augmentation");

	if (!augmentation)
		return;
	if (version != 1 && version != 3 && version != 4)
		reader_fail(r, -ENOTSUP, "CIE version");
	if (strcmp(augmentation, "eh") == 0)
		reader_u64(r, "exception table");
	else if (augmentation[0] && augmentation[0] != 'z')
		reader_fail(r, -ENOTSUP, "augmentation");
	if (version == 4) {
		uint8_t address_size = reader_u8(r, "address size");

		if (reader_u8(r, "segment size") != 0 || address_size != 8)
			reader_fail(r, -ENOTSUP, "address size");
	}
	cie->code_align = reader_uleb(r, "code alignment");
	cie->data_align = reader_sleb(r, "data alignment");
	cie->return_register =
		version == 1 ? reader_u8(r, "return register") : reader_uleb(r, "return register");
	cie->has_augmentation = augmentation[0] == 'z';
	if (cie->has_augmentation)
		read_augmentation(f, r, augmentation + 1, cie);
}

/* Fills in *cie, whose err says whether it may be used. */
static void cie_parse(struct cfi_frames *f, uint64_t offset, struct cfi_cie *cie)
{
	struct reader r = f->whole;
	struct cfa_program p = { 0 };
	struct entry e;
	uint64_t next;

	memset(cie, 0, sizeof(*cie));
	cie->offset = offset;
	reader_seek(&r, offset, "CIE pointer");
	cie->err = entry_read(f, &r, &e);
	if (cie->err != 1) {
		cie->err = cie->err ? cie->err : -EBADMSG;
		return;
	}
	if (!e.is_cie || e.offset != offset || reader_left(&e.body) > MAX_CIE_LEN) {
		cie->err = -EBADMSG;
		return;
	}
	read_cie_fields(f, &e.body, cie);
	p.insns = e.body;
	p.memory = &f->memory;
	p.bases = &f->bases;
	p.data_align = cie->data_align;
	/* A CIE's instructions have no place to advance from: code_align 0 makes them stay. */
	f->memory.n = 0;
	cie->err = cfa_program_run(&p, &next);
	if (cie->err > 0)
		cie->err = -EBADMSG;
	cie->initial = p.row;
}

static const struct cfi_cie *cie_at(struct cfi_frames *f, uint64_t offset)
{
	size_t slot = (offset >> 3) % CFI_CACHED_CIES;
	struct cfi_cie *cie = &f->cies[slot];

	if (!f->has_cie[slot] || cie->offset != offset) {
		cie_parse(f, offset, cie);
		f->has_cie[slot] = true;
	}
	return cie;
}

static int fde_parse(struct cfi_frames *f, struct entry *e, struct cfi_fde *out)
{
	struct reader *r = &e->body;
	const struct cfi_cie *cie = cie_at(f, e->cie_offset);
	uint64_t start, len;

	if (cie->err)
		return cie->err;
	if (reader_left(r) > MAX_FDE_LEN)
		return -EBADMSG;
	start = eh_pointer_read(r, cie->fde_encoding, &f->bases);
	len = eh_pointer_read(r, cie->fde_encoding & EH_POINTER_FORMAT, &f->bases);
	if (cie->has_augmentation)
		reader_skip(r, reader_uleb(r, "augmentation length"), "augmentation data");
	if (reader_error(r))
		return reader_error(r);
	if (len > UINT64_MAX - start)
		return -EBADMSG;
	*out = (struct cfi_fde){ cie, e->offset, start, start + len, *r };
	return 0;
}

int cfi_fde_next(struct cfi_frames *f, struct cfi_fde *out)
{
	struct entry e;
	int err;

	do {
		err = entry_read(f, &f->section, &e);
		if (err != 1)
			return err;
	} while (e.is_cie);
	err = fde_parse(f, &e, out);
	return err ? err : 1;
}

int cfi_fde_at(struct cfi_frames *f, uint64_t offset, struct cfi_fde *out)
{
	struct reader r = f->whole;
	struct entry e;
	int err;

	reader_seek(&r, offset, "FDE offset");
	err = entry_read(f, &r, &e);
	if (err != 1)
		return err ? err : -ENOENT;
	return e.is_cie ? -ENOENT : fde_parse(f, &e, out);
}

void cfi_fde_program(struct cfi_frames *f, const struct cfi_fde *fde, struct cfa_program *p)
{
	f->memory.n = 0;
	p->insns = fde->insns;
	p->row = fde->cie->initial;
	p->initial = &fde->cie->initial;
	p->memory = &f->memory;
	p->bases = &f->bases;
	p->code_align = fde->cie->code_align;
	p->data_align = fde->cie->data_align;
	p->encoding = fde->cie->fde_encoding;
	p->pc = fde->start;
}
