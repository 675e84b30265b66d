// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "symbolizer/dwarf_unit.h"

/* How often the whole may be read, and what small files may cost. */
#define WORK_FACTOR 64
#define WORK_MIN (64 << 20)

static uint64_t sum_of(const struct dwarf_input *in)
{
	return in->info.len + in->abbrev.len + in->line.len + in->ranges.len + in->rnglists.len;
}

int dwarf_new(const struct dwarf_input *in, struct dwarf **out)
{
	struct dwarf *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->in = *in;
	d->max_work = sum_of(in) * WORK_FACTOR + WORK_MIN;
	d->strings = intern_new();
	err = d->strings ? units_load(d) : -ENOMEM;
	if (err < 0) {
		dwarf_free(d);
		return err;
	}
	d->work = 0;
	*out = d;
	return 0;
}

void dwarf_free(struct dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_units; i++)
		unit_flush(&d->units[i]);
	intern_free(d->strings);
	free(d->functions);
	free(d->units);
	free(d->map.list);
	free(d);
}

void dwarf_flush(struct dwarf *d)
{
	struct intern *strings = intern_new();

	if (!strings)
		return;
	for (size_t i = 0; i < d->n_units; i++)
		unit_flush(&d->units[i]);
	intern_free(d->strings);
	d->strings = strings;
	free(d->functions);
	d->functions = NULL;
	d->n_functions = d->cap_functions = 0;
	if (has_work(d))
		d->work = 0;
	d->memory = 0;
	if (d->in.alt)
		dwarf_flush(d->in.alt);
}

bool dwarf_is_spent(const struct dwarf *d)
{
	return !has_work(d);
}

size_t dwarf_memory(const struct dwarf *d)
{
	return sizeof(*d) + d->memory + d->cap_units * sizeof(*d->units) +
	       d->map.cap * sizeof(*d->map.list) + d->cap_functions * sizeof(*d->functions) +
	       intern_memory(d->strings);
}

size_t dwarf_droppable(const struct dwarf *d)
{
	return d->memory + (d->in.alt ? d->in.alt->memory : 0);
}

static void name_frame(struct dwarf *d, uint64_t origin, struct dwarf_frame *f)
{
	const struct function_info *info = function_info(d, origin);

	if (!info)
		return;
	f->name = info->name ? info->name : info->linkage_name;
	f->linkage_name = info->linkage_name;
	if (!f->file)
		f->file = info->file;
	/* A beginning in another file than the line's would be read as one in that file. */
	if (info->file && f->file && !strcmp(info->file, f->file))
		f->decl_line = info->line;
}

size_t dwarf_find(struct dwarf *d, uint64_t vaddr, struct dwarf_frame *out, size_t max)
{
	struct dwarf_unit *u = unit_at(d, vaddr);
	const struct dwarf_scope *s;
	const struct dwarf_row *row;
	struct dwarf_frame f = { 0 };
	size_t n = 0;

	if (!u || !max)
		return 0;
	scopes_load(d, u); /* what is damaged is not there; the rest is good */
	lines_load_rows(d, u);
	s = scopes_find(u, vaddr);
	row = lines_find(u, vaddr);
	if (row) {
		f.file = lines_path(d, u, row->file);
		f.line = row->line;
		f.column = row->column;
	}
	if (!s && !row)
		return 0;
	for (; s && n < max; s = s->parent ? &u->scopes[s->parent - 1] : NULL) {
		name_frame(d, s->origin, &f);
		out[n++] = f;
		f = (struct dwarf_frame){ .line = s->call_line, .column = s->call_column };
		if (s->parent)
			f.file = lines_path(d, u, s->call_file);
	}
	if (!n)
		out[n++] = f;
	return n;
}
