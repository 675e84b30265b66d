// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/reader.h"
#include "core/scoped.h"
#include "runtimes/python_lines.h"
#include "runtimes/python_str.h"
#include "unwinders/python_identity.h"

#define MAX_HEAD 256

/* The part of the object that says where the rest is. */
struct head {
	uint64_t type, filename, name, linetable, code_len;
	uint32_t first_line, flags, identity;
};

static uint64_t word_at(struct reader *r, uint16_t at)
{
	reader_seek(r, at, "field");
	return reader_u64(r, "field");
}

static uint32_t int_at(struct reader *r, uint16_t at)
{
	reader_seek(r, at, "field");
	return reader_u32(r, "field");
}

static int read_word(struct mem *m, uint64_t addr, uint64_t *out)
{
	uint8_t bytes[8];
	struct reader r;
	int err = mem_read(m, addr, bytes, sizeof(bytes));

	if (err < 0)
		return err;
	reader_init(&r, bytes, sizeof(bytes));
	*out = reader_u64(&r, "word");
	return 0;
}

static int read_identity(struct mem *m, const struct python_layout *l, struct reader *r,
			 struct head *h)
{
	uint64_t words[PYTHON_IDENTITY_WORDS] = { 0 }, hash = 0;
	size_t n = l->code.id_len / 8;

	if (n > PYTHON_IDENTITY_WORDS)
		return -EBADMSG;
	if (l->code.id_needs_name) {
		/* The kernel half has the name of the code object, not the qualified one. */
		int err = read_word(m, word_at(r, l->code.name) + l->str.hash, &hash);

		if (err < 0)
			return err;
	}
	reader_seek(r, l->code.id_off, "identity");
	for (size_t i = 0; i < n; i++)
		words[i] = reader_u64(r, "identity");
	h->identity = python_code_identity((const __u64 *)words, (__u32)n, hash);
	return 0;
}

static int read_head(struct mem *m, const struct python_layout *l, uint64_t addr, struct head *h)
{
	uint8_t bytes[MAX_HEAD];
	struct reader r;
	int err;

	if (l->code.size > sizeof(bytes))
		return -EBADMSG;
	err = mem_read(m, addr, bytes, l->code.size);
	if (err < 0)
		return err;
	reader_init(&r, bytes, l->code.size);
	h->type = word_at(&r, l->object.type);
	h->filename = word_at(&r, l->code.filename);
	h->name = word_at(&r, l->code.qualname ? l->code.qualname : l->code.name);
	h->linetable = word_at(&r, l->code.linetable);
	if (l->instr == PYTHON_INSTR_POINTER)
		h->code_len = word_at(&r, l->object.size) * 2;
	h->first_line = int_at(&r, l->code.first_line);
	h->flags = l->code.flags ? int_at(&r, l->code.flags) : 0;
	err = read_identity(m, l, &r, h);
	return err < 0 ? err : reader_error(&r);
}

int python_code_identify(struct mem *m, const struct python_layout *l, uint64_t addr,
			 uint32_t *identity)
{
	struct head h = { 0 };
	int err = read_head(m, l, addr, &h);

	if (err == 0)
		*identity = h.identity;
	return err;
}

/* struct { ssize_t size; char *entries[size]; }, with NULL for threads that did not run the code.
   Best effort: without them, frames of threads that run copies have no line. */
void python_code_read_copies(struct mem *m, const struct python_layout *l, uint64_t addr,
			     struct python_code *c)
{
	SCOPED(free) uint32_t *copies = NULL;
	SCOPED(free) uint8_t *bytes = NULL;
	uint64_t array, n;
	struct reader r;
	size_t n_copies = 0;

	if (!l->code.tlbc || read_word(m, addr + l->code.tlbc, &array) < 0 || !array ||
	    read_word(m, array, &n) < 0 || !n || n > PYTHON_MAX_COPIES)
		return;
	bytes = malloc(n * 8);
	copies = calloc(n, sizeof(*copies));
	if (!bytes || !copies || mem_read(m, array + 8, bytes, n * 8) < 0)
		return;
	reader_init(&r, bytes, n * 8);
	while (!reader_at_end(&r)) {
		uint64_t copy = reader_u64(&r, "copy");

		if (copy)
			copies[n_copies++] = (uint32_t)(copy - (addr + l->code.code));
	}
	free(c->copies);
	c->copies = TAKE(copies);
	c->n_copies = n_copies;
}

/* Everything that hangs from the head; only the name has to be there. */
static int read_parts(struct mem *m, const struct python_layout *l, const struct head *h,
		      struct python_code *c)
{
	int err = python_str_read(m, l, h->name, PYTHON_MAX_NAME, &c->name, &c->name_len);

	if (err < 0)
		return err;
	err = python_str_read(m, l, h->filename, PYTHON_MAX_NAME, &c->file, &c->file_len);
	if (err == -ESRCH)
		return err;
	if (!c->file)
		c->file = strdup("");
	if (!c->file)
		return -ENOMEM;
	err = python_bytes_read(m, l, h->linetable, PYTHON_MAX_LINES, &c->lines, &c->lines_len);
	return err == -ESRCH || err == -ENOMEM ? err : 0;
}

int python_code_read(struct mem *m, const struct python_layout *l, uint64_t addr, uint64_t type,
		     struct python_code *out)
{
	struct python_code c = { 0 };
	struct head h = { 0 }, again = { 0 };
	int err = read_head(m, l, addr, &h);

	if (err < 0)
		return err;
	if (type && h.type != type)
		return -EBADMSG;
	err = read_parts(m, l, &h, &c);
	if (err == 0)
		err = read_head(m, l, addr, &again);
	if (err == 0 && again.identity != h.identity)
		err = -ESTALE;
	if (err < 0) {
		python_code_deinit(&c);
		return err;
	}
	python_code_read_copies(m, l, addr, &c);
	c.code_len = h.code_len;
	c.first_line = (int)h.first_line;
	c.flags = h.flags;
	c.identity = h.identity;
	*out = c;
	return 0;
}

void python_code_deinit(struct python_code *c)
{
	free(c->name);
	free(c->file);
	free(c->lines);
	free(c->copies);
	*c = (struct python_code){ 0 };
}

/* From the start of the code or copy that the position is in; negative: in none. */
static int64_t own_position(const struct python_code *c, int64_t position)
{
	if (!c->code_len || (uint64_t)position < c->code_len)
		return position;
	for (size_t i = 0; i < c->n_copies; i++) {
		uint32_t own = (uint32_t)position - c->copies[i];

		if (own < c->code_len)
			return own;
	}
	return -1;
}

bool python_code_has(const struct python_code *c, int64_t position)
{
	return position < 0 || own_position(c, position) >= 0;
}

int python_code_line(const struct python_layout *l, const struct python_code *c, int64_t position,
		     int *line)
{
	if (position >= 0) {
		position = own_position(c, position);
		if (!c->lines || position < 0)
			return -ENOENT;
	}
	return python_line(l->lines, c->lines, c->lines_len, c->first_line, position, line);
}
