// SPDX-License-Identifier: Apache-2.0
/* Line tables of DWARF 2 to 5 (section 6.2): their header and the files it names. */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/array.h"
#include "symbolizer/dwarf_program.h"

#define MAX_FORMATS 32
#define MAX_PATH_LEN 4096

int program_open(const struct dwarf *d, const struct dwarf_unit *u, struct dwarf_program *p)
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
	p->opcode_lens =
		reader_bytes(&r, p->opcode_base ? p->opcode_base - 1u : 0, "opcode lengths");
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
	if (ARRAY_RESERVE(names->list, names->cap, names->n) < 0)
		return -ENOMEM;
	names->list[names->n++] = (struct dwarf_file){ dir, name, NULL };
	return 0;
}

static const char *dir_of(const struct names *dirs, uint64_t index)
{
	return index < dirs->n ? dirs->list[index].name : NULL;
}

/* DWARF 2 to 4: directory 0 is the compilation directory, files count from 1. */
static int read_old_tables(const struct dwarf_unit *u, struct reader *r, struct names *dirs,
			   struct names *files)
{
	int err = names_add(dirs, NULL, u->comp_dir);
	const char *name;

	while (!err && (name = reader_string(r, "include directory")) && *name)
		err = names_add(dirs, NULL, name);
	if (!err)
		err = names_add(files, NULL, NULL);
	while (!err && (name = reader_string(r, "file name")) && *name) {
		uint64_t dir = read_uleb(r);

		read_uleb(r); /* time */
		read_uleb(r); /* length */
		err = names_add(files, dir_of(dirs, dir), name);
	}
	return err;
}

/* DWARF 5: a table says of which fields an entry is made. */
static int read_new_table(const struct dwarf *d, struct dwarf_program *p, const struct names *dirs,
			  struct names *out)
{
	struct {
		uint64_t content;
		struct dwarf_attr form;
	} formats[MAX_FORMATS];
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
	struct dwarf_program p = { 0 };
	int err = u->has_lines && has_work(d) ? program_open(d, u, &p) : -ENOENT;

	if (!err && p.version < 5)
		err = read_old_tables(u, &p.tables, &dirs, &files);
	else if (!err && !(err = read_new_table(d, &p, NULL, &dirs)))
		err = read_new_table(d, &p, &dirs, &files);
	free(dirs.list);
	u->has_files = true;
	d->work += reader_offset(&p.tables);
	u->files = files.n ? realloc(files.list, files.n * sizeof(*files.list)) : NULL;
	if (!u->files)
		u->files = files.list;
	u->n_files = (uint32_t)files.n; /* those before an error are good */
	d->memory += files.n * sizeof(*files.list);
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
