/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of elements that a metadata event holds, as jdk.jfr.internal.MetadataWriter writes it:
 * first all strings, then each element as its name, its attributes and how many children follow it.
 * Names and attributes are numbers of strings. Errors are the reader's: -EBADMSG or -ENOMEM.
 */
#ifndef JFR_ELEMENT_H
#define JFR_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/reader.h"

struct arena;

#define MAX_ATTRIBUTES 64 /* of one element that are looked at; writers have up to five */

/* Words that elements and their attributes are named by. */
enum element_word {
	WORD_OTHER,
	WORD_CLASS,
	WORD_FIELD,
	WORD_ANNOTATION,
	WORD_ID,
	WORD_NAME,
	WORD_SUPER_TYPE,
	WORD_SIMPLE_TYPE,
	WORD_CONSTANT_POOL,
	WORD_DIMENSION,
	WORD_VALUE,
	WORD_FIRST_VALUE,
	N_WORDS
};

struct element_string {
	const char *text; /* in the arena */
	enum element_word word;
};

struct element_reader {
	struct reader r;
	struct element_string *strings; /* in the arena */
	size_t n_strings;
};

struct element {
	enum element_word name;
	uint64_t n_children;
	size_t n_attributes;
	enum element_word keys[MAX_ATTRIBUTES];
	const char *values[MAX_ATTRIBUTES];
};

/* The strings, which come first; they live as long as the arena. */
void element_strings_read(struct element_reader *in, struct arena *arena);
/* The next element, without its children, which follow. */
void element_read(struct element_reader *in, struct element *e);

/* The value of an attribute; NULL: there is none. */
const char *element_value(const struct element *e, enum element_word key);
/* The same, "" for none. */
const char *element_text(const struct element *e, enum element_word key);
bool element_is(const struct element *e, enum element_word key); /* "true" */
/* A number of a type, which must be there. */
uint64_t element_id(struct element_reader *in, const struct element *e, enum element_word key);

#endif
