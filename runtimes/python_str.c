// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/reader.h"
#include "core/scoped.h"

#define MAX_HEADER 128

/* What the header says of the text. */
struct text {
	uint64_t addr, n_chars;
	unsigned int width; /* bytes of a character in memory: 1, 2, 4 */
	bool is_ascii;
};

static int text_addr(struct mem *m, const struct python_layout *l, uint64_t addr, bool is_compact,
		     struct text *t)
{
	uint8_t bytes[8];
	struct reader r;
	int err;

	if (is_compact) {
		t->addr = addr + (t->is_ascii ? l->str.ascii_header : l->str.compact_header);
		return 0;
	}
	/* Instances of a class derived from str: a pointer, behind the header. */
	err = mem_read(m, addr + l->str.compact_header, bytes, sizeof(bytes));
	reader_init(&r, bytes, sizeof(bytes));
	t->addr = err < 0 ? 0 : reader_u64(&r, "text");
	return err;
}

static int text_of(struct mem *m, const struct python_layout *l, uint64_t addr, struct text *t)
{
	uint8_t bytes[MAX_HEADER];
	struct reader r;
	uint32_t state;
	bool is_compact;
	int err;

	if (l->str.ascii_header > sizeof(bytes))
		return -EBADMSG;
	err = mem_read(m, addr, bytes, l->str.ascii_header);
	if (err < 0)
		return err;
	reader_init(&r, bytes, l->str.ascii_header);
	reader_seek(&r, l->str.length, "length");
	t->n_chars = reader_u64(&r, "length");
	reader_seek(&r, l->str.state, "state");
	state = reader_u32(&r, "state") >> l->str.kind_bit;
	if (reader_error(&r))
		return reader_error(&r);
	t->width = state & 7;
	is_compact = state & 8;
	t->is_ascii = state & 16;
	if (!t->width)
		return -ENOTSUP;
	if ((t->width != 1 && t->width != 2 && t->width != 4) || (t->is_ascii && t->width != 1))
		return -EBADMSG;
	return text_addr(m, l, addr, is_compact, t);
}

/* At most four bytes. */
static size_t put_utf8(char *to, uint32_t c)
{
	if (c >= 0xdc80 && c <= 0xdcff) {
		to[0] = (char)(c - 0xdc00);
		return 1;
	}
	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static uint32_t next_char(struct reader *r, unsigned int width)
{
	if (width == 1)
		return reader_u8(r, "character");
	return width == 2 ? reader_u16(r, "character") : reader_u32(r, "character");
}

int python_str_read(struct mem *m, const struct python_layout *l, uint64_t addr, size_t max,
		    char **out, size_t *len)
{
	SCOPED(free) uint8_t *bytes = NULL;
	SCOPED(free) char *text = NULL;
	struct text t = { 0 };
	struct reader r;
	size_t n = 0;
	int err = text_of(m, l, addr, &t);

	if (err < 0)
		return err;
	if (t.n_chars > max || t.n_chars > SIZE_MAX / 8)
		return -E2BIG;
	bytes = malloc(t.n_chars * t.width + 1);
	text = malloc(t.n_chars * 4 + 1);
	if (!bytes || !text)
		return -ENOMEM;
	err = mem_read(m, t.addr, bytes, t.n_chars * t.width);
	if (err < 0)
		return err;
	reader_init(&r, bytes, t.n_chars * t.width);
	while (!reader_at_end(&r)) {
		uint32_t c = next_char(&r, t.width);

		if (t.is_ascii && c >= 0x80)
			return -EBADMSG;
		n += put_utf8(text + n, c);
	}
	text[n] = 0;
	*out = TAKE(text);
	*len = n;
	return 0;
}

int python_bytes_read(struct mem *m, const struct python_layout *l, uint64_t addr, size_t max,
		      uint8_t **out, size_t *len)
{
	SCOPED(free) uint8_t *data = NULL;
	uint8_t size[8];
	struct reader r;
	uint64_t n;
	int err = mem_read(m, addr + l->bytes.size, size, sizeof(size));

	if (err < 0)
		return err;
	reader_init(&r, size, sizeof(size));
	n = reader_u64(&r, "size");
	if (n > max)
		return -E2BIG;
	data = malloc(n ? n : 1);
	if (!data)
		return -ENOMEM;
	err = mem_read(m, addr + l->bytes.data, data, n);
	if (err < 0)
		return err;
	*out = TAKE(data);
	*len = n;
	return 0;
}
