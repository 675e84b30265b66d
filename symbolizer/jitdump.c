// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/jitdump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "symbolizer/jit_symbols.h"

#define MAGIC 0x4a695444 /* "JiTD" */
#define MAGIC_SWAPPED 0x4454694a
#define FLAG_ARCH_TIMESTAMP 1
#define HEADER_LEN 40
#define RECORD_LEN 16
#define MAX_RECORDS (4 << 20)
#define MAX_LINES 65536	  /* of one function */
#define LINE_ENTRY_LEN 17 /* address, line, discriminator, at least the NUL of a name */

enum record { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO, RECORD_CLOSE };

static int read_header(struct jitdump *d, struct reader *r)
{
	uint32_t magic = reader_u32(r, "jitdump magic"), version = reader_u32(r, "jitdump version");
	uint32_t len = reader_u32(r, "jitdump header length");

	reader_u32(r, "machine");
	reader_u32(r, "padding");
	reader_u32(r, "pid");
	reader_u64(r, "time");
	d->has_arch_time = reader_u64(r, "flags") & FLAG_ARCH_TIMESTAMP;
	if (reader_error(r))
		return reader_error(r);
	if (magic == MAGIC_SWAPPED || (magic == MAGIC && version != 1))
		return -ENOTSUP;
	if (magic != MAGIC || len < HEADER_LEN)
		return -EBADMSG;
	reader_seek(r, len, "jitdump header length");
	return reader_error(r);
}

static int read_load(struct reader *r, uint64_t time_ns, struct jit_symbols *out)
{
	uint64_t addr, size;
	const char *name;

	reader_u32(r, "pid");
	reader_u32(r, "tid");
	reader_u64(r, "vma");
	addr = reader_u64(r, "code address");
	size = reader_u64(r, "code size");
	reader_u64(r, "code index");
	name = reader_string(r, "function name");
	if (!name)
		return -EBADMSG;
	/* The string's end was found by the reader; what the file says later does not count. */
	return jit_symbols_add(out, addr, size, time_ns, name,
			       (size_t)((const char *)r->pos - name) - 1);
}

static int read_move(struct reader *r, uint64_t time_ns, struct jit_symbols *out)
{
	uint64_t from, to, size;
	int err;

	reader_u32(r, "pid");
	reader_u32(r, "tid");
	reader_u64(r, "vma");
	from = reader_u64(r, "old code address");
	to = reader_u64(r, "new code address");
	size = reader_u64(r, "code size");
	if (reader_error(r))
		return reader_error(r);
	err = jit_symbols_move(out, from, to, size, time_ns);
	return err == -ENOENT ? 0 : err; /* it was loaded before the dump began */
}

static int compare_lines(const void *a, const void *b)
{
	const struct jit_line *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Lines of the function that is loaded by the next record. */
static int read_debug_info(struct reader *r, struct jit_symbols *out)
{
	uint64_t start = reader_u64(r, "code address"), n = reader_u64(r, "line count");
	SCOPED(free) struct jit_line *lines = NULL;
	uint32_t file = 0;
	size_t n_lines = 0;

	if (reader_error(r) || n > reader_left(r) / LINE_ENTRY_LEN)
		return -EBADMSG;
	if (n > MAX_LINES)
		return 0;
	lines = calloc(n ? n : 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t addr = reader_u64(r, "line address");
		uint32_t line = reader_u32(r, "line");
		const char *name;

		reader_u32(r, "discriminator");
		name = reader_string(r, "file name");
		if (!name)
			return -EBADMSG;
		/* "\xff" means: the same as before. */
		if (strcmp(name, "\xff"))
			file = jit_symbols_text(out, name,
						(size_t)((const char *)r->pos - name) - 1);
		if (addr >= start && addr - start < UINT32_MAX)
			lines[n_lines++] =
				(struct jit_line){ (uint32_t)(addr - start), line, file };
	}
	qsort(lines, n_lines, sizeof(*lines), compare_lines);
	return jit_symbols_lines(out, lines, n_lines);
}

static int read_record(struct jitdump *d, uint32_t id, uint64_t time_ns, struct reader *r,
		       struct jit_symbols *out)
{
	switch (id) {
	case RECORD_LOAD:
		return read_load(r, time_ns, out);
	case RECORD_MOVE:
		return read_move(r, time_ns, out);
	case RECORD_DEBUG_INFO:
		return read_debug_info(r, out);
	case RECORD_CLOSE:
		d->is_closed = 1;
		return 0;
	default:
		return 0;
	}
}

int jitdump_read(struct jitdump *d, const void *bytes, size_t len, struct jit_symbols *out)
{
	struct reader r;
	int err = 0;

	reader_init(&r, bytes, len);
	if (!d->offset) {
		if (len < HEADER_LEN)
			return 0;
		err = read_header(d, &r);
		if (err < 0)
			return err;
		d->offset = reader_offset(&r);
	}
	reader_seek(&r, d->offset, "jitdump offset");
	while (!err && !d->is_closed && !hurry_is_on() && reader_left(&r) >= RECORD_LEN) {
		uint32_t id = reader_u32(&r, "record type"), size = reader_u32(&r, "record length");
		uint64_t time_ns = reader_u64(&r, "record time");
		struct reader record;

		if (size < RECORD_LEN)
			return -EBADMSG;
		if (size - RECORD_LEN > reader_left(&r))
			break; /* still being written */
		if (++d->n_records > MAX_RECORDS)
			return -E2BIG;
		record = reader_sub(&r, size - RECORD_LEN, "record");
		d->offset = reader_offset(&r);
		err = read_record(d, id, d->has_arch_time ? 0 : time_ns, &record, out);
	}
	return err ? err : reader_error(&r);
}
