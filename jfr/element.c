// SPDX-License-Identifier: Apache-2.0
#include "jfr/element.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/scoped.h"
#include "jfr/wire.h"

#define MIN_ELEMENT_LEN 3 /* name, number of attributes, number of children */

static const char *read_string(struct element_reader *in, struct arena *arena)
{
	struct wire_string s = wire_string(&in->r, "string");
	SCOPED(free) char *text = malloc(wire_string_room(&s) + 1);
	size_t len = text ? wire_string_text(&s, text) : 0;

	if (s.encoding == WIRE_POOLED)
		reader_fail(&in->r, -EBADMSG, "string kept elsewhere");
	return text ? arena_copy(arena, text, len) : NULL;
}

void element_strings_read(struct element_reader *in, struct arena *arena)
{
	uint64_t n = wire_varint(&in->r, "number of strings");

	if (n > reader_left(&in->r))
		reader_fail(&in->r, -EBADMSG, "number of strings");
	if (reader_error(&in->r))
		return;
	in->strings = arena_calloc(arena, n + 1, sizeof(*in->strings));
	if (!in->strings)
		reader_fail(&in->r, -ENOMEM, "strings");
	for (uint64_t i = 0; i < n && !reader_error(&in->r); i++) {
		in->strings[i] = read_string(in, arena);
		if (!in->strings[i])
			reader_fail(&in->r, -ENOMEM, "strings");
		in->n_strings = i + 1;
	}
}

static const char *string_at(struct element_reader *in, const char *what)
{
	uint64_t index = wire_varint(&in->r, what);

	if (!reader_error(&in->r) && index >= in->n_strings)
		reader_fail(&in->r, -EBADMSG, what);
	return reader_error(&in->r) ? "" : in->strings[index];
}

void element_read(struct element_reader *in, struct element *e)
{
	uint64_t n;

	e->name = string_at(in, "element's name");
	e->n_attributes = 0;
	n = wire_varint(&in->r, "number of attributes");
	if (n > reader_left(&in->r) / 2)
		reader_fail(&in->r, -EBADMSG, "number of attributes");
	for (uint64_t i = 0; i < n && !reader_error(&in->r); i++) {
		const char *key = string_at(in, "attribute's name");
		const char *value = string_at(in, "attribute's value");

		if (e->n_attributes < MAX_ATTRIBUTES) {
			e->keys[e->n_attributes] = key;
			e->values[e->n_attributes++] = value;
		}
	}
	e->n_children = wire_varint(&in->r, "number of children");
	if (e->n_children > reader_left(&in->r) / MIN_ELEMENT_LEN)
		reader_fail(&in->r, -EBADMSG, "number of children");
}

const char *element_value(const struct element *e, const char *key)
{
	for (size_t i = 0; i < e->n_attributes; i++)
		if (!strcmp(e->keys[i], key))
			return e->values[i];
	return NULL;
}

const char *element_text(const struct element *e, const char *key)
{
	const char *text = element_value(e, key);

	return text ? text : "";
}

bool element_is(const struct element *e, const char *key)
{
	return !strcmp(element_text(e, key), "true");
}

uint64_t element_id(struct element_reader *in, const struct element *e, const char *key)
{
	static const char what[] = "type id that is no number";
	const char *text = element_text(e, key);
	char *end;
	uint64_t n;

	if (*text < '0' || *text > '9') {
		reader_fail(&in->r, -EBADMSG, what);
		return 0;
	}
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end)
		reader_fail(&in->r, -EBADMSG, what);
	return n;
}
