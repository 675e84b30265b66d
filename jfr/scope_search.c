// SPDX-License-Identifier: Apache-2.0
#include "jfr/scope_search.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/hurry.h"
#include "jfr/chunk_list.h"
#include "jfr/interpreter.h"
#include "jfr/late_scopes.h"
#include "jfr/metadata.h"
#include "jfr/recording.h"
#include "jfr/scope_hint.h"

#define MIN_CHUNKS 4 /* of a thread, as each has N_BEFORE of others to look at */
#define N_BEFORE 2   /* chunks whose names count, too */

/* The first one that may have some that are another's, too: the oldest of all has none before it.
   Files may have been put together in any order. */
static size_t first_of_use(const struct chunk_list *l, bool is_only)
{
	for (size_t i = 1; i < l->n; i++)
		if (l->items[i].header.start_ns <= l->items[0].header.start_ns)
			return 0;
	return is_only && l->n;
}

/* Has any of them some? */
static bool is_worth_while(int fd, const struct chunk_list *l, size_t first,
			   struct metadata **known)
{
	struct scope_hint hint = { 0 };
	size_t i = first;

	while (i < l->n && !hurry_is_on() && !scope_hint_has(&hint, fd, &l->items[i]))
		i++;
	if (hint.metadata) {
		metadata_unref(*known);
		*known = metadata_ref(hint.metadata);
	}
	scope_hint_deinit(&hint);
	return i < l->n;
}

/* Some of a file's chunks. */
struct search {
	struct interpreter interpreter;
	struct event_visitor visitor;
	struct seen_chunks seen;
	struct recording *recording;
	struct late_scopes found;
	uint64_t before, from, to; /* where those before its own begin; its own, and their end */
	pthread_t thread;
	bool is_started;
	int err;
};

static void *search(void *ctx)
{
	struct recording_report ignored = { 0 };
	struct search *s = ctx;

	s->err = recording_glance(s->recording, s->before, s->from, &ignored);
	/* Whose the file is may stand behind damage, and in its first chunk only. */
	if (!s->err && !s->before && !s->interpreter.facts.pid) {
		seen_chunks_deinit(&s->seen);
		s->err = recording_read_part(s->recording, s->before, s->from, &ignored);
	}
	if (!s->err)
		s->err = recording_read_part(s->recording, s->from, s->to, &ignored);
	recording_report_deinit(&ignored);
	return NULL;
}

static void search_init(struct search *s, int fd, size_t file, struct metadata *known)
{
	s->interpreter.known = known ? metadata_ref(known) : NULL;
	s->interpreter.found = &s->found;
	s->interpreter.file = file;
	s->visitor = interpreter_visitor(&s->interpreter);
	s->recording = recording_new(fd, &s->visitor, &s->seen, &s->err);
}

static void search_deinit(struct search *s)
{
	recording_free(s->recording);
	seen_chunks_deinit(&s->seen);
	interpreter_deinit(&s->interpreter);
	late_scopes_deinit(&s->found);
}

static uint64_t chunk_at(const struct chunk_list *l, size_t index)
{
	const struct listed_chunk *last = l->n ? &l->items[l->n - 1] : NULL;

	if (index < l->n)
		return l->items[index].at;
	return last ? last->at + last->header.size : 0;
}

/* The chunks of a part, and of the last one whatever is behind them. */
static void set_range(struct search *s, const struct chunk_list *l, size_t first, size_t part,
		      size_t n)
{
	size_t from = l->n * part / n, to = l->n * (part + 1) / n;

	from = from > first ? from : first;

	s->before = chunk_at(l, from > N_BEFORE ? from - N_BEFORE : 0);
	s->from = chunk_at(l, from);
	s->to = part + 1 < n ? chunk_at(l, to) : UINT64_MAX;
}

static void search_all(struct search *parts, size_t n)
{
	for (size_t i = 1; i < n; i++)
		parts[i].is_started =
			!parts[i].err && !pthread_create(&parts[i].thread, NULL, search, &parts[i]);
	for (size_t i = 0; i < n; i++) {
		if (parts[i].is_started)
			pthread_join(parts[i].thread, NULL);
		else if (!parts[i].err)
			search(&parts[i]);
	}
}

/* In the order of the file, as one part would have found them. */
static int take_all(const struct search *parts, size_t n, size_t file, struct late_scopes *found)
{
	struct late_owner owner = late_owner(&(struct jvm_facts){ 0 }, file);
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		const struct jvm_facts *facts = &parts[i].interpreter.facts;
		int part_err = late_scopes_append(found, &parts[i].found, owner);

		if (facts->pid)
			owner = late_owner(facts, file);
		err = err ? err : parts[i].err ? parts[i].err : part_err;
	}
	return err;
}

static int search_chunks(int fd, size_t file, const struct chunk_list *l, size_t first,
			 size_t n_threads, struct metadata *known, struct late_scopes *found)
{
	size_t most = l->n / MIN_CHUNKS, n = most < n_threads ? most : n_threads;
	struct search *parts = calloc(n + !n, sizeof(*parts));
	int err = parts ? 0 : -ENOMEM;

	n += !n;
	for (size_t i = 0; parts && i < n; i++) {
		search_init(&parts[i], fd, file, known);
		set_range(&parts[i], l, first, i, n);
	}
	if (parts) {
		search_all(parts, n);
		err = take_all(parts, n, file, found);
	}
	for (size_t i = 0; parts && i < n; i++)
		search_deinit(&parts[i]);
	free(parts);
	return err;
}

static int search_file(int fd, size_t file, bool is_only, size_t n_threads,
		       struct late_scopes *found, struct metadata **known)
{
	struct chunk_list l = { 0 };
	int err = chunk_list_read(fd, &l);
	bool rest = err == -EBADMSG, is_alone;
	size_t first;

	if (err && !rest) {
		chunk_list_deinit(&l);
		return err;
	}
	err = 0;
	is_alone = is_only && l.n + rest <= 1; /* it has nothing to lend to itself */
	first = first_of_use(&l, is_only && !rest);
	if (!is_alone && (rest || is_worth_while(fd, &l, first, known)))
		err = search_chunks(fd, file, &l, first, n_threads, *known, found);
	chunk_list_deinit(&l);
	if (is_only)
		late_scopes_sort(found);
	return err;
}

int scope_search(int fd, size_t file, bool is_only, size_t n_threads, struct late_scopes *found,
		 struct metadata **known)
{
	struct metadata *own = NULL;
	int err = search_file(fd, file, is_only, n_threads, found, known ? known : &own);

	metadata_unref(own);
	return err;
}
