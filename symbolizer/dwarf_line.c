// SPDX-License-Identifier: Apache-2.0
/* Line tables of DWARF 2 to 5 (section 6.2): file names and rows of one unit. */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "symbolizer/dwarf_unit.h"

#define MAX_FILES 65535		/* a row has 16 bits for it */
#define MAX_ROWS (8 << 20)
#define MAX_FORMATS 32
#define MAX_PATH_LEN 4096

struct program {
	struct reader tables;	/* directories and files */
	struct reader code;
	uint16_t version;
	uint8_t min_len, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *opcode_lens;
	struct dwarf_unit shape;	/* sizes of forms in here, and the bases of its unit */
};

static int program_open(const struct dwarf *d, const struct dwarf_unit *u, struct program *p)
{
	struct reader r = section_reader(d->in.line, u->line_offset);
	uint64_t len = reader_u32(&r, "line table length");
	uint64_t header_len;

	p->shape = *u;
	p->shape.offset_size = len == UINT32_MAX ? 8 : 4;
	if (len == UINT32_MAX)
		len = reader_u64(&r, "line table length");
	r = reader_sub(&r, len, "line table");
	p->version = p->shape.version = reader_u16(&r, "line table version");
	if (p->version < 2 || p->version > 5)
		return -ENOTSUP;
	if (p->version >= 5) {
		p->shape.addr_size = reader_u8(&r, "address size");
		reader_u8(&r, "segment selector size");
	}
	header_len = read_offset(&r, p->shape.offset_size);
	p->tables = reader_sub(&r, header_len, "line table header");
	p->code = r;
	r = p->tables;
	p->min_len = reader_u8(&r, "instruction length");
	if (p->version >= 4)
		reader_u8(&r, "operations per instruction");
	reader_u8(&r, "default is_stmt");
	p->line_base = (int8_t)reader_u8(&r, "line base");
	p->line_range = reader_u8(&r, "line range");
	p->opcode_base = reader_u8(&r, "opcode base");
	p->opcode_lens = reader_bytes(&r, p->opcode_base ? p->opcode_base - 1u : 0, "opcode lengths");
	p->tables = r;
	if (!p->line_range || !p->opcode_base)
		return -EBADMSG;
	return reader_error(&r) ? reader_error(&r) : reader_error(&p->code);
}

/* Directories or files while they are read. */
struct names {
	struct dwarf_file *list;
	size_t n, cap;
};

static int names_add(struct names *names, const char *dir, const char *name)
{
	if (names->n >= MAX_FILES)
		return -E2BIG;
	if (names->n == names->cap) {
		size_t cap = names->cap ? names->cap * 2 : 16;
		struct dwarf_file *larger = realloc(names->list, cap * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		names->list = larger;
		names->cap = cap;
	}
	names->list[names->n++] = (struct dwarf_file){ dir, name, NULL };
	return 0;
}

static const char *dir_of(const struct names *dirs, uint64_t index)
{
	return index < dirs->n ? dirs->list[index].name : NULL;
}

/* DWARF 2 to 4: directory 0 is the compilation directory, files count from 1. */
static int read_old_tables(const struct dwarf_unit *u, struct reader *r, struct names *dirs, struct names *files)
{
	int err = names_add(dirs, NULL, u->comp_dir);
	const char *name;

	while (!err && (name = reader_string(r, "include directory")) && *name)
		err = names_add(dirs, NULL, name);
	if (!err)
		err = names_add(files, NULL, NULL);
	while (!err && (name = reader_string(r, "file name")) && *name) {
		uint64_t dir = read_uleb(r);

		read_uleb(r);	/* time */
		read_uleb(r);	/* length */
		err = names_add(files, dir_of(dirs, dir), name);
	}
	return err;
}

/* DWARF 5: a table says of which fields an entry is made. */
static int read_new_table(const struct dwarf *d, struct program *p, const struct names *dirs, struct names *out)
{
	struct { uint64_t content; struct dwarf_attr form; } formats[MAX_FORMATS];
	size_t n_formats = reader_u8(&p->tables, "format count"), n;
	int err = 0;

	if (n_formats > MAX_FORMATS)
		return -ENOTSUP;
	for (size_t i = 0; i < n_formats; i++) {
		formats[i].content = read_uleb(&p->tables);
		formats[i].form = (struct dwarf_attr){ .form = (uint16_t)read_uleb(&p->tables) };
	}
	n = reader_count(&p->tables, 1, "line table entries");
	for (size_t i = 0; !err && i < n; i++) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (size_t k = 0; k < n_formats; k++) {
			struct dwarf_value v = value_read(&p->shape, &p->tables, formats[k].form);

			if (formats[k].content == DW_LNCT_path)
				name = value_string(d, &p->shape, &v);
			else if (formats[k].content == DW_LNCT_directory_index)
				dir = v.number;
		}
		err = reader_error(&p->tables);
		if (!err)
			err = names_add(out, dirs ? dir_of(dirs, dir) : NULL, name);
	}
	return err;
}

static int load_files(struct dwarf *d, struct dwarf_unit *u)
{
	struct names dirs = { 0 }, files = { 0 };
	struct program p = { 0 };
	int err = u->has_lines && has_work(d) ? program_open(d, u, &p) : -ENOENT;

	if (!err && p.version < 5)
		err = read_old_tables(u, &p.tables, &dirs, &files);
	else if (!err && !(err = read_new_table(d, &p, NULL, &dirs)))
		err = read_new_table(d, &p, &dirs, &files);
	free(dirs.list);
	u->has_files = true;
	d->work += reader_offset(&p.tables);
	u->files = files.list;	/* those before an error are good */
	u->n_files = (uint32_t)files.n;
	d->memory += files.cap * sizeof(*files.list);
	return err;
}

static bool is_relative(const char *path)
{
	return !path || *path != '/';
}

const char *lines_path(struct dwarf *d, struct dwarf_unit *u, uint64_t index)
{
	char path[MAX_PATH_LEN];
	struct dwarf_file *f;
	uint32_t id;
	int len;

	if (unit_load(d, u) < 0)
		return NULL;
	if (!u->has_files)
		load_files(d, u);
	f = index < u->n_files ? &u->files[index] : NULL;
	if (!f || !f->name || f->path)
		return f ? f->path : NULL;
	if (!is_relative(f->name) || (!f->dir && !u->comp_dir))
		len = snprintf(path, sizeof(path), "%s", f->name);
	else if (!f->dir || !is_relative(f->dir) || !u->comp_dir)
		len = snprintf(path, sizeof(path), "%s/%s", f->dir ? f->dir : u->comp_dir, f->name);
	else
		len = snprintf(path, sizeof(path), "%s/%s/%s", u->comp_dir, f->dir, f->name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return NULL;
	id = intern_add(d->strings, path, (size_t)len);
	return f->path = intern_get(d->strings, id, NULL);
}

struct wide_row {		/* while the program runs */
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
	const struct program *p;
	uint64_t addr, file, line, column;
	struct wide_row *rows;
	size_t n_rows, cap_rows;
	size_t first;		/* row of the sequence that is open */
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
		return 0;	/* addresses only grow within a sequence */
	if (last && row.addr == last->addr && line != ROW_END) {
		*last = row;	/* the last row at an address is the one that holds */
		return 0;
	}
	if (last && line != ROW_END && last->line == row.line && last->file == row.file && last->column == row.column)
		return 0;
	if (m->n_rows >= MAX_ROWS)
		return -E2BIG;
	if (m->n_rows == m->cap_rows) {
		size_t cap = m->cap_rows ? m->cap_rows * 2 : 256;
		struct wide_row *larger = realloc(m->rows, cap * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		m->rows = larger;
		m->cap_rows = cap;
	}
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
	if (m->n_sequences == m->cap_sequences) {
		size_t cap = m->cap_sequences ? m->cap_sequences * 2 : 16;
		struct sequence *larger = realloc(m->sequences, cap * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		m->sequences = larger;
		m->cap_sequences = cap;
	}
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
	const struct program *p = m->p;

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
	case DW_LNS_negate_stmt: case DW_LNS_set_basic_block: case DW_LNS_set_prologue_end:
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
	const struct program *p = m->p;
	struct reader r = p->code;
	int err = 0;

	machine_reset(m);
	while (!err && !reader_at_end(&r)) {
		uint8_t code = reader_u8(&r, "line opcode");

		if (code >= p->opcode_base) {
			code = (uint8_t)(code - p->opcode_base);
			m->addr += (uint64_t)(code / p->line_range) * p->min_len;
			m->line = (uint32_t)(m->line + (uint64_t)(int64_t)(p->line_base + code % p->line_range));
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

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : x->first < y->first ? -1 : x->first > y->first;
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

			u->rows[u->n_rows++] = (struct dwarf_row){ (uint32_t)(row->addr - u->row_base), row->line,
								   row->file, row->column };
		}
	}
	return 0;
}

int lines_load_rows(struct dwarf *d, struct dwarf_unit *u)
{
	struct program p = { 0 };
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
	err = run(&m);	/* sequences before an error are good */
	if (pack(u, &m) < 0)
		err = -ENOMEM;
	free(m.rows);
	free(m.sequences);
	d->memory += u->n_rows * sizeof(*u->rows);
	return err;
}

const struct dwarf_row *lines_find(const struct dwarf_unit *u, uint64_t vaddr)
{
	size_t lo = 0, hi = u->n_rows;

	if (vaddr < u->row_base || vaddr - u->row_base > UINT32_MAX)
		return NULL;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->rows[mid].addr <= vaddr - u->row_base)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->rows[lo - 1].line != ROW_END ? &u->rows[lo - 1] : NULL;
}
