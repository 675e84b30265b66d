// SPDX-License-Identifier: Apache-2.0
/* Where the names and callers of a process's binaries would come from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/doctor.h"
#include "core/scoped.h"
#include "core/text.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"

#define BINARIES_SHOWN 8 /* the largest by executable bytes */

/* A file, which may be mapped several times. */
struct binary {
	uint64_t start, largest; /* its largest mapping, and the bytes of that */
	uint64_t len;		 /* executable bytes */
	uint64_t dev, ino;
	uint32_t path;
};

static int by_file(const void *a, const void *b)
{
	const struct binary *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_size(const void *a, const void *b)
{
	const struct binary *x = a, *y = b;

	return x->len < y->len ? 1 : x->len > y->len ? -1 : by_file(a, b);
}

/* Joins the mappings of a file; how many files there are. */
static size_t join(struct binary *list, size_t n_mappings)
{
	size_t n = 0;

	qsort(list, n_mappings, sizeof(*list), by_file);
	for (size_t i = 0; i < n_mappings; i++) {
		struct binary *last = n ? &list[n - 1] : NULL;

		if (!last || last->dev != list[i].dev || last->ino != list[i].ino ||
		    last->path != list[i].path) {
			list[n++] = list[i];
			continue;
		}
		last->len += list[i].len;
		if (list[i].largest > last->largest) {
			last->largest = list[i].largest;
			last->start = list[i].start;
		}
	}
	return n;
}

/* What callers are found by; NULL when there is nothing. */
static const char *unwind_source(struct object *o)
{
	const void *data;
	uint64_t vaddr;
	size_t len;

	if (object_section(o, ".eh_frame", &data, &len, &vaddr))
		return ".eh_frame";
	return object_section(o, ".debug_frame", &data, &len, &vaddr) ? ".debug_frame" : NULL;
}

static void describe_object(struct findings *all, struct object *o, const char *path)
{
	const char *symbols = object_symbol_source(o), *unwind = unwind_source(o);
	struct finding *f = findings_add(all, "binary");

	if (!strcmp(symbols, "none"))
		finding_set(f, FINDING_PART, "install its debug symbols, or --debuginfod",
			    "%s: no symbols, its frames will have no names", path);
	else if (!unwind)
		finding_set(f, FINDING_PART, "",
			    "%s: symbols from %s; no unwind data, callers are guessed", path,
			    symbols);
	else
		finding_set(f, FINDING_OK, "", "%s: symbols from %s%s, callers by %s", path,
			    symbols,
			    strcmp(symbols, "dynsym") ? "" : " (only what it exports has names)",
			    unwind);
}

static void check_binary(struct findings *all, struct processes *ps, struct process *proc,
			 uint64_t start)
{
	struct mapping *m = process_mapping(ps, proc, start);
	char path[256];

	if (!m)
		return; /* it was unmapped just now */
	text_safe(processes_string(ps, m->path), path, sizeof(path));
	if (m->object)
		describe_object(all, m->object, path);
	else
		finding_set(findings_add(all, "binary"), FINDING_PART, "",
			    "%s cannot be opened: its frames will have no names", path);
}

static void count_mappings(struct findings *all, const struct process *proc, size_t n_of_files)
{
	size_t n_anonymous = 0;

	for (size_t i = 0; i < proc->n_mappings; i++)
		n_anonymous += proc->mappings[i].kind == MAPPING_ANON;
	finding_set(findings_add(all, "mappings"), FINDING_OK, "",
		    "%zu executable: %zu of files, %zu anonymous%s", proc->n_mappings, n_of_files,
		    n_anonymous,
		    n_anonymous ? " (generated code: names only from a perf map or jitdump)" : "");
}

int doctor_check_binaries(struct findings *all, struct processes *ps, struct process *proc,
			  bool all_binaries)
{
	/* Copies, since opening a file may move the mappings. */
	SCOPED(free) struct binary *list = calloc(proc->n_mappings + 1, sizeof(*list));
	size_t n = 0, n_shown;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < proc->n_mappings; i++) {
		const struct mapping *m = &proc->mappings[i];
		uint64_t len = m->end - m->start;

		if (m->kind == MAPPING_FILE)
			list[n++] = (struct binary){ m->start, len, len, m->dev, m->ino, m->path };
	}
	count_mappings(all, proc, n);
	n = join(list, n);
	qsort(list, n, sizeof(*list), by_size);
	n_shown = n > BINARIES_SHOWN && !all_binaries ? BINARIES_SHOWN : n;
	for (size_t i = 0; i < n_shown; i++)
		check_binary(all, ps, proc, list[i].start);
	if (n > n_shown)
		finding_set(findings_add(all, "binaries"), FINDING_OK, "",
			    "%zu smaller ones: doctor -v says more of them", n - n_shown);
	return 0;
}
