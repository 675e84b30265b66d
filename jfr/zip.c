// SPDX-License-Identifier: Apache-2.0
#include "jfr/zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/file_read.h"
#include "core/hurry.h"
#include "core/reader.h"

#define LOCAL_MAGIC 0x04034b50
#define DIRECTORY_MAGIC 0x02014b50
#define END_MAGIC 0x06054b50
#define END64_MAGIC 0x06064b50
#define LOCATOR64_MAGIC 0x07064b50

#define LOCAL_LEN 30
#define END_LEN 22
#define END64_LEN 56
#define LOCATOR64_LEN 20
#define MAX_COMMENT_LEN 0xffff
#define MAX_END_RECORDS 16 /* that look like it and are not: each costs a read elsewhere */
/* Of an entry of the directory, without its comment: the fixed part, a name, extra fields. */
#define ENTRY_MAX_LEN (46 + 2 * 0xffff)

#define FLAG_ENCRYPTED 1
#define FLAG_SIZES_FOLLOW 8
#define EXTRA_ZIP64 1
#define IN_ZIP64 0xffffffff /* a size or an offset that is in the extra field */
#define MAX_VERSION 63	    /* needed to unpack, of APPNOTE 6.3.10 */
#define MAX_METHOD 99

#define WINDOW_LEN (256 << 10)

struct zip {
	int fd;
	uint64_t len;
	enum { ZIP_NEW, ZIP_IN_DIRECTORY, ZIP_SEARCHING } state;
	uint64_t at, end;  /* in the directory, or of what is searched */
	uint64_t furthest; /* behind the last bytes of any entry that was seen */
	uint64_t window_at;
	size_t window_len;
	uint8_t window[WINDOW_LEN];
};

struct zip *zip_new(int fd, uint64_t len)
{
	struct zip *z = malloc(sizeof(*z));

	if (!z)
		return NULL;
	memset(z, 0, offsetof(struct zip, window));
	z->fd = fd;
	z->len = len;
	return z;
}

void zip_free(struct zip *z)
{
	free(z);
}

void zip_ended(struct zip *z, uint64_t offset)
{
	if (z->state == ZIP_SEARCHING && offset > z->at)
		z->at = offset;
}

/* Up to len bytes, fewer only at the file's end or where it cannot be read. */
static size_t read_at(int fd, void *out, size_t len, uint64_t at)
{
	size_t n;

	file_read(fd, at, out, len, &n);
	return n;
}

/* The bytes from `at` on, of which there are at least `want` unless the file ends before. */
static struct reader look_at(struct zip *z, uint64_t at, size_t want)
{
	struct reader r;
	size_t skipped;

	if (at < z->window_at || at - z->window_at > z->window_len ||
	    z->window_len - (at - z->window_at) < want) {
		z->window_len = at < z->len ? read_at(z->fd, z->window, WINDOW_LEN, at) : 0;
		z->window_at = at;
	}
	skipped = (size_t)(at - z->window_at);
	reader_init(&r, z->window + skipped, z->window_len - skipped);
	return r;
}

/* The record at the end of the directory tells where it is; a large archive has a second one. */
static bool read_end64(struct zip *z, uint64_t locator_at, uint64_t *at, uint64_t *size)
{
	struct reader r = look_at(z, locator_at, LOCATOR64_LEN);
	uint64_t end_at;

	if (reader_u32(&r, "locator") != LOCATOR64_MAGIC)
		return false;
	reader_u32(&r, "disk");
	end_at = reader_u64(&r, "offset of the end record");
	if (reader_error(&r) || end_at > z->len)
		return false;
	r = look_at(z, end_at, END64_LEN);
	if (reader_u32(&r, "end record") != END64_MAGIC)
		return false;
	/* Its size, versions, disks, and how many entries there are on this disk and on all. */
	reader_skip(&r, 8 + 2 + 2 + 4 + 4 + 8 + 8, "end record");
	*size = reader_u64(&r, "directory size");
	*at = reader_u64(&r, "directory offset");
	return !reader_error(&r);
}

static bool read_end(struct zip *z, uint64_t end_at, struct reader r)
{
	uint64_t at, size;

	reader_skip(&r, 4 + 2 + 2 + 2, "magic, disks and entries on this one");
	reader_u16(&r, "entries");
	size = reader_u32(&r, "directory size");
	at = reader_u32(&r, "directory offset");
	if (reader_u16(&r, "comment") > reader_left(&r) || reader_error(&r))
		return false;
	if (end_at >= LOCATOR64_LEN && (size == IN_ZIP64 || at == IN_ZIP64) &&
	    !read_end64(z, end_at - LOCATOR64_LEN, &at, &size))
		return false;
	if (at > z->len || size > z->len - at)
		return false;
	z->at = at;
	z->end = at + size;
	r = look_at(z, at, 4);
	return !size || reader_u32(&r, "entry") == DIRECTORY_MAGIC;
}

/* The end record is the last thing, but for a comment. */
static bool find_directory(struct zip *z)
{
	uint64_t tail = z->len < END_LEN + MAX_COMMENT_LEN ? z->len : END_LEN + MAX_COMMENT_LEN;
	uint64_t first = z->len - tail;
	unsigned int n_tried = 0;

	for (uint64_t at = z->len; at >= first + END_LEN; at--) {
		/* All of the tail stays in the window while nothing else is looked at. */
		struct reader all = look_at(z, first, tail), r;

		reader_skip(&all, at - END_LEN - first, "tail");
		r = all;
		if (reader_u32(&r, "end record") != END_MAGIC)
			continue;
		if (read_end(z, at - END_LEN, all))
			return true;
		if (++n_tried == MAX_END_RECORDS)
			break;
	}
	return false;
}

/* Sizes of 4 GiB and more are in an extra field, those that are needed and in this order. */
static void read_extra(struct reader extra, struct zip_entry *e, uint64_t *header_at)
{
	while (!reader_at_end(&extra)) {
		uint16_t id = reader_u16(&extra, "extra field");
		uint16_t len = reader_u16(&extra, "extra field length");
		struct reader r = reader_sub(&extra, len, "extra field");

		if (id != EXTRA_ZIP64 || reader_error(&r))
			continue;
		if (e->len == IN_ZIP64)
			e->len = reader_u64(&r, "size");
		if (e->packed_len == IN_ZIP64)
			e->packed_len = reader_u64(&r, "packed size");
		if (*header_at == IN_ZIP64)
			*header_at = reader_u64(&r, "header offset");
		return;
	}
}

static void set_name(struct zip_entry *e, const char *name, size_t len)
{
	if (len >= sizeof(e->name))
		len = sizeof(e->name) - 1;
	memcpy(e->name, name, len);
	e->name[len] = 0;
}

/* What headers and directory entries have in common: from the flags to the sizes. */
static void read_common(struct reader *r, struct zip_entry *e)
{
	uint16_t flags = reader_u16(r, "flags");

	*e = (struct zip_entry){
		.is_encrypted = flags & FLAG_ENCRYPTED,
		.has_sizes = !(flags & FLAG_SIZES_FOLLOW),
	};
	e->method = reader_u16(r, "method");
	reader_u32(r, "time and date");
	e->crc = reader_u32(r, "checksum");
	e->packed_len = reader_u32(r, "packed size");
	e->len = reader_u32(r, "size");
}

/* The bytes begin behind the header, whose name and extra fields may differ from the directory's.
 */
static int locate_data(struct zip *z, uint64_t header_at, struct zip_entry *e,
		       struct unpack_fault *fault)
{
	uint8_t header[LOCAL_LEN];
	struct reader r;
	uint32_t magic;

	reader_init(&r, header,
		    header_at < z->len ? read_at(z->fd, header, LOCAL_LEN, header_at) : 0);
	magic = reader_u32(&r, "header");
	reader_skip(&r, LOCAL_LEN - 4 - 4, "header");
	e->data_at = header_at + LOCAL_LEN + reader_u16(&r, "name length");
	e->data_at += reader_u16(&r, "extra length");
	if (reader_error(&r) || magic != LOCAL_MAGIC || e->data_at > z->len)
		return unpack_fault_set(fault, -EBADMSG, header_at,
					"an entry of the zip has no header where it should be");
	if (e->packed_len <= z->len - e->data_at && e->data_at + e->packed_len > z->furthest)
		z->furthest = e->data_at + e->packed_len;
	return 1;
}

static int next_in_directory(struct zip *z, struct zip_entry *e, struct unpack_fault *fault)
{
	struct reader r = look_at(z, z->at, ENTRY_MAX_LEN), extra;
	uint16_t name_len, extra_len, comment_len;
	uint64_t header_at, entry_at = z->at;
	const char *name;

	if (z->at >= z->end)
		return 0;
	if (reader_u32(&r, "entry") != DIRECTORY_MAGIC)
		reader_fail(&r, -EBADMSG, "entry");
	reader_u32(&r, "versions");
	read_common(&r, e);
	name_len = reader_u16(&r, "name length");
	extra_len = reader_u16(&r, "extra length");
	comment_len = reader_u16(&r, "comment length");
	reader_skip(&r, 2 + 2 + 4, "disk and attributes");
	header_at = reader_u32(&r, "header offset");
	name = reader_bytes(&r, name_len, "name");
	extra = reader_sub(&r, extra_len, "extra fields");
	if (reader_error(&r)) {
		z->state = ZIP_SEARCHING;
		z->at = z->furthest;
		return unpack_fault_set(
			fault, -EBADMSG, entry_at,
			"the zip's directory is damaged: what follows is looked for");
	}
	z->at += reader_offset(&r) + comment_len;
	read_extra(extra, e, &header_at);
	e->has_sizes = true;
	set_name(e, name, name_len);
	return locate_data(z, header_at, e, fault);
}

/* Is there an entry's header here? Its magic has only four bytes, so the rest must be possible. */
static bool read_header(struct zip *z, uint64_t at, struct zip_entry *e)
{
	struct reader r = look_at(z, at, ENTRY_MAX_LEN), extra;
	uint16_t version, name_len, extra_len;
	uint64_t unused = 0;
	const char *name;

	reader_u32(&r, "header");
	version = reader_u16(&r, "version") & 0xff;
	read_common(&r, e);
	name_len = reader_u16(&r, "name length");
	extra_len = reader_u16(&r, "extra length");
	name = reader_bytes(&r, name_len, "name");
	extra = reader_sub(&r, extra_len, "extra fields");
	if (reader_error(&r) || version > MAX_VERSION || e->method > MAX_METHOD || !name_len)
		return false;
	read_extra(extra, e, &unused);
	set_name(e, name, name_len);
	e->data_at = at + reader_offset(&r);
	return true;
}

static int search(struct zip *z, struct zip_entry *e)
{
	while (z->at < z->len && !hurry_is_on()) {
		struct reader r = look_at(z, z->at, ENTRY_MAX_LEN);
		const uint8_t *found = memmem(r.pos, reader_left(&r), "PK\3\4", 4);
		size_t left = reader_left(&r);

		if (left < 4)
			return 0;
		if (!found) {
			z->at += left - 3;
			continue;
		}
		z->at += (uint64_t)(found - r.pos);
		if (!read_header(z, z->at, e)) {
			z->at += 4;
			continue;
		}
		z->at = e->data_at;
		if (e->has_sizes && e->packed_len <= z->len - e->data_at)
			z->at += e->packed_len;
		return 1;
	}
	return 0;
}

int zip_next(struct zip *z, struct zip_entry *e, struct unpack_fault *fault)
{
	if (z->state == ZIP_NEW && find_directory(z)) {
		z->state = ZIP_IN_DIRECTORY;
	} else if (z->state == ZIP_NEW) {
		z->state = ZIP_SEARCHING;
		z->at = 0;
		return unpack_fault_set(fault, -EBADMSG, z->len,
					"the zip has no directory at its end: it was cut, and what "
					"is there is looked for");
	}
	return z->state == ZIP_IN_DIRECTORY ? next_in_directory(z, e, fault) : search(z, e);
}
