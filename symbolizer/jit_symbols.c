// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "symbolizer/jit_table.h"

/* Ranges over one address that a lookup looks at: more of them are made to waste our time. */
#define MAX_VISITS 4096

struct jit_symbols *jit_symbols_new(struct jit_room *room)
{
	struct jit_symbols *s = calloc(1, sizeof(*s));

	if (s && !(s->text = intern_new())) {
		free(s);
		return NULL;
	}
	if (s && room) {
		s->room = room;
		s->next = room->holders;
		s->link = &room->holders;
		if (s->next)
			s->next->link = &s->next;
		room->holders = s;
	}
	return s;
}

void jit_symbols_free(struct jit_symbols *s)
{
	if (!s)
		return;
	if (s->room) {
		s->room->used -= s->counted;
		*s->link = s->next;
		if (s->next)
			s->next->link = s->link;
	}
	intern_free(s->text);
	free(s->ranges);
	free(s->lines);
	free(s->order);
	free(s->max_end);
	free(s);
}

size_t jit_symbols_count(const struct jit_symbols *s)
{
	return s->n;
}

size_t jit_symbols_memory(const struct jit_symbols *s)
{
	return sizeof(*s) + intern_memory(s->text) + s->cap * RANGE_LEN +
	       s->cap_lines * sizeof(*s->lines);
}

static uint32_t copy_text(struct intern *to, const struct intern *from, uint32_t id)
{
	size_t len;
	const char *text = intern_get(from, id, &len);

	return text ? intern_add(to, text, len) : 0;
}

/* Forgets the lines of the ranges that went, and takes the texts of those that stay to `text`. */
static void keep_lines(struct jit_symbols *s, size_t first, struct intern *text)
{
	s->n_lines -= first;
	s->first_pending -= first;
	if (s->n_lines)
		memmove(s->lines, s->lines + first, s->n_lines * sizeof(*s->lines));
	for (size_t i = 0; i < s->n_lines; i++)
		s->lines[i].file = copy_text(text, s->text, s->lines[i].file);
}

void jit_symbols_forget(struct jit_symbols *s, size_t n)
{
	size_t first_line = n < s->n ? s->ranges[n].first_line : s->first_pending;
	struct intern *text = intern_new();

	if (!text)
		return;
	keep_lines(s, first_line, text);
	s->n -= n;
	for (size_t i = 0; i < s->n; i++) {
		struct range *r = &s->ranges[i];

		*r = s->ranges[n + i];
		r->name = copy_text(text, s->text, r->name);
		if (r->first_line < first_line) /* it was moved; its lines are older */
			r->n_lines = 0;
		r->first_line -= r->n_lines ? (uint32_t)first_line : r->first_line;
	}
	intern_free(s->text);
	s->text = text;
	s->n_ordered = 0;
	if (!s->n) {
		free(s->ranges);
		free(s->order);
		free(s->max_end);
		s->ranges = NULL;
		s->order = NULL;
		s->max_end = NULL;
		s->cap = s->cap_ordered = 0;
	}
	if (!s->n_lines) {
		free(s->lines);
		s->lines = NULL;
		s->cap_lines = 0;
	}
	if (s->room)
		s->room->n_forgotten += n;
	jit_room_tell(s);
}

static size_t next_cap(const struct jit_symbols *s)
{
	return s->cap ? s->cap + s->cap / 2 : 64;
}

/* Makes room for one more range and a text; false when even an empty table has none. */
static bool make_room(struct jit_symbols *s, size_t len)
{
	size_t n = s->n, grown = n == s->cap ? (next_cap(s) - s->cap) * RANGE_LEN : 0;

	if (jit_room_find(s, grown + len))
		return true;
	jit_symbols_forget(s, n - n / 2);
	if (jit_room_has(s, len) && s->n < s->cap)
		return true;
	jit_symbols_forget(s, s->n);
	if (jit_room_has(s, 64 * RANGE_LEN + len))
		return true;
	s->room->n_forgotten++;
	return false;
}

uint32_t jit_symbols_text(struct jit_symbols *s, const char *text, size_t len)
{
	const char *nul = memchr(text, 0, len);
	uint32_t id;

	if (nul)
		len = (size_t)(nul - text);
	if (len > JIT_MAX_NAME)
		len = JIT_MAX_NAME;
	if (!len || intern_memory(s->text) > JIT_MAX_TEXT || !jit_room_find(s, len))
		return 0;
	id = intern_add(s->text, text, len);
	jit_room_tell(s);
	return id;
}

static int add_range(struct jit_symbols *s, const struct range *r)
{
	if (s->n >= JIT_MAX_SYMBOLS)
		return -E2BIG;
	if (s->n == s->cap) {
		size_t cap = next_cap(s);
		struct range *ranges = realloc(s->ranges, cap * sizeof(*ranges));

		if (!ranges)
			return -ENOMEM;
		s->ranges = ranges;
		s->cap = cap;
	}
	s->ranges[s->n++] = *r;
	jit_room_tell(s);
	return 0;
}

static uint64_t end_of(const struct range *r)
{
	return r->start + r->size;
}

static int compare_ids(const void *a, const void *b, void *ranges)
{
	const struct range *list = ranges;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (list[x].start != list[y].start)
		return list[x].start < list[y].start ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint64_t fill_max_end(struct jit_symbols *s, size_t from, size_t to)
{
	size_t mid = from + (to - from) / 2;
	uint64_t max, part;

	if (from >= to)
		return 0;
	max = end_of(&s->ranges[s->order[mid]]);
	part = fill_max_end(s, from, mid);
	max = part > max ? part : max;
	part = fill_max_end(s, mid + 1, to);
	return s->max_end[mid] = part > max ? part : max;
}

/* Sorts what came since the last time and merges it in, from the back. */
static int order(struct jit_symbols *s)
{
	size_t old = s->n_ordered, fresh = s->n - old;
	uint32_t *added;

	if (!fresh)
		return 0;
	if (s->n > s->cap_ordered) {
		uint32_t *ids = realloc(s->order, s->cap * sizeof(*ids));
		uint64_t *ends;

		if (!ids)
			return -ENOMEM;
		s->order = ids;
		ends = realloc(s->max_end, s->cap * sizeof(*ends));
		if (!ends)
			return -ENOMEM;
		s->max_end = ends;
		s->cap_ordered = s->cap;
	}
	added = malloc(fresh * sizeof(*added));
	if (!added)
		return -ENOMEM;
	for (size_t i = 0; i < fresh; i++)
		added[i] = (uint32_t)(old + i);
	qsort_r(added, fresh, sizeof(*added), compare_ids, s->ranges);
	for (size_t to = s->n; fresh;) {
		if (old && compare_ids(&s->order[old - 1], &added[fresh - 1], s->ranges) > 0)
			s->order[--to] = s->order[--old];
		else
			s->order[--to] = added[--fresh];
	}
	free(added);
	s->n_ordered = s->n;
	fill_max_end(s, 0, s->n);
	return 0;
}

struct search {
	uint64_t addr, time_ns;
	uint32_t best; /* + 1; 0: none */
	size_t n_visits;
};

/* A range is better when it came later, but one that was not there yet is worse than any that was.
 */
static bool is_better(const struct jit_symbols *s, const struct search *q, uint32_t id)
{
	const struct range *r = &s->ranges[id], *best = q->best ? &s->ranges[q->best - 1] : NULL;
	bool was_there = r->time_ns <= q->time_ns, best_was = best && best->time_ns <= q->time_ns;

	if (!best || was_there != best_was)
		return !best || was_there;
	if (r->time_ns != best->time_ns)
		return was_there == (r->time_ns > best->time_ns);
	return id > q->best - 1;
}

static void visit(const struct jit_symbols *s, struct search *q, size_t from, size_t to)
{
	while (from < to && q->n_visits < MAX_VISITS) {
		size_t mid = from + (to - from) / 2;
		const struct range *r = &s->ranges[s->order[mid]];

		if (s->max_end[mid] <= q->addr)
			return;
		if (r->start > q->addr) {
			to = mid;
			continue;
		}
		/* Later ones first: where there are too many, the newer are more likely there. */
		visit(s, q, mid + 1, to);
		q->n_visits++;
		if (end_of(r) > q->addr && is_better(s, q, s->order[mid]))
			q->best = s->order[mid] + 1;
		to = mid;
	}
}

static const struct range *find(struct jit_symbols *s, uint64_t addr, uint64_t time_ns)
{
	struct search q = { .addr = addr, .time_ns = time_ns };

	if (order(s) < 0)
		return NULL;
	visit(s, &q, 0, s->n_ordered);
	return q.best ? &s->ranges[q.best - 1] : NULL;
}

int jit_symbols_add(struct jit_symbols *s, uint64_t start, uint64_t size, uint64_t time_ns,
		    const char *name, size_t len)
{
	struct range r = { .start = start, .time_ns = time_ns, .size = (uint32_t)size };
	int err;

	if (!size || size > UINT32_MAX || size > UINT64_MAX - start)
		return 0; /* nobody's code */
	if (s->n >= JIT_MAX_SYMBOLS)
		return -E2BIG;
	if (!make_room(s, len < JIT_MAX_NAME ? len : JIT_MAX_NAME)) {
		s->n_lines = s->first_pending;
		return 0;
	}
	r.name = jit_symbols_text(s, name, len);
	if (!r.name)
		return len && *name ? -E2BIG : 0;
	r.first_line = (uint32_t)s->first_pending;
	r.n_lines = (uint32_t)(s->n_lines - s->first_pending);
	err = add_range(s, &r);
	s->first_pending = s->n_lines;
	return err;
}

bool jit_symbols_has(const struct jit_symbols *s, uint64_t start, uint64_t size, const char *name,
		     size_t len)
{
	struct search q = { .addr = start, .time_ns = UINT64_MAX };
	const struct range *r;

	visit(s, &q, 0, s->n_ordered);
	if (!q.best)
		return false;
	r = &s->ranges[q.best - 1];
	return r->start == start && r->size == size && r->name == intern_find(s->text, name, len);
}

int jit_symbols_lines(struct jit_symbols *s, const struct jit_line *lines, size_t n)
{
	s->n_lines = s->first_pending; /* of a range that never came */
	if (n > JIT_MAX_SYMBOLS * 4 - s->n_lines)
		return -E2BIG;
	if (n > s->cap_lines - s->n_lines) {
		size_t cap = (s->n_lines + n) * 2;
		struct jit_line *larger;

		if (!jit_room_find(s, (cap - s->cap_lines) * sizeof(*larger))) {
			s->room->n_forgotten++;
			return 0;
		}
		larger = realloc(s->lines, cap * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		s->lines = larger;
		s->cap_lines = cap;
	}
	if (n)
		memcpy(s->lines + s->n_lines, lines, n * sizeof(*lines));
	s->n_lines += n;
	jit_room_tell(s);
	return 0;
}

int jit_symbols_move(struct jit_symbols *s, uint64_t from, uint64_t to, uint64_t size,
		     uint64_t time_ns)
{
	const struct range *old;
	struct range r;

	if (!make_room(s, 0))
		return 0;
	old = find(s, from, UINT64_MAX);
	if (!old || old->start != from || !size || size > UINT32_MAX || size > UINT64_MAX - to)
		return -ENOENT;
	r = *old;
	r.start = to;
	r.size = (uint32_t)size;
	r.time_ns = time_ns;
	return add_range(s, &r);
}

const char *jit_symbols_find(struct jit_symbols *s, uint64_t addr, uint64_t time_ns,
			     uint64_t *start, uint64_t *size)
{
	const struct range *r = find(s, addr, time_ns);

	if (!r)
		return NULL;
	if (start)
		*start = r->start;
	if (size)
		*size = r->size;
	return intern_get(s->text, r->name, NULL);
}

uint32_t jit_symbols_line(struct jit_symbols *s, uint64_t addr, const char **file)
{
	const struct range *r = find(s, addr, UINT64_MAX);
	const struct jit_line *line = NULL;

	for (uint32_t i = 0; r && i < r->n_lines; i++) {
		const struct jit_line *l = &s->lines[r->first_line + i];

		if (l->offset > addr - r->start)
			break;
		line = l;
	}
	if (!line)
		return 0;
	*file = line->file ? intern_get(s->text, line->file, NULL) : "";
	return line->line;
}
