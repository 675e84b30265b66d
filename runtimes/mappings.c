// SPDX-License-Identifier: Apache-2.0
#include "runtimes/mappings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "runtimes/process.h"

struct mapping_array {
	uint32_t refs, cap;
	struct mapping items[];
};

static struct mapping_array *array_of(const struct process *proc)
{
	if (!proc->mappings)
		return NULL;
	return (struct mapping_array *)((char *)proc->mappings -
					offsetof(struct mapping_array, items));
}

void mappings_clear(struct process *proc)
{
	struct mapping_array *a = array_of(proc);

	if (a && --a->refs == 0)
		free(a);
	proc->mappings = NULL;
	proc->n_mappings = 0;
}

void mappings_share(struct process *to, const struct process *from)
{
	struct mapping_array *a = array_of(from);

	if (a)
		a->refs++;
	mappings_clear(to);
	to->mappings = from->mappings;
	to->n_mappings = from->n_mappings;
}

/* Makes the array this process's own, with room for n. */
static int reserve(struct process *proc, size_t n)
{
	struct mapping_array *a = array_of(proc), *own;
	size_t cap = a ? a->cap : 16;

	if (a && a->refs == 1 && n <= a->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	own = malloc(sizeof(*own) + cap * sizeof(*own->items));
	if (!own)
		return -ENOMEM;
	own->refs = 1;
	own->cap = (uint32_t)cap;
	if (proc->n_mappings)
		memcpy(own->items, proc->mappings, proc->n_mappings * sizeof(*own->items));
	n = proc->n_mappings;
	mappings_clear(proc);
	proc->mappings = own->items;
	proc->n_mappings = n;
	return 0;
}

/* Index of the first mapping that ends above addr. */
static size_t lower_bound(const struct process *proc, uint64_t addr)
{
	return ARRAY_COUNT_UP_TO(proc->mappings, proc->n_mappings, end, addr);
}

struct mapping *mappings_find(const struct process *proc, uint64_t pc)
{
	size_t i = lower_bound(proc, pc);

	return i < proc->n_mappings && proc->mappings[i].start <= pc ? &proc->mappings[i] : NULL;
}

/* Is new what old is known to be? A path is seen differently from another root, and one of the two
   may lack the inode. */
static bool is_same_file(const struct mapping *old, const struct mapping *new)
{
	if (old->kind != new->kind)
		return false;
	if (old->kind != MAPPING_FILE)
		return true;
	if (old->ino && new->ino)
		return old->ino == new->ino;
	return old->path == new->path;
}

static bool is_same(const struct mapping *old, const struct mapping *new)
{
	return old->start == new->start && old->end == new->end &&
	       old->pgoff == new->pgoff &&is_same_file(old, new);
}

/* Does old say all that new says? Code generators change the protection of their memory page by
 * page. */
static bool covers(const struct mapping *old, const struct mapping *new)
{
	if (is_same(old, new))
		return true;
	return old->kind == MAPPING_ANON && new->kind == MAPPING_ANON && old->start <= new->start &&
	       old->end >= new->end;
}

static void move_start(struct mapping *m, uint64_t start)
{
	if (m->kind == MAPPING_FILE)
		m->pgoff += start - m->start;
	m->start = start;
}

int mappings_add(struct process *proc, const struct mapping *m)
{
	size_t from = lower_bound(proc, m->start), to = from, n_new = 1;
	struct mapping parts[3];

	if (from < proc->n_mappings && covers(&proc->mappings[from], m) &&
	    proc->mappings[from].start <= m->start)
		return 0;
	/* mappings[from, to) overlap m; what sticks out on either side stays. */
	while (to < proc->n_mappings && proc->mappings[to].start < m->end)
		to++;
	parts[0] = *m;
	if (to > from && proc->mappings[from].start < m->start) {
		parts[0] = proc->mappings[from];
		parts[0].end = m->start;
		parts[n_new++] = *m;
	}
	if (to > from && proc->mappings[to - 1].end > m->end) {
		parts[n_new] = proc->mappings[to - 1];
		move_start(&parts[n_new++], m->end);
	}
	if (proc->n_mappings - (to - from) + n_new > MAX_MAPPINGS)
		return -E2BIG;
	if (reserve(proc, proc->n_mappings - (to - from) + n_new) < 0)
		return -ENOMEM;
	memmove(&proc->mappings[from + n_new], &proc->mappings[to],
		(proc->n_mappings - to) * sizeof(*proc->mappings));
	memcpy(&proc->mappings[from], parts, n_new * sizeof(*parts));
	proc->n_mappings += n_new - (to - from);
	return 1;
}

/* Carries over what is known of mappings that are still there. Returns whether all are. */
static bool inherit(const struct process *old, struct mapping *list, size_t n)
{
	bool is_equal = old->n_mappings == n;

	for (size_t i = 0; i < n; i++) {
		struct mapping *was = mappings_find(old, list[i].start);

		if (!was || !is_same(was, &list[i])) {
			is_equal = false;
			continue;
		}
		if (!was->ino) {
			was->dev = list[i].dev;
			was->ino = list[i].ino;
		}
		list[i] = *was;
	}
	return is_equal;
}

int mappings_assign(struct process *proc, const struct mapping *list, size_t n)
{
	struct process fresh = { 0 };

	if (reserve(&fresh, n ? n : 1) < 0)
		return -ENOMEM;
	if (n)
		memcpy(fresh.mappings, list, n * sizeof(*list));
	fresh.n_mappings = n;
	if (inherit(proc, fresh.mappings, n)) {
		mappings_clear(&fresh);
		return 0;
	}
	mappings_share(proc, &fresh);
	mappings_clear(&fresh);
	return 1;
}

static size_t count_files(const struct mapping *list, size_t n)
{
	size_t n_files = 0;

	for (size_t i = 0; i < n; i++)
		n_files += list[i].kind == MAPPING_FILE;
	return n_files;
}

bool mappings_have_files(const struct process *proc, const struct mapping *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct mapping *known = mappings_find(proc, list[i].start);

		if (list[i].kind == MAPPING_FILE && (!known || !is_same(known, &list[i])))
			return false;
	}
	return count_files(list, n) == count_files(proc->mappings, proc->n_mappings);
}

size_t mappings_memory(const struct process *proc)
{
	const struct mapping_array *a = array_of(proc);

	return a ? (sizeof(*a) + a->cap * sizeof(*a->items)) / a->refs : 0;
}
