// SPDX-License-Identifier: Apache-2.0
#include "jfr/element.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "jfr/text_room.h"
#include "jfr/wire.h"

#define MIN_ELEMENT_LEN 3  /* name, number of attributes, number of children */
#define MAX_SAFE_DIGITS 19 /* of a number of 64 bits */

static enum element_word word_of(const char *text, size_t len)
{
	static const struct {
		const char *text;
		size_t len;
	} words[N_WORDS] = {
#define WORD(word) { word, sizeof(word) - 1 }
		[WORD_CLASS] = WORD("class"),
		[WORD_FIELD] = WORD("field"),
		[WORD_ANNOTATION] = WORD("annotation"),
		[WORD_ID] = WORD("id"),
		[WORD_NAME] = WORD("name"),
		[WORD_SUPER_TYPE] = WORD("superType"),
		[WORD_SIMPLE_TYPE] = WORD("simpleType"),
		[WORD_CONSTANT_POOL] = WORD("constantPool"),
		[WORD_DIMENSION] = WORD("dimension"),
		[WORD_VALUE] = WORD("value"),
		[WORD_FIRST_VALUE] = WORD("value-0"),
#undef WORD
	};

	for (unsigned int i = WORD_OTHER + 1; i < N_WORDS; i++)
		if (words[i].len == len && !memcmp(words[i].text, text, len))
			return (enum element_word)i;
	return WORD_OTHER;
}

static struct element_string read_string(struct element_reader *in, struct text_room *room,
					 struct arena *arena)
{
	struct wire_string s = wire_string(&in->r, "string");
	char *text = text_room_for(room, wire_string_room(&s) + 1);
	size_t len = text ? wire_string_text(&s, text) : 0;

	if (s.encoding == WIRE_POOLED)
		reader_fail(&in->r, -EBADMSG, "string kept elsewhere");
	if (!text)
		return (struct element_string){ 0 };
	return (struct element_string){ arena_copy(arena, text, len), word_of(text, len) };
}

void element_strings_read(struct element_reader *in, struct arena *arena)
{
	uint64_t n = wire_varint(&in->r, "number of strings");
	struct text_room room = { 0 };

	if (n > reader_left(&in->r))
		reader_fail(&in->r, -EBADMSG, "number of strings");
	if (reader_error(&in->r))
		return;
	in->strings = arena_calloc(arena, n + 1, sizeof(*in->strings));
	if (!in->strings)
		reader_fail(&in->r, -ENOMEM, "strings");
	for (uint64_t i = 0; i < n && !reader_error(&in->r); i++) {
		in->strings[i] = read_string(in, &room, arena);
		if (!in->strings[i].text)
			reader_fail(&in->r, -ENOMEM, "strings");
		in->n_strings = i + 1;
	}
	free(room.text);
}

static inline const struct element_string *string_at(struct element_reader *in, const char *what)
{
	static const struct element_string none = { .text = "" };
	bool is_whole = reader_left(&in->r) >= WIRE_VARINT_MAX; /* and so without an error */
	uint64_t index = is_whole ? wire_varint_short(&in->r.pos) : wire_varint(&in->r, what);

	if (index < in->n_strings && (is_whole || !reader_error(&in->r)))
		return &in->strings[index];
	if (!reader_error(&in->r))
		reader_fail(&in->r, -EBADMSG, what);
	return &none;
}

void element_read(struct element_reader *in, struct element *e)
{
	uint64_t n;

	e->name = string_at(in, "element's name")->word;
	e->n_attributes = 0;
	n = wire_varint(&in->r, "number of attributes");
	if (n > reader_left(&in->r) / 2)
		reader_fail(&in->r, -EBADMSG, "number of attributes");
	for (uint64_t i = 0; i < n && !reader_error(&in->r); i++) {
		enum element_word key = string_at(in, "attribute's name")->word;
		const char *value = string_at(in, "attribute's value")->text;

		if (e->n_attributes < MAX_ATTRIBUTES) {
			e->keys[e->n_attributes] = key;
			e->values[e->n_attributes++] = value;
		}
	}
	e->n_children = wire_varint(&in->r, "number of children");
	if (e->n_children > reader_left(&in->r) / MIN_ELEMENT_LEN)
		reader_fail(&in->r, -EBADMSG, "number of children");
}

const char *element_value(const struct element *e, enum element_word key)
{
	for (size_t i = 0; i < e->n_attributes; i++)
		if (e->keys[i] == key)
			return e->values[i];
	return NULL;
}

const char *element_text(const struct element *e, enum element_word key)
{
	const char *text = element_value(e, key);

	return text ? text : "";
}

bool element_is(const struct element *e, enum element_word key)
{
	return !strcmp(element_text(e, key), "true");
}

uint64_t element_id(struct element_reader *in, const struct element *e, enum element_word key)
{
	static const char what[] = "type id that is no number";
	const char *text = element_text(e, key);
	const char *end = text;
	bool is_number;
	uint64_t n = 0;

	for (; *end >= '0' && *end <= '9' && end - text < MAX_SAFE_DIGITS; end++)
		n = n * 10 + (uint64_t)(*end - '0');
	is_number = end != text;
	for (; *end && is_number; end++)
		is_number = *end >= '0' && *end <= '9' && !__builtin_mul_overflow(n, 10, &n) &&
			    !__builtin_add_overflow(n, (uint64_t)(*end - '0'), &n);
	if (!is_number)
		reader_fail(&in->r, -EBADMSG, what);
	return is_number ? n : 0;
}
