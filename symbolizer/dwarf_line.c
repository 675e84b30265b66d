// SPDX-License-Identifier: Apache-2.0
/* The rows of a line table (DWARF 5 section 6.2.5), made once for a unit. */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "symbolizer/dwarf_program.h"

#include "core/array.h"

#define MAX_ROWS (8 << 20)

struct wide_row { /* while the program runs */
	uint64_t addr;
	uint32_t line;
	uint16_t file, column;
};

struct sequence {
	uint64_t start;
	size_t first, n;
};

struct machine {
	const struct dwarf *d;
	const struct dwarf_program *p;
	uint64_t addr, file, line, column;
	struct wide_row *rows;
	size_t n_rows, cap_rows;
	size_t first; /* row of the sequence that is open */
	struct sequence *sequences;
	size_t n_sequences, cap_sequences;
};

static void machine_reset(struct machine *m)
{
	m->addr = m->column = 0;
	m->file = m->line = 1;
}

static int add_row(struct machine *m, uint32_t line)
{
	struct wide_row row = { m->addr, line, m->file <= MAX_FILES ? (uint16_t)m->file : 0,
				m->column < UINT16_MAX ? (uint16_t)m->column : 0 };
	struct wide_row *last = m->n_rows > m->first ? &m->rows[m->n_rows - 1] : NULL;

	if (last && row.addr < last->addr && line != ROW_END)
		return 0; /* addresses only grow within a sequence */
	if (last && row.addr == last->addr && line != ROW_END) {
		*last = row; /* the last row at an address is the one that holds */
		return 0;
	}
	if (last && line != ROW_END && last->line == row.line && last->file == row.file &&
	    last->column == row.column)
		return 0;
	if (m->n_rows >= MAX_ROWS)
		return -E2BIG;
	if (ARRAY_RESERVE(m->rows, m->cap_rows, m->n_rows) < 0)
		return -ENOMEM;
	m->rows[m->n_rows++] = row;
	return 0;
}

/* Keeps the rows since the last sequence if they are code of this file. */
static int end_sequence(struct machine *m)
{
	uint64_t start = m->n_rows > m->first ? m->rows[m->first].addr : 0;
	int err = add_row(m, ROW_END);

	if (err < 0)
		return err;
	if (start < m->d->in.text_start || m->addr > m->d->in.text_end || m->addr <= start ||
	    m->addr - start >= UINT32_MAX) {
		m->n_rows = m->first;
		return 0;
	}
	if (ARRAY_RESERVE(m->sequences, m->cap_sequences, m->n_sequences) < 0)
		return -ENOMEM;
	m->sequences[m->n_sequences++] = (struct sequence){ start, m->first, m->n_rows - m->first };
	m->first = m->n_rows;
	return 0;
}

static int extended(struct machine *m, struct reader *r)
{
	struct reader op = reader_sub(r, read_uleb(r), "extended opcode");
	uint8_t code = reader_u8(&op, "extended opcode");
	size_t left = reader_left(&op);
	int err = 0;

	if (code == DW_LNE_end_sequence) {
		err = end_sequence(m);
		machine_reset(m);
	} else if (code == DW_LNE_set_address && (left == 8 || left == 4)) {
		m->addr = read_offset(&op, (unsigned int)left);
	}
	return err;
}

static int standard(struct machine *m, struct reader *r, uint8_t code)
{
	const struct dwarf_program *p = m->p;

	switch (code) {
	case DW_LNS_copy:
		return add_row(m, (uint32_t)m->line);
	case DW_LNS_advance_pc:
		m->addr += read_uleb(r) * p->min_len;
		return 0;
	case DW_LNS_advance_line:
		m->line = (uint32_t)(m->line + (uint64_t)reader_sleb(r, "line"));
		return 0;
	case DW_LNS_set_file:
		m->file = read_uleb(r);
		return 0;
	case DW_LNS_set_column:
		m->column = read_uleb(r);
		return 0;
	case DW_LNS_const_add_pc:
		m->addr += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_len;
		return 0;
	case DW_LNS_fixed_advance_pc:
		m->addr += reader_u16(r, "address advance");
		return 0;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		return 0;
	default:
		for (uint8_t i = p->opcode_lens[code - 1]; i > 0; i--)
			read_uleb(r);
		return 0;
	}
}

static int run(struct machine *m)
{
	const struct dwarf_program *p = m->p;
	struct reader r = p->code;
	int err = 0;

	machine_reset(m);
	while (!err && !reader_at_end(&r) && !hurry_is_on()) {
		uint8_t code = reader_u8(&r, "line opcode");

		if (code >= p->opcode_base) {
			code = (uint8_t)(code - p->opcode_base);
			m->addr += (uint64_t)(code / p->line_range) * p->min_len;
			m->line = (uint32_t)(m->line + (uint64_t)(int64_t)(p->line_base +
									   code % p->line_range));
			err = add_row(m, (uint32_t)m->line);
		} else if (!code) {
			err = extended(m, &r);
		} else {
			err = standard(m, &r, code);
		}
	}
	return err ? err : reader_error(&r);
}

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	return x->start != y->start  ? (x->start < y->start ? -1 : 1)
	       : x->first < y->first ? -1
				     : x->first > y->first;
}

/* Sequences in order of their addresses, and rows small. */
static int pack(struct dwarf_unit *u, struct machine *m)
{
	if (!m->n_sequences)
		return 0;
	qsort(m->sequences, m->n_sequences, sizeof(*m->sequences), compare_sequences);
	u->row_base = m->sequences[0].start;
	u->rows = calloc(m->first, sizeof(*u->rows));
	if (!u->rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_sequences; i++) {
		const struct sequence *s = &m->sequences[i];

		if (m->rows[s->first + s->n - 1].addr - u->row_base >= UINT32_MAX)
			continue;
		for (size_t k = 0; k < s->n; k++) {
			const struct wide_row *row = &m->rows[s->first + k];

			u->rows[u->n_rows++] =
				(struct dwarf_row){ (uint32_t)(row->addr - u->row_base), row->line,
						    row->file, row->column };
		}
	}
	return 0;
}

int lines_load_rows(struct dwarf *d, struct dwarf_unit *u)
{
	struct dwarf_program p = { 0 };
	struct machine m = { .d = d, .p = &p };
	int err;

	if (u->has_rows)
		return 0;
	u->has_rows = true;
	err = unit_load(d, u);
	if (!err && u->has_lines)
		err = program_open(d, u, &p);
	if (err < 0 || !u->has_lines)
		return err;
	if (!has_work(d))
		return -E2BIG;
	d->work += reader_left(&p.code);
	err = run(&m); /* sequences before an error are good */
	if (pack(u, &m) < 0)
		err = -ENOMEM;
	free(m.rows);
	free(m.sequences);
	d->memory += u->n_rows * sizeof(*u->rows);
	return err;
}

const struct dwarf_row *lines_find(const struct dwarf_unit *u, uint64_t vaddr)
{
	size_t lo;

	if (vaddr < u->row_base || vaddr - u->row_base > UINT32_MAX)
		return NULL;
	lo = ARRAY_COUNT_UP_TO(u->rows, u->n_rows, addr, vaddr - u->row_base);
	return lo && u->rows[lo - 1].line != ROW_END ? &u->rows[lo - 1] : NULL;
}
