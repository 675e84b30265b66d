// SPDX-License-Identifier: Apache-2.0
#include "jfr/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/hurry.h"
#include "core/located.h"
#include "core/reader.h"
#include "core/text.h"
#include "jfr/content.h"
#include "jfr/decoder.h"
#include "jfr/stream.h"
#include "jfr/stream_search.h"
#include "jfr/zip.h"

#define MAX_DEPTH 1    /* packed twice: what is in what was packed */
#define MAX_SKIPPED 64 /* frames without content before the first one; pzstd writes one */
#define FIRST_LEN 4096 /* unpacked to see what it is */
#define PIECE_LEN (256 << 10)
#define MAX_TRIES 4096 /* of what looks like a member behind damage */
#define ENTRY_NAME_MAX (UNPACK_NAME_MAX / 2)

struct unpack {
	int fd;
	unsigned int depth;
	struct unpack_limits limits; /* of what is not packed in anything, as own_room */
	struct spill_room own_room, *room;
	struct content content;
	uint64_t at, len;	   /* where what is packed begins, behind frames without content */
	struct unpack_fault fault; /* of opening it, or of the stream that `inner` came from */
	struct zip *zip;
	uint32_t n_entries;
	struct unpack *inner;
	bool is_done, has_parts, is_behind_damage;
	unsigned int n_tries;
	char name[UNPACK_NAME_MAX];
	uint8_t piece[PIECE_LEN];
};

static struct unpack *new_at_depth(unsigned int depth)
{
	struct unpack *u = malloc(sizeof(*u));

	if (!u)
		return NULL;
	memset(u, 0, offsetof(struct unpack, piece));
	u->fd = -1;
	u->depth = depth;
	u->n_tries = MAX_TRIES;
	return u;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	unpack_free(u->inner);
	zip_free(u->zip);
	if (u->fd >= 0)
		close(u->fd);
	free(u);
}

void unpack_part_deinit(struct unpack_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFLNK:
		return "a symbolic link";
	default:
		return "a device";
	}
}

static void open_file(struct unpack *u, int dir, const char *path, unsigned int flags)
{
	int nofollow = flags & UNPACK_NOFOLLOW ? O_NOFOLLOW : 0;
	SCOPED(close) int located = openat(dir, path, O_PATH | O_CLOEXEC | nofollow);
	struct stat st = { 0 };
	int fd = located < 0 ? -errno : located_open(located, &st);

	if (fd < 0 && st.st_mode && !S_ISREG(st.st_mode)) {
		unpack_fault_set(&u->fault, S_ISLNK(st.st_mode) ? -ELOOP : -ENOTSUP, 0, "is %s",
				 kind_of(st.st_mode));
	} else if (fd < 0) {
		unpack_fault_set(&u->fault, fd, 0, "cannot be opened: %s", strerror(-fd));
	} else {
		/* Its owner or root only; others leave a mark, which is no harm. */
		fcntl(fd, F_SETFL, O_NOATIME);
		u->fd = fd;
		u->len = (uint64_t)st.st_size;
	}
}

/* Looks at the first bytes, and behind frames without content. */
static void identify(struct unpack *u)
{
	for (unsigned int n = 0; n < MAX_SKIPPED; n++) {
		uint8_t head[CONTENT_HEAD_LEN];
		ssize_t len = pread(u->fd, head, sizeof(head), (off_t)u->at);
		struct reader r;

		if (len < 0) {
			unpack_fault_set(&u->fault, -errno, 0, "cannot be read: %s",
					 strerror(errno));
			return;
		}
		u->content = content_sniff(head, (size_t)len);
		if (u->content.kind != CONTENT_SKIPPABLE)
			break;
		reader_init(&r, head, (size_t)len);
		reader_u32(&r, "magic");
		u->at += 8 + (uint64_t)reader_u32(&r, "length of a frame without content");
	}
	if (u->at && u->content.kind != CONTENT_ZSTD && u->content.kind != CONTENT_LZ4)
		u->content = (struct content){ CONTENT_UNKNOWN, NULL };
}

struct unpack *unpack_new(int dir, const char *path, unsigned int flags,
			  const struct unpack_limits *limits)
{
	struct unpack *u = new_at_depth(0);

	if (!u)
		return NULL;
	text_safe(path, u->name, sizeof(u->name));
	u->limits = limits ? *limits : unpack_limits_default;
	open_file(u, dir, path, flags);
	u->own_room = (struct spill_room){ .limits = &u->limits, .file_len = u->len };
	u->room = &u->own_room;
	if (!u->fault.err)
		identify(u);
	return u;
}

/* What is packed in what was packed; takes the descriptor. */
static struct unpack *new_inner(struct unpack *outer, struct spill *spill, const char *name)
{
	struct unpack *u = new_at_depth(outer->depth + 1);

	if (!u)
		return NULL;
	memcpy(u->name, name, sizeof(u->name));
	u->room = outer->room;
	u->len = spill->len;
	u->fd = TAKE_FD(spill->fd);
	identify(u);
	return u;
}

static void say(struct unpack_part *part, const struct unpack_fault *fault)
{
	part->err = fault->err;
	part->where = fault->where;
	memcpy(part->reason, fault->reason, sizeof(part->reason));
}

/* The file's name, or its beginning, and behind it what follows. */
static void __attribute__((format(printf, 3, 4)))
name_part(struct unpack_part *part, const struct unpack *u, const char *fmt, ...)
{
	size_t len = strnlen(u->name, sizeof(part->name) - ENTRY_NAME_MAX);
	va_list args;

	memcpy(part->name, u->name, len);
	va_start(args, fmt);
	vsnprintf(part->name + len, sizeof(part->name) - len, fmt, args);
	va_end(args);
}

/* The first bytes of it are in u->piece. */
static void spill_all(struct unpack *u, struct stream *s, size_t n, struct spill *spill,
		      uint32_t *crc, struct unpack_fault *fault)
{
	/* What the stream has to say comes behind the bytes before it. */
	struct unpack_fault full = { 0 };

	while (n && !spill_write(spill, u->room, u->piece, n, stream_offset(s), &full)) {
		*crc = (uint32_t)crc32(*crc, u->piece, (uInt)n);
		n = stream_read(s, u->piece, PIECE_LEN);
	}
	if (full.err)
		*fault = full;
}

static bool is_wanted(const struct unpack *u, const struct content *content, bool is_entry,
		      struct unpack_fault *fault)
{
	if (content_is_packed(content->kind) && u->depth == MAX_DEPTH) {
		unpack_fault_set(fault, -ENOTSUP, 0, "%s in what was packed twice already",
				 content->name);
		return false;
	}
	if (content->kind == CONTENT_RECORDING || content_is_packed(content->kind))
		return true;
	if (is_entry) /* of an archive that may have anything in it */
		return false;
	if (content->kind == CONTENT_OTHER)
		unpack_fault_set(fault, -ENOTSUP, 0, "no recording is in the %s, but %s",
				 u->content.name, content->name);
	return content->kind == CONTENT_UNKNOWN;
}

/*
 * Unpacks what a stream has, an entry of a zip or all there is, if it is worth it. True when the
 * part has something to say; what is packed itself becomes u->inner.
 */
static bool extract(struct unpack *u, struct stream *s, struct unpack_fault *fault,
		    const struct zip_entry *e, struct unpack_part *part)
{
	size_t n = stream_read(s, u->piece, FIRST_LEN);
	struct content content =
		content_sniff(u->piece, n < CONTENT_HEAD_LEN ? n : CONTENT_HEAD_LEN);
	struct spill spill = { .fd = -1 };
	uint32_t crc = 0;

	if ((!n && (e || fault->err)) || !is_wanted(u, &content, e, fault) ||
	    spill_open(&spill, fault) < 0) {
		say(part, fault);
		return fault->err;
	}
	spill_all(u, s, n, &spill, &crc, fault);
	if (e && e->has_sizes && !fault->err && (spill.len != e->len || crc != e->crc))
		unpack_fault_set(fault, -EBADMSG, stream_offset(s),
				 "the entry's checksum or size is wrong");
	if (content_is_packed(content.kind) && spill.len) {
		u->inner = new_inner(u, &spill, part->name);
		u->fault = *fault;
		if (u->inner)
			return false;
		unpack_fault_set(fault, -ENOMEM, 0, "not enough memory");
	}
	part->fd = spill.fd;
	part->len = spill.len;
	part->is_unsure = content.kind == CONTENT_UNKNOWN;
	say(part, fault);
	if (part->err && !part->len)
		unpack_part_deinit(part);
	return true;
}

/* After these there is nothing more to be had of the file. */
static bool is_final(int err)
{
	return err == -E2BIG || err == -ENOSPC || err == -EINTR || err == -ENOMEM;
}

static const struct decoder_ops *decoder_of_method(const struct zip_entry *e)
{
	switch (e->method) {
	case ZIP_STORED:
		return &decoder_stored;
	case ZIP_DEFLATED:
		return &decoder_deflate;
	case ZIP_ZSTD:
		return &decoder_zstd;
	default:
		return NULL;
	}
}

static bool extract_entry(struct unpack *u, const struct zip_entry *e, struct unpack_part *part)
{
	const struct decoder_ops *ops = decoder_of_method(e);
	uint64_t end = e->has_sizes ? e->data_at + e->packed_len : STREAM_TO_THE_END;
	SCOPED(stream_free) struct stream *s = NULL;
	struct unpack_fault fault = { 0 };
	bool is_part;

	if (e->is_encrypted)
		unpack_fault_set(&fault, -ENOTSUP, e->data_at, "the entry is encrypted");
	else if (!ops)
		unpack_fault_set(&fault, -ENOTSUP, e->data_at,
				 "the entry is packed by method %u, which is not read", e->method);
	else if (!(s = stream_new(ops, u->fd, e->data_at, end, &fault)))
		unpack_fault_set(&fault, -ENOMEM, e->data_at, "not enough memory");
	if (!s) {
		say(part, &fault);
		return true;
	}
	is_part = extract(u, s, &fault, e, part);
	if (!e->has_sizes)
		zip_ended(u->zip, stream_offset(s));
	u->is_done = is_final(fault.err);
	return is_part;
}

static bool next_entry(struct unpack *u, struct unpack_part *part)
{
	struct unpack_fault fault = { 0 };
	char safe[ENTRY_NAME_MAX];
	struct zip_entry e;
	int status = hurry_is_on() ? unpack_fault_set(&fault, -EINTR, 0, "was interrupted")
				   : zip_next(u->zip, &e, &fault);

	if (status > 0 && ++u->n_entries > u->room->limits->max_entries)
		status = unpack_fault_set(&fault, -E2BIG, 0, "the zip has more than %u entries",
					  u->room->limits->max_entries);
	if (!status && !u->has_parts)
		unpack_fault_set(&fault, -ENOTSUP, 0, "no entry of the zip is a recording");
	if (status <= 0) {
		u->is_done = !status || is_final(status);
		say(part, &fault);
		return fault.err;
	}
	if (e.has_sizes && !e.len)
		return false;
	text_safe(e.name, safe, sizeof(safe));
	name_part(part, u, ":%s", safe);
	return extract_entry(u, &e, part);
}

static const struct decoder_ops *decoder_of_content(enum content_kind kind)
{
	return kind == CONTENT_GZIP   ? &decoder_gzip
	       : kind == CONTENT_ZSTD ? &decoder_zstd
				      : &decoder_lz4;
}

/* Members follow each other; behind a damaged one the next is looked for that begins a recording.
 */
static bool unpack_stream(struct unpack *u, struct unpack_part *part)
{
	const struct decoder_ops *ops = decoder_of_content(u->content.kind);
	SCOPED(stream_free) struct stream *s = NULL;
	struct unpack_fault fault = { 0 };
	bool is_part;

	if (u->is_behind_damage && !stream_search(ops, u->fd, &u->at, &u->n_tries)) {
		u->is_done = true;
		return false;
	}
	if (u->is_behind_damage)
		name_part(part, u, "@%" PRIu64, u->at);
	s = stream_new(ops, u->fd, u->at, STREAM_TO_THE_END, &fault);
	if (!s) {
		unpack_fault_set(&fault, -ENOMEM, 0, "not enough memory");
		say(part, &fault);
		u->is_done = true;
		return true;
	}
	is_part = extract(u, s, &fault, NULL, part);
	/* What is packed twice may lie there as it is, and would be found a second time. */
	u->is_behind_damage = fault.err == -EBADMSG && !u->inner;
	u->is_done = !u->is_behind_damage;
	u->at = stream_member_offset(s) + 1;
	return is_part;
}

static bool hand_on(struct unpack *u, struct unpack_part *part)
{
	u->is_done = true;
	part->fd = TAKE_FD(u->fd);
	part->len = u->len;
	part->is_self = !u->depth;
	part->is_unsure = u->content.kind == CONTENT_UNKNOWN;
	return true;
}

/* True when the part has something to say. */
static bool next_of_file(struct unpack *u, struct unpack_part *part)
{
	if (!u->fault.err && u->content.kind == CONTENT_OTHER)
		unpack_fault_set(&u->fault, -ENOTSUP, 0, "is no recording, but %s",
				 u->content.name);
	if (!u->fault.err && u->content.kind == CONTENT_ZIP && !u->zip)
		u->zip = zip_new(u->fd, u->len);
	if (!u->fault.err && u->content.kind == CONTENT_ZIP && !u->zip)
		unpack_fault_set(&u->fault, -ENOMEM, 0, "not enough memory");
	if (u->fault.err) {
		u->is_done = true;
		say(part, &u->fault);
		return true;
	}
	if (u->zip)
		return next_entry(u, part);
	return content_is_packed(u->content.kind) ? unpack_stream(u, part) : hand_on(u, part);
}

/* What the inner one has; the stream that it came from may have ended early too. */
static bool next_of_inner(struct unpack *u, struct unpack_part *part)
{
	if (unpack_next(u->inner, part)) {
		if (!part->err && u->fault.err)
			say(part, &u->fault);
		return true;
	}
	unpack_free(u->inner);
	u->inner = NULL;
	u->fault = (struct unpack_fault){ 0 };
	return false;
}

bool unpack_next(struct unpack *u, struct unpack_part *part)
{
	while (u->inner || !u->is_done) {
		*part = (struct unpack_part){ .fd = -1 };
		memcpy(part->name, u->name, sizeof(part->name));
		if (u->inner ? next_of_inner(u, part) : next_of_file(u, part)) {
			u->has_parts = true;
			return true;
		}
	}
	return false;
}
