// SPDX-License-Identifier: Apache-2.0
/* Threads, classes and methods. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/chunk.h"
#include "jfr/constants.h"
#include "jfr/java_name.h"
#include "jfr/layout.h"
#include "jfr/names_row.h"

#define MAX_NAME_LEN 4096 /* of a class; longer ones are cut */
/* What async-profiler says of functions in C, whose class is their library. */
#define NATIVE_DESCRIPTOR "()L;"

/* "virtual-17": of a thread without a name. */
static const char *numbered(struct names *n, const char *what, int64_t number)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s-%" PRId64, what, number);

	return arena_copy(&n->arena, text, (size_t)len);
}

struct java_thread *names_thread(struct chunk *c, uint64_t type, int64_t key)
{
	struct text_ref java_name, os_name, group;
	struct java_thread *t;
	const int16_t *at;
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;

	if (!names_find(c, type, key, &f))
		return NULL;
	row = names_row(&f, WHAT_THREAD, &is_done);
	if (!row || is_done)
		return row ? &row->thread : NULL;
	n_missing = c->names->n_missing;
	SCOPED(values) struct constant_values v;

	if (!names_values(&f, &v))
		return NULL;
	t = &row->thread;
	at = names_places(&f, WHAT_THREAD);
	java_name = names_ref(&f, &v, at[THREAD_NAME]);
	os_name = names_ref(&f, &v, at[THREAD_OS_NAME]);
	group = names_ref(&f, &v, at[THREAD_GROUP]);
	t->id = names_number(&f, &v, at[THREAD_ID]);
	t->os_id = names_number(&f, &v, at[THREAD_OS_ID]);
	t->is_virtual = names_number(&f, &v, at[THREAD_VIRTUAL]);
	t->name = names_resolve(c, &java_name);
	if (!*t->name && !t->is_virtual)
		t->name = names_resolve(c, &os_name);
	if (!*t->name)
		t->name = t->is_virtual ? numbered(f.names, "virtual", t->id)
					: numbered(f.names, "thread", t->os_id ? t->os_id : t->id);
	t->group = names_resolve(c, &group);
	names_finish(c, &f, row, n_missing);
	return t->name ? t : NULL;
}

static struct java_class *class_missing(struct chunk *c, int64_t key)
{
	struct java_class *class = NULL;

	if (names_has_room(c))
		class = arena_calloc(&c->names->arena, 1, sizeof(*class));
	if (!class)
		return &c->names->nowhere;
	class->name = names_missing(c, "class", key);
	return class;
}

struct java_class *names_class(struct chunk *c, uint64_t type, int64_t key)
{
	char name[MAX_NAME_LEN];
	struct text_ref ref;
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;

	if (!names_find(c, type, key, &f))
		return names_is_none(key) ? NULL : class_missing(c, key);
	row = names_row(&f, WHAT_CLASS, &is_done);
	if (!row || is_done)
		return row ? &row->class : NULL;
	n_missing = c->names->n_missing;
	SCOPED(values) struct constant_values v;

	if (!names_values(&f, &v))
		return NULL;
	ref = names_ref(&f, &v, names_places(&f, WHAT_CLASS)[CLASS_NAME]);
	java_class_name(names_resolve(c, &ref), name, sizeof(name));
	row->class.name = arena_copy(&f.names->arena, name, strlen(name));
	row->class.is_waited_for = java_class_is_waited_for(name);
	row->class.is_shared = true;
	names_finish(c, &f, row, n_missing);
	return row->class.name ? &row->class : NULL;
}

static const struct java_class no_class = { .name = "" };

static struct java_method *method_missing(struct chunk *c, int64_t key)
{
	struct java_method *m = NULL;

	if (names_has_room(c))
		m = arena_calloc(&c->names->arena, 1, sizeof(*m));
	if (!m)
		return &c->names->no_method;
	m->class = &no_class;
	m->name = names_missing(c, "method", key);
	m->descriptor = "";
	return m;
}

static struct java_method *find_method(struct chunk *c, uint64_t type, int64_t key)
{
	struct text_ref name, descriptor, class;
	const int16_t *at;
	uint64_t n_missing;
	struct named *row;
	struct found f;
	bool is_done;

	if (!names_find(c, type, key, &f))
		return names_is_none(key) ? NULL : method_missing(c, key);
	row = names_row(&f, WHAT_METHOD, &is_done);
	if (!row || is_done)
		return row ? &row->method : NULL;
	n_missing = c->names->n_missing;
	SCOPED(values) struct constant_values v;

	if (!names_values(&f, &v))
		return NULL;
	at = names_places(&f, WHAT_METHOD);
	name = names_ref(&f, &v, at[METHOD_NAME]);
	descriptor = names_ref(&f, &v, at[METHOD_DESCRIPTOR]);
	class = names_ref(&f, &v, at[METHOD_CLASS]);
	row->method.text = NULL;
	row->method.function = row->method.location = 0;
	row->method.is_hidden = names_number(&f, &v, at[METHOD_HIDDEN]);
	row->method.name = names_resolve(c, &name);
	row->method.descriptor = names_resolve(c, &descriptor);
	row->method.class = class.is_constant ? names_class(c, class.type, class.key) : NULL;
	if (!row->method.class)
		row->method.class = &no_class;
	row->method.is_of_java =
		*row->method.class->name && strcmp(row->method.descriptor, NATIVE_DESCRIPTOR) != 0;
	names_finish(c, &f, row, n_missing);
	return &row->method;
}

struct java_method *names_method(struct chunk *c, uint64_t type, int64_t key)
{
	struct names *n = c->names;
	struct cached_method *cached = &n->methods[(uint64_t)key % N_CACHED_METHODS];
	uint64_t n_missing = n->n_missing;
	struct java_method *m;

	if (cached->method && cached->key == key && cached->type == type &&
	    cached->round == n->round)
		return cached->method;
	m = find_method(c, type, key);
	if (n->n_missing == n_missing) /* what is missing is to be counted each time */
		*cached = (struct cached_method){ type, key, m, n->round };
	return m;
}
