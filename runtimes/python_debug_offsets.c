// SPDX-License-Identifier: Apache-2.0
/* _Py_DebugOffsets: 64-bit words in groups, whose first word is the size of what they describe. */
#include <errno.h>
#include <string.h>

#include "core/reader.h"
#include "runtimes/python_layout_derive.h"

#define FIRST 13 /* minor version */
#define N_VERSIONS 3

enum group {
	RUNTIME,
	INTERP,
	THREAD,
	FRAME,
	CODE,
	OBJECT,
	TYPE,
	TUPLE,
	INTEGER,
	BYTES,
	STR,
	N_GROUPS,
};

/* Where the groups begin, and how long the whole is, in 3.13, 3.14 and 3.15. */
static const uint16_t group_at[N_GROUPS][N_VERSIONS] = {
	[RUNTIME] = { 24, 24, 24 },  [INTERP] = { 48, 48, 48 },	  [THREAD] = { 152, 176, 176 },
	[FRAME] = { 224, 248, 312 }, [CODE] = { 272, 312, 376 },  [OBJECT] = { 352, 400, 464 },
	[TYPE] = { 368, 416, 480 },  [TUPLE] = { 400, 448, 544 }, [INTEGER] = { 488, 568, 664 },
	[BYTES] = { 512, 592, 688 }, [STR] = { 536, 616, 712 },
};
static const uint16_t total_len[N_VERSIONS] = { 584, 760, 888 };

/* In a row's width: the field may stand at 0, or not be there. */
#define OR_ZERO 0x80

/* A field's word within its group, 0 where the version does not say it; its width in the target. */
static const struct row {
	uint16_t to;
	uint8_t group, width, word[N_VERSIONS];
} rows[] = {
	{ AT(runtime.finalizing), RUNTIME, 8, { 1, 1, 1 } },
	{ AT(runtime.interpreters_head), RUNTIME, 8, { 2, 2, 2 } },
	{ AT(interp.id), INTERP, 8, { 1, 1, 1 } },
	{ AT(interp.next), INTERP, 8 | OR_ZERO, { 2, 2, 2 } },
	{ AT(interp.threads_head), INTERP, 8, { 3, 3, 3 } },
	{ AT(interp.modules), INTERP, 8, { 5, 6, 6 } },
	{ AT(interp.gil), INTERP, 8, { 8, 9, 9 } },
	{ AT(interp.freed_codes), INTERP, 8, { 0, 14, 14 } },
	{ AT(thread.next), THREAD, 8, { 2, 2, 2 } },
	{ AT(thread.interp), THREAD, 8, { 3, 3, 3 } },
	{ AT(thread.current_frame), THREAD, 8, { 4, 4, 4 } },
	{ AT(thread.base_frame), THREAD, 8, { 0, 0, 5 } },
	{ AT(thread.thread_id), THREAD, 8, { 5, 5, 8 } },
	{ AT(thread.native_thread_id), THREAD, 8, { 6, 6, 9 } },
	{ AT(thread.status), THREAD, 4, { 8, 8, 11 } },
	{ AT(thread.holds_gil), THREAD, 4, { 0, 0, 12 } },
	{ AT(thread.gil_requested), THREAD, 4, { 0, 0, 13 } },
	{ AT(frame.previous), FRAME, 8, { 1, 1, 1 } },
	{ AT(frame.code), FRAME, 8 | OR_ZERO, { 2, 2, 2 } },
	{ AT(frame.instr), FRAME, 8, { 3, 3, 3 } },
	{ AT(frame.localsplus), FRAME, 8, { 4, 4, 4 } },
	{ AT(frame.owner), FRAME, 1, { 5, 5, 5 } },
	{ AT(frame.tlbc_index), FRAME, 4 | OR_ZERO, { 0, 7, 7 } },
	{ AT(code.filename), CODE, 8, { 1, 1, 1 } },
	{ AT(code.name), CODE, 8, { 2, 2, 2 } },
	{ AT(code.qualname), CODE, 8, { 3, 3, 3 } },
	{ AT(code.linetable), CODE, 8, { 4, 4, 4 } },
	{ AT(code.first_line), CODE, 4, { 5, 5, 5 } },
	{ AT(code.argcount), CODE, 4, { 6, 6, 6 } },
	{ AT(code.code), CODE, 1, { 9, 9, 9 } },
	{ AT(code.tlbc), CODE, 8 | OR_ZERO, { 0, 10, 10 } },
	{ AT(object.type), OBJECT, 8, { 1, 1, 1 } },
	{ AT(type.name), TYPE, 8, { 1, 1, 1 } },
	{ AT(type.flags), TYPE, 8, { 3, 3, 3 } },
	{ AT(tuple.items), TUPLE, 8, { 1, 1, 1 } },
	{ AT(tuple.size), TUPLE, 8, { 2, 2, 2 } },
	{ AT(integer.tag), INTEGER, 8, { 1, 1, 1 } },
	{ AT(integer.digits), INTEGER, 4, { 2, 2, 2 } },
	{ AT(bytes.size), BYTES, 8, { 1, 1, 1 } },
	{ AT(bytes.data), BYTES, 1, { 2, 2, 2 } },
	{ AT(str.state), STR, 4, { 1, 1, 1 } },
	{ AT(str.length), STR, 8, { 2, 2, 2 } },
};
#define N_ROWS (sizeof(rows) / sizeof(*rows))

static uint64_t word_at(struct reader *r, size_t at)
{
	reader_seek(r, at, "offset");
	return reader_u64(r, "offset");
}

/* Inside of what the group describes, aligned, and not where another of its fields is. */
static bool fits(struct python_layout *l, size_t i, uint64_t value, uint64_t group_size)
{
	uint64_t width = rows[i].width & ~OR_ZERO;

	if (value > UINT16_MAX || value % width || value >= group_size ||
	    width > group_size - value)
		return false;
	if (!value)
		return rows[i].width & OR_ZERO;
	for (size_t j = 0; j < i; j++)
		if (rows[j].group == rows[i].group && *python_layout_field(l, rows[j].to) == value)
			return false;
	return true;
}

static int read_rows(struct reader *r, size_t version, struct python_layout *l)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		size_t group = group_at[rows[i].group][version], word = rows[i].word[version];
		uint64_t value;

		if (!word)
			continue;
		value = word_at(r, group + 8 * word);
		if (!fits(l, i, value, word_at(r, group)))
			return -EBADMSG;
		*python_layout_field(l, rows[i].to) = (uint16_t)value;
	}
	return reader_error(r);
}

/* The sizes that are offsets: what stands behind an object's head, and a string's text. */
static int read_sizes(struct reader *r, size_t version, struct python_layout *l)
{
	uint64_t object = word_at(r, group_at[OBJECT][version]);
	uint64_t ascii = word_at(r, group_at[STR][version] + 8 * 3);
	uint64_t compact = ascii + 16;

	if (version >= 2)
		compact = word_at(r, group_at[STR][version] + 8 * 4);
	if (object != l->object.type + 8u || object != (l->is_free_threaded ? 32 : 16) ||
	    l->tuple.size != object || l->bytes.size != object || l->str.length != object ||
	    ascii < l->str.state + 4u || ascii > 128 || compact <= ascii || compact > 256)
		return -EBADMSG;
	l->object.size = (uint16_t)object;
	l->str.ascii_header = (uint16_t)ascii;
	l->str.compact_header = (uint16_t)compact;
	return 0;
}

/* The end of the last of the words that hold these fields. */
static uint16_t words_end(uint16_t a, uint16_t b, uint16_t c, uint16_t d)
{
	uint16_t last = a;

	last = b > last ? b : last;
	last = c > last ? c : last;
	last = d > last ? d : last;
	return (last | 7) + 1;
}

/* What these versions have without saying so. */
static void add_unsaid(struct python_layout *l)
{
	static const uint16_t state[] = { 40, 44, 48 }, context[] = { 208, 208, 232 };
	unsigned int version = (l->version >> 16) - (3 << 8 | FIRST);

	if (version >= N_VERSIONS)
		return;
	l->thread.state = state[version];
	l->thread.context = context[version];
	if (version == 1)
		l->thread.holds_gil = 36; /* 3.15 says it */
	l->code.flags = l->code.argcount - 4;
	if (version < 2)
		l->runtime.tss_key = l->runtime.interpreters_head + 1532;
}

static int read_all(struct reader *r, size_t version, struct python_layout *l)
{
	int err = read_rows(r, version, l);

	if (err < 0)
		return err;
	err = read_sizes(r, version, l);
	if (err < 0)
		return err;
	/* What a thread has of asyncio's is right behind it. */
	l->thread.size = (uint16_t)word_at(r, group_at[THREAD][version]);
	l->frame.size =
		words_end(l->frame.instr, l->frame.previous, l->frame.owner, l->frame.tlbc_index);
	l->code.size =
		words_end(l->code.filename, l->code.name, l->code.qualname, l->code.linetable);
	add_unsaid(l);
	return python_layout_derive(l) ? reader_error(r) : -EBADMSG;
}

/* The head: what the structure says of itself. */
static int read_head(struct reader *r, struct python_layout *l)
{
	const void *cookie = reader_bytes(r, 8, "cookie");
	uint64_t version = reader_u64(r, "version");
	uint64_t is_free_threaded = reader_u64(r, "free threaded");

	if (reader_error(r) || memcmp(cookie, PYTHON_DEBUG_COOKIE, 8) != 0 ||
	    version > UINT32_MAX || version < PYTHON_FIRST(3, FIRST) || is_free_threaded > 1)
		return -EBADMSG;
	l->version = (uint32_t)version;
	l->is_free_threaded = is_free_threaded;
	return 0;
}

int python_layout_parse(const void *bytes, size_t len, struct python_layout *out)
{
	struct python_layout said = { 0 }, l;
	size_t newest = N_VERSIONS - 1, version;
	struct reader r;
	bool is_known;
	int err;

	reader_init(&r, bytes, len);
	err = read_head(&r, &said);
	if (err < 0)
		return err;
	version = (said.version >> 16) - (3 << 8 | FIRST);
	is_known = version <= newest && python_layout_is_settled(said.version);
	version = version <= newest ? version : newest;
	l = said;
	err = len < total_len[version] ? -EBADMSG : read_all(&r, version, &l);
	if (!is_known) {
		l.interp.freed_codes = 0; /* what is known by it is not looked at again */
		*out = err < 0 ? said : l;
		return -ENOTSUP;
	}
	if (err == 0)
		*out = l;
	return err;
}
