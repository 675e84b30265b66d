// SPDX-License-Identifier: Apache-2.0
#include "jfr/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/scoped.h"

#define MAX_DEPTH 8	 /* of structs and arrays in each other; JDK 25 needs three */
#define MAX_LEAVES 4096	 /* of one type and of all that lies in it; JDK 25 needs 34 */
#define MAX_PATH_LEN 512 /* of a leaf */

enum op {
	OP_BYTE,
	OP_UNSIGNED_BYTE,
	OP_SHORT,
	OP_UNSIGNED_SHORT,
	OP_INT,
	OP_UNSIGNED_INT,
	OP_LONG,
	OP_FLOAT,
	OP_DOUBLE,
	OP_STRING,
	OP_ARRAY,
};

struct step {
	enum op op;
	struct layout *elements; /* of OP_ARRAY */
};

struct layout {
	struct step *steps;
	struct jfr_leaf *leaves;
	size_t n, steps_cap, leaves_cap;
	bool has_others; /* than varints */
};

/* Types that lie in each other several times over would make layouts without end. */
struct bounds {
	unsigned int depth;
	size_t n_left; /* values that may still be added */
};

static int add_type(struct layout *l, const struct jfr_type *type, const struct jfr_field *field,
		    const char *path, struct bounds *b);

static enum op op_of(const struct jfr_type *type, const struct jfr_field *field)
{
	bool is_unsigned = field && field->is_unsigned;

	if (field && field->is_constant)
		return OP_LONG;
	switch (type->kind) {
	case JFR_BOOLEAN:
		return OP_UNSIGNED_BYTE;
	case JFR_BYTE:
		return is_unsigned ? OP_UNSIGNED_BYTE : OP_BYTE;
	case JFR_CHAR:
		return OP_UNSIGNED_SHORT;
	case JFR_SHORT:
		return is_unsigned ? OP_UNSIGNED_SHORT : OP_SHORT;
	case JFR_INT:
		return is_unsigned ? OP_UNSIGNED_INT : OP_INT;
	case JFR_FLOAT:
		return OP_FLOAT;
	case JFR_DOUBLE:
		return OP_DOUBLE;
	case JFR_STRING:
		return OP_STRING;
	default:
		return OP_LONG;
	}
}

static enum jfr_value_kind value_kind(enum op op, const struct jfr_field *field)
{
	if (op == OP_ARRAY)
		return VALUE_ARRAY;
	if (field && field->is_constant)
		return VALUE_CONSTANT;
	if (op == OP_STRING)
		return VALUE_STRING;
	return op == OP_FLOAT || op == OP_DOUBLE ? VALUE_REAL : VALUE_NUMBER;
}

/* Takes elements over. */
static int add_leaf(struct layout *l, enum op op, const struct jfr_field *field, const char *path,
		    struct layout *elements)
{
	SCOPED(free) char *copy = strdup(path);
	int err = copy ? 0 : -ENOMEM;

	if (!err)
		err = ARRAY_RESERVE(l->steps, l->steps_cap, l->n);
	if (!err)
		err = ARRAY_RESERVE(l->leaves, l->leaves_cap, l->n);
	if (err) {
		layout_free(elements);
		return err;
	}
	l->steps[l->n] = (struct step){ .op = op, .elements = elements };
	l->has_others |= op < OP_SHORT || op > OP_LONG;
	l->leaves[l->n] = (struct jfr_leaf){
		.path = TAKE(copy),
		.field = field,
		.kind = value_kind(op, field),
	};
	l->n++;
	return 0;
}

static int add_array(struct layout *l, const struct jfr_field *field, const char *path,
		     struct bounds *b)
{
	struct layout *elements = calloc(1, sizeof(*elements));
	int err;

	if (!elements)
		return -ENOMEM;
	err = add_type(elements, field->type, field, "", b);
	if (err) {
		layout_free(elements);
		return err;
	}
	return add_leaf(l, OP_ARRAY, field, path, elements);
}

static int add_field(struct layout *l, const struct jfr_field *field, const char *path,
		     struct bounds *b)
{
	if (!field->type)
		return -EBADMSG;
	if (field->is_array)
		return add_array(l, field, path, b);
	return add_type(l, field->type, field, path, b);
}

static int add_fields(struct layout *l, const struct jfr_type *type, const char *path,
		      struct bounds *b)
{
	bool is_unwrapped = type->is_simple && type->n_fields == 1;
	char inner[MAX_PATH_LEN];

	for (size_t i = 0; i < type->n_fields; i++) {
		const char *name = type->fields[i].name;
		int len = is_unwrapped ? snprintf(inner, sizeof(inner), "%s", path)
				       : snprintf(inner, sizeof(inner), "%s%s%s", path,
						  *path ? "." : "", name);
		int err = len >= (int)sizeof(inner) ? -E2BIG
						    : add_field(l, &type->fields[i], inner, b);

		if (err)
			return err;
	}
	return 0;
}

/* A value of a type, which a field has or which stands alone (then field is NULL). */
static int add_type(struct layout *l, const struct jfr_type *type, const struct jfr_field *field,
		    const char *path, struct bounds *b)
{
	int err;

	if (b->depth > MAX_DEPTH)
		return -EBADMSG;
	if (!b->n_left)
		return -E2BIG;
	b->n_left--;
	if (type->kind != JFR_STRUCT || (field && field->is_constant))
		return add_leaf(l, op_of(type, field), field, path, NULL);
	b->depth++;
	err = add_fields(l, type, path, b);
	b->depth--;
	return err;
}

struct layout *layout_new(const struct jfr_type *type, int *err)
{
	struct bounds b = { .n_left = MAX_LEAVES };
	struct layout *l = calloc(1, sizeof(*l));

	*err = l ? add_type(l, type, NULL, "", &b) : -ENOMEM;
	if (!*err)
		return l;
	layout_free(l);
	return NULL;
}

void layout_free(struct layout *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		layout_free(l->steps[i].elements);
		free(l->leaves[i].path);
	}
	free(l->steps);
	free(l->leaves);
	free(l);
}

size_t layout_n_leaves(const struct layout *l)
{
	return l->n;
}

const struct jfr_leaf *layout_leaf(const struct layout *l, size_t index)
{
	return index < l->n ? &l->leaves[index] : NULL;
}

int layout_find(const struct layout *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (*l->leaves[i].path == *path && !strcmp(l->leaves[i].path, path))
			return (int)i;
	return -1;
}

static double real_of(struct reader *r, enum op op, const char *path)
{
	uint64_t bits = op == OP_FLOAT ? reader_u32_be(r, path) : reader_u64_be(r, path);
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &bits, sizeof(d));
	return op == OP_FLOAT ? (double)f : d;
}

static uint64_t read_count(const struct layout *elements, struct reader *r, const char *path)
{
	uint64_t n = wire_varint(r, path);

	if (n > reader_left(r) || (n && !elements->n)) /* each is at least a byte */
		reader_fail(r, -EBADMSG, path);
	return r->err ? 0 : n;
}

static void read_array(const struct layout *elements, struct reader *r, struct jfr_value *value,
		       const char *path)
{
	uint64_t n = read_count(elements, r, path);
	const uint8_t *start = r->pos;

	if (!elements->has_others)
		wire_skip_varints(r, n * elements->n, path);
	else
		for (uint64_t i = 0; i < n && !r->err; i++)
			layout_skip(elements, r);
	value->n = (int64_t)n;
	value->string = (struct wire_string){ .bytes = start, .len = (size_t)(r->pos - start) };
}

static inline uint8_t read_byte(struct reader *r, const char *path)
{
	return r->pos < r->end ? *r->pos++ : reader_u8(r, path);
}

/* The varint of one of OP_SHORT to OP_LONG. */
static inline int64_t narrowed(enum op op, uint64_t n)
{
	if (op == OP_LONG) /* as times and all references are */
		return (int64_t)n;
	switch (op) {
	case OP_SHORT:
		return (int16_t)n;
	case OP_UNSIGNED_SHORT:
		return (uint16_t)n;
	case OP_INT:
		return (int32_t)n;
	case OP_UNSIGNED_INT:
		return (uint32_t)n;
	default:
		return (int64_t)n;
	}
}

static void read_rare(const struct step *step, const char *path, struct reader *r,
		      struct jfr_value *value)
{
	switch (step->op) {
	case OP_BYTE:
		value->n = (int8_t)read_byte(r, path);
		break;
	case OP_UNSIGNED_BYTE:
		value->n = read_byte(r, path);
		break;
	case OP_FLOAT:
	case OP_DOUBLE:
		value->real = real_of(r, step->op, path);
		break;
	case OP_ARRAY:
		read_array(step->elements, r, value, path);
		break;
	default:
		value->n = narrowed(step->op, wire_varint(r, path));
		break;
	}
}

/* What is mostly a string. */
static inline void read_other(const struct step *step, const char *path, struct reader *r,
			      struct jfr_value *value)
{
	if (step->op == OP_STRING)
		value->string = wire_string(r, path);
	else
		read_rare(step, path, r, value);
}

static inline bool is_varint(enum op op)
{
	return op >= OP_SHORT && op <= OP_LONG;
}

int layout_read(const struct layout *l, struct reader *r, struct jfr_value *values)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct step *step = &l->steps[i];
		const char *path = l->leaves[i].path;

		if (is_varint(step->op))
			values[i].n = narrowed(step->op, wire_varint(r, path));
		else
			read_other(step, path, r, &values[i]);
	}
	return r->err;
}

/* As many of the leaves as are asked for. */
static inline int read_padded(const struct layout *l, size_t n, struct reader *r,
			      struct jfr_value *values)
{
	const uint8_t *pos = r->pos, *end = r->end;

	for (size_t i = 0; i < n; i++) {
		const struct step *step = &l->steps[i];

		if (is_varint(step->op) && pos < end) {
			values[i].n = narrowed(step->op, wire_varint_short(&pos));
			if (pos <= end)
				continue;
			pos = end; /* it is cut off */
			r->pos = end;
			reader_fail(r, -EBADMSG, l->leaves[i].path);
			continue;
		}
		r->pos = pos;
		read_other(step, l->leaves[i].path, r, &values[i]);
		pos = r->pos;
		end = r->end;
	}
	r->pos = pos;
	return r->err;
}

int layout_read_padded(const struct layout *l, struct reader *r, struct jfr_value *values)
{
	return read_padded(l, l->n, r, values);
}

int layout_read_whole(const struct layout *l, struct reader *r, struct jfr_value *values)
{
	const size_t last = l->n - 1;

	if (!l->n || l->steps[last].op != OP_ARRAY)
		return read_padded(l, l->n, r, values);
	read_padded(l, last, r, values);
	values[last].n = (int64_t)read_count(l->steps[last].elements, r, l->leaves[last].path);
	values[last].string = (struct wire_string){ .bytes = r->pos, .len = reader_left(r) };
	r->pos = r->end;
	return r->err;
}

int layout_skip(const struct layout *l, struct reader *r)
{
	struct jfr_value unused;

	for (size_t i = 0; i < l->n && !r->err; i++) {
		const struct step *step = &l->steps[i];

		if (is_varint(step->op))
			wire_skip_varint(r, l->leaves[i].path);
		else
			read_other(step, l->leaves[i].path, r, &unused);
	}
	return r->err;
}

int layout_read_numbers(const struct layout *l, struct reader *r, int64_t *numbers)
{
	const uint8_t *pos = r->pos, *end = r->end;

	for (size_t i = 0; i < l->n; i++) {
		const struct step *step = &l->steps[i];
		struct jfr_value other;

		if (is_varint(step->op) && end - pos >= WIRE_VARINT_MAX) {
			numbers[i] = narrowed(step->op, wire_varint_short(&pos));
			continue;
		}
		r->pos = pos;
		read_other(step, l->leaves[i].path, r, &other);
		numbers[i] = step->op <= OP_LONG ? other.n : 0;
		pos = r->pos;
		end = r->end;
	}
	r->pos = pos;
	return r->err;
}

bool layout_is_varint(const struct layout *l, size_t leaf)
{
	return leaf < l->n && is_varint(l->steps[leaf].op);
}

bool layout_is_byte(const struct layout *l, size_t leaf)
{
	return leaf < l->n && l->steps[leaf].op < OP_SHORT;
}

struct layout_width layout_width(const struct layout *l, size_t leaf)
{
	switch (l->steps[leaf].op) {
	case OP_SHORT:
		return (struct layout_width){ 48, false };
	case OP_UNSIGNED_SHORT:
		return (struct layout_width){ 48, true };
	case OP_INT:
		return (struct layout_width){ 32, false };
	case OP_UNSIGNED_INT:
		return (struct layout_width){ 32, true };
	default:
		return (struct layout_width){ 0 };
	}
}

const struct layout *layout_elements(const struct layout *l, size_t leaf)
{
	return leaf < l->n ? l->steps[leaf].elements : NULL;
}
