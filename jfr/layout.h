/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field program: how the fields of one type of one chunk's metadata are read, with structs that
 * lie in it made flat. Compiled once, run for each event or constant.
 */
#ifndef JFR_LAYOUT_H
#define JFR_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/metadata.h"
#include "jfr/wire.h"

struct layout;

/* What of the 64 bits of a varint a number has. */
struct layout_width {
	uint8_t unused; /* bits */
	bool is_unsigned;
};

static inline int64_t layout_narrowed(struct layout_width w, uint64_t n)
{
	return w.is_unsigned ? (int64_t)(n << w.unused >> w.unused)
			     : (int64_t)(n << w.unused) >> w.unused;
}

enum jfr_value_kind {
	VALUE_NUMBER,	/* n; booleans are 0 and 1 */
	VALUE_REAL,	/* real */
	VALUE_STRING,	/* string */
	VALUE_CONSTANT, /* n: a key into the constants of leaf->type_id */
	VALUE_ARRAY,	/* elements: their bytes, `n` of them */
};

struct jfr_value {
	union {
		int64_t n;
		double real;
	};
	struct wire_string string; /* of arrays, only bytes and len */
};

/* One value of a type: a field, or a field of a struct in it ("heapSpace.start"). */
struct jfr_leaf {
	char *path;
	const struct jfr_field *field;
	enum jfr_value_kind kind;
};

/* NULL and *err: -ENOMEM; -EBADMSG: a type that is not described or contains itself; -E2BIG. */
struct layout *layout_new(const struct jfr_type *type, int *err);
void layout_free(struct layout *l); /* NULL is fine */

size_t layout_n_leaves(const struct layout *l);
const struct jfr_leaf *layout_leaf(const struct layout *l, size_t index);
/* The leaf at this path, or -1. */
int layout_find(const struct layout *l, const char *path);

/* Reads all leaves; values has room for layout_n_leaves(). r ends behind the last. 0 or the
   reader's error. */
int layout_read(const struct layout *l, struct reader *r, struct jfr_value *values);
/* The same where WIRE_PADDING bytes behind what r has can be loaded, whatever they are. */
int layout_read_padded(const struct layout *l, struct reader *r, struct jfr_value *values);
/* And of one value and no more: an array at its end has what is left. */
int layout_read_whole(const struct layout *l, struct reader *r, struct jfr_value *values);
/* Moves r behind a value of the type. */
int layout_skip(const struct layout *l, struct reader *r);
/* Reads all leaves as whole numbers; what is none is 0. */
int layout_read_numbers(const struct layout *l, struct reader *r, int64_t *numbers);
/* Is a leaf one varint, or one byte? */
bool layout_is_varint(const struct layout *l, size_t leaf);
bool layout_is_byte(const struct layout *l, size_t leaf);
/* Of a leaf that is a varint; of one byte below 0x80, too. */
struct layout_width layout_width(const struct layout *l, size_t leaf);
/* The layout of the elements of an array leaf; NULL when they are not described. */
const struct layout *layout_elements(const struct layout *l, size_t leaf);

#endif
