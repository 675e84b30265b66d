// SPDX-License-Identifier: Apache-2.0
#include "jfr/moment_field.h"

#include <stdio.h>
#include <string.h>

#include "jfr/chunk.h"
#include "jfr/moment_reader.h"
#include "jfr/place.h"

int64_t moment_number(const struct moment *m, const char *path, int64_t otherwise)
{
	struct place p = place_find(m->layout, path);

	return p.leaf >= 0 && p.kind == VALUE_NUMBER ? m->fields[p.leaf].n : otherwise;
}

int64_t moment_key(const struct moment *m, const char *path)
{
	struct place p = place_find(m->layout, path);

	return place_key(&p, m->fields);
}

double moment_real(const struct moment *m, const char *path)
{
	struct place p = place_find(m->layout, path);

	return p.leaf >= 0 && p.kind == VALUE_REAL ? m->fields[p.leaf].real : 0;
}

int64_t moment_time_at(const struct moment *m, const char *path)
{
	struct place p = place_find(m->layout, path);

	return place_ns(&p, m->fields, m->chunk, 0);
}

static const char *text_at(const struct moment *m, const struct place *p, struct text_room *room)
{
	if (p->leaf >= 0 && p->kind == VALUE_STRING)
		return names_string(m->chunk, &m->fields[p->leaf].string, room);
	return place_refers(p) ? names_text(m->chunk, p->type, m->fields[p->leaf].n) : "";
}

const char *moment_text(const struct moment *m, const char *path, struct text_room *room)
{
	struct place p = place_find(m->layout, path);

	return text_at(m, &p, room);
}

const char *moment_operation_name(const struct moment *m, struct text_room *room)
{
	return text_at(m, &m->reader->operation_name, room);
}

static bool is_number(int64_t n, const char *text)
{
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)n);
	return !strcmp(number, text);
}

bool moment_is_of_thread(struct moment *m, const char *thread)
{
	const struct java_thread *t = moment_thread(m);

	return t && (!strcmp(t->name, thread) || is_number(t->id, thread) ||
		     is_number(t->os_id, thread));
}
