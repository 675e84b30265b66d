// SPDX-License-Identifier: Apache-2.0
#include "bpf/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind_maps.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/text.h"
#include "symbolizer/object.h"

/* A table that was used so lately is not thrown out for another: the two would take turns. */
#define KEEP_NS UINT64_C(2000000000)
/* How long one that found no room is not tried again: twice as long each time, or two large ones
   that do not fit would be built in turn, each for as long as it takes, to no use. */
#define RETRY_NS UINT64_C(1000000000)
#define MAX_RETRY_NS UINT64_C(30000000000)

/* Unwind data that is turned into a table without being asked for: some 20 ms of work. */
#define MAX_PRELOAD_LEN ((size_t)1 << 20)

struct entry { /* the private data of an object */
	struct entry *next;
	struct tables *ts;
	struct object *o;
	struct cfi_input cfi;
	struct unwind_table table; /* words: own ones, or in the table memory when loaded */
	uint32_t word;		   /* in the table memory; 0 not loaded */
	bool has_cfi, is_built;
	bool is_over; /* counted as over budget */
	uint64_t used_ns, retry_ns;
	uint64_t wait_ns; /* before the next try after this one fails */
};

struct tables {
	struct unwind_maps *maps;
	size_t budget, used; /* bytes of own words */
	struct entry *entries;
	uint64_t n_over;
	void (*breathe)(void *ctx);
	void *breathe_ctx;
};

struct tables *tables_new(struct unwind_maps *maps, size_t host_budget)
{
	struct tables *ts = calloc(1, sizeof(*ts));

	if (!ts)
		return NULL;
	ts->maps = maps;
	ts->budget = host_budget;
	return ts;
}

void tables_on_breath(struct tables *ts, void (*fn)(void *ctx), void *ctx)
{
	ts->breathe = fn;
	ts->breathe_ctx = ctx;
}

static size_t table_len(const struct entry *e)
{
	return e->table.n_words * sizeof(*e->table.words);
}

static void free_own_words(struct entry *e)
{
	if (!e->is_built || e->word)
		return;
	e->ts->used -= table_len(e);
	unwind_table_deinit(&e->table);
	e->is_built = false;
}

static void unload(struct entry *e)
{
	struct tables *ts = e->ts;

	unwind_maps_set_table(ts->maps, e->o, 0);
	unwind_maps_unload(ts->maps, e->word, (uint32_t)e->table.n_words);
	e->word = 0;
	e->table = (struct unwind_table){ 0 };
	e->is_built = false;
}

static void entry_free(struct entry *e)
{
	object_set_private(e->o, NULL, NULL);
	free_own_words(e);
	free(e);
}

void tables_free(struct tables *ts)
{
	if (!ts)
		return;
	while (ts->entries) {
		struct entry *next = ts->entries->next;

		entry_free(ts->entries);
		ts->entries = next;
	}
	free(ts);
}

static struct cfi_section section_of(struct object *o, const char *name)
{
	struct cfi_section s = { 0 };

	if (!object_section(o, name, &s.data, &s.len, &s.vaddr))
		s = (struct cfi_section){ 0 };
	return s;
}

/*
 * Where the stack of a greenlet begins. Its callers, as the unwind data has them, are those of
 * whoever started it, whose part of the stack may have been another greenlet's since.
 */
static void find_bottom(struct object *o, struct cfi_input *cfi)
{
	static const char *const names[] = {
		"_ZN8greenlet12UserGreenlet15inner_bootstrapEP9_greenletP7_object",
		"_ZN8greenlet12UserGreenlet13g_initialstubEPv", "g_initialstub", /* before 2.0 */
	};

	if (!strstr(path_basename(object_path(o)), "greenlet"))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !cfi->bottom_len; i++)
		object_symbol(o, names[i], &cfi->bottom_vaddr, &cfi->bottom_len);
}

static struct entry *entry_of(struct tables *ts, struct object *o)
{
	struct entry *e = object_private(o);

	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->ts = ts;
	e->o = o;
	e->cfi.eh_frame = section_of(o, ".eh_frame");
	e->cfi.debug_frame = section_of(o, ".debug_frame");
	e->cfi.eh_frame_hdr = section_of(o, ".eh_frame_hdr");
	e->cfi.text_vaddr = section_of(o, ".text").vaddr;
	e->cfi.got_vaddr = section_of(o, ".got").vaddr;
	e->cfi.entry_vaddr = object_entry(o);
	find_bottom(o, &e->cfi);
	/* A larger one could be kept nowhere. */
	e->cfi.max_words = unwind_maps_capacity(ts->maps) / 4;
	if (e->cfi.max_words < ts->budget / 4)
		e->cfi.max_words = ts->budget / 4;
	e->cfi.breathe = ts->breathe;
	e->cfi.breathe_ctx = ts->breathe_ctx;
	e->has_cfi = e->cfi.eh_frame.data || e->cfi.debug_frame.data;
	e->next = ts->entries;
	ts->entries = e;
	object_set_private(o, e, NULL);
	return e;
}

/* Not now; and later the next time. */
static void put_off(struct entry *e, uint64_t now)
{
	if (!e->wait_ns)
		e->wait_ns = RETRY_NS;
	e->retry_ns = now + e->wait_ns;
	e->wait_ns = e->wait_ns < MAX_RETRY_NS / 2 ? 2 * e->wait_ns : MAX_RETRY_NS;
}

static void count_over(struct entry *e)
{
	e->ts->n_over += !e->is_over;
	e->is_over = true;
}

/* Among the loaded ones that nobody used lately the longest unused one goes. False: there is none.
 */
static bool unload_oldest(struct tables *ts, uint64_t now)
{
	struct entry *oldest = NULL;
	uint64_t oldest_ns = now - KEEP_NS;

	for (struct entry *e = ts->entries; e; e = e->next) {
		uint64_t used_ns;

		if (!e->word || e->used_ns >= oldest_ns)
			continue;
		used_ns = unwind_maps_last_used(ts->maps, e->o);
		if (used_ns < e->used_ns)
			used_ns = e->used_ns;
		if (used_ns < oldest_ns) {
			oldest = e;
			oldest_ns = used_ns;
		}
	}
	if (oldest)
		unload(oldest);
	return oldest;
}

/* Into the table memory, from where it is read then. */
static void load(struct entry *e, uint64_t now)
{
	struct unwind_table own = e->table;
	struct tables *ts = e->ts;

	while (!(e->word = unwind_maps_load(ts->maps, &own)) && unload_oldest(ts, now))
		;
	if (!e->word) {
		count_over(e);
		put_off(e, now);
		return;
	}
	e->wait_ns = 0;
	ts->used -= table_len(e);
	/* The words move, the counts stay. */
	e->table.words = (uint32_t *)unwind_maps_words(ts->maps, e->word);
	unwind_table_deinit(&own);
	unwind_maps_set_table(ts->maps, e->o, e->word);
}

/* Frees own tables, the longest unused first, until the budget holds; never this one. */
static void keep_budget(struct tables *ts, const struct entry *keep)
{
	while (ts->used > ts->budget) {
		struct entry *oldest = NULL;

		for (struct entry *e = ts->entries; e; e = e->next) {
			if (e != keep && e->is_built && !e->word &&
			    (!oldest || e->used_ns < oldest->used_ns))
				oldest = e;
		}
		if (!oldest)
			return;
		free_own_words(oldest);
	}
}

/* What was made of bytes that were gone by then looks like a table and is none. */
static void give_up(struct entry *e)
{
	if (e->word)
		unload(e);
	free_own_words(e);
	e->has_cfi = false;
}

static void build(struct entry *e, uint64_t now)
{
	int err = cfi_build(&e->cfi, &e->table);

	if (err) {
		log_debug("%s: no unwind table: error %d", object_path(e->o), -err);
		e->has_cfi = err != -ENOENT && err != -EBADMSG;
		if (err == -E2BIG)
			count_over(e);
		put_off(e, now);
		return;
	}
	e->is_built = true;
	e->ts->used += table_len(e);
	log_debug("%s: unwind table of %zu bytes, %u functions, %u damaged", object_path(e->o),
		  table_len(e), e->table.n_fdes, e->table.n_bad_fdes);
}

struct object_table tables_get(struct tables *ts, struct object *o)
{
	struct entry *e = entry_of(ts, o);
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);

	if (!e || !e->has_cfi)
		return (struct object_table){ 0 };
	e->used_ns = now;
	if (!e->is_built && now >= e->retry_ns)
		build(e, now);
	if (object_is_cut(o)) {
		give_up(e);
		return (struct object_table){ 0 };
	}
	if (e->is_built && !e->word && now >= e->retry_ns)
		load(e, now);
	keep_budget(ts, e);
	return (struct object_table){
		.table = e->is_built ? &e->table : NULL,
		.cfi = e->has_cfi ? &e->cfi : NULL,
	};
}

void tables_preload(struct tables *ts, struct object *o)
{
	struct entry *e = entry_of(ts, o);

	if (e && !e->used_ns && e->cfi.eh_frame.len + e->cfi.debug_frame.len <= MAX_PRELOAD_LEN)
		tables_get(ts, o);
}

uint32_t tables_loaded(const struct object *o)
{
	const struct entry *e = object_private(o);

	return e ? e->word : 0;
}

bool tables_is_without(const struct object *o)
{
	const struct entry *e = object_private(o);

	return e && !e->has_cfi;
}

uint64_t tables_over_budget(const struct tables *ts)
{
	return ts->n_over;
}

size_t tables_memory(const struct tables *ts)
{
	size_t sum = sizeof(*ts) + ts->used;

	for (const struct entry *e = ts->entries; e; e = e->next)
		sum += sizeof(*e);
	return sum;
}
