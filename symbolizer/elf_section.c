// SPDX-License-Identifier: Apache-2.0
/* The parts of elf_file.h that look into sections: decompression, .eh_frame by program header. */
#include "symbolizer/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <zlib.h>
#include <zstd.h>

#include "core/hurry.h"
#include "core/reader.h"
#include "core/scoped.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define MIN_ON_DISK (256 << 10) /* smaller ones are not worth a file */
#define MAX_UNPACKED (UINT64_C(1) << 30)
#define PIECE_LEN (1u << 20) /* of what is unpacked: some milliseconds */
/* What zstd looks back at: 8 MiB is what every reader must have (RFC 8878, 3.1.1.1.2), and what its
   levels up to 19 make. */
#define MIN_WINDOW_LOG 10
#define MAX_WINDOW_LOG 23

/* Pointer encodings of .eh_frame_hdr (Linux Standard Base, "DWARF Extensions"). */
#define EH_PE_UDATA4 0x03
#define EH_PE_SDATA4 0x0b
#define EH_PE_PCREL 0x10
#define EH_PE_DATAREL 0x30

static int inflate_all(const void *in, size_t in_len, void *out, size_t out_len)
{
	z_stream z = { .next_in = (void *)(uintptr_t)in, .next_out = out };
	size_t in_left = in_len, out_left = out_len;
	int status;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	do {
		if (!z.avail_in) {
			z.avail_in = in_left > UINT32_MAX ? UINT32_MAX : (unsigned int)in_left;
			in_left -= z.avail_in;
		}
		if (!z.avail_out) {
			z.avail_out = out_left > PIECE_LEN ? PIECE_LEN : (unsigned int)out_left;
			out_left -= z.avail_out;
		}
		status = inflate(&z, Z_NO_FLUSH);
	} while (status == Z_OK && (z.avail_out || out_left) && !hurry_is_on());
	out_left += z.avail_out;
	inflateEnd(&z);
	return status == Z_STREAM_END && !out_left ? 0 : -EBADMSG;
}

/* The largest power of two that a window may have beside what is unpacked. */
static int window_log(uint64_t memory)
{
	int log = MIN_WINDOW_LOG;

	while (log < MAX_WINDOW_LOG && UINT64_C(2) << log <= memory)
		log++;
	return log;
}

/* Piece by piece, so that it can be ended in the middle. */
static int zstd_stream(ZSTD_DCtx *z, const void *in, size_t in_len, void *out, size_t out_len)
{
	ZSTD_inBuffer from = { .src = in, .size = in_len };
	ZSTD_outBuffer to = { .dst = out };
	size_t left = 1, done = 1;

	/* A call that brings nothing any more is the last. */
	while ((left || to.pos < out_len) && done && !hurry_is_on()) {
		if (to.pos == to.size)
			to.size += out_len - to.size > PIECE_LEN ? PIECE_LEN : out_len - to.size;
		done = from.pos + to.pos;
		left = ZSTD_decompressStream(z, &to, &from);
		if (ZSTD_isError(left))
			return -EBADMSG;
		done = from.pos + to.pos - done;
	}
	return !left && to.pos == out_len ? 0 : -EBADMSG;
}

static int zstd_all(const void *in, size_t in_len, void *out, size_t out_len, uint64_t memory)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	int err = -EBADMSG;

	if (!z)
		return -ENOMEM;
	if (!ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, window_log(memory))))
		err = zstd_stream(z, in, in_len, out, out_len);
	ZSTD_freeDCtx(z);
	return err;
}

/* A mapping of a file that has no name and all its blocks; MAP_FAILED where there is no disk. */
static void *map_temporary(size_t len)
{
	const char *dir = getenv("TMPDIR");
	SCOPED(close) int fd = open(dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct statfs fs;

	/* What lies in a tmpfs is memory, and all of it counts. */
	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC ||
	    posix_fallocate(fd, 0, (off_t)len))
		return MAP_FAILED;
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

bool elf_room_take(struct elf_room *room, uint64_t len)
{
	if (room && len > room->memory)
		return false;
	if (room)
		room->memory -= len;
	return true;
}

void elf_room_give(struct elf_room *room, uint64_t len)
{
	if (room)
		room->memory += len;
}

static int take_room(struct elf_room *room, uint64_t len, struct elf_bytes *out)
{
	void *mapped = len >= MIN_ON_DISK && len <= room->disk ? map_temporary(len) : MAP_FAILED;

	*out = (struct elf_bytes){ .len = len, .is_on_disk = mapped != MAP_FAILED };
	if (!out->is_on_disk && len > room->memory)
		return -E2BIG;
	out->owned = out->is_on_disk ? mapped : malloc(len);
	if (!out->owned)
		return -ENOMEM;
	*(out->is_on_disk ? &room->disk : &room->memory) -= len;
	out->data = out->owned;
	return 0;
}

void elf_bytes_deinit(struct elf_bytes *b, struct elf_room *room)
{
	if (b->owned) {
		*(b->is_on_disk ? &room->disk : &room->memory) += b->len;
		if (b->is_on_disk)
			munmap(b->owned, b->len);
		else
			free(b->owned);
	}
	*b = (struct elf_bytes){ 0 };
}

size_t elf_bytes_memory(const struct elf_bytes *b)
{
	return b->owned && !b->is_on_disk ? b->len : 0;
}

/* A section with an Elf64_Chdr before its compressed bytes. */
static int decompress(const void *data, size_t len, struct elf_room *room, struct elf_bytes *out)
{
	struct elf_bytes bytes;
	struct reader r;
	uint32_t type;
	uint64_t size;
	int err;

	reader_init(&r, data, len);
	type = reader_u32(&r, "compression type");
	reader_u32(&r, "compression padding");
	size = reader_u64(&r, "uncompressed size");
	reader_u64(&r, "alignment");
	if (reader_error(&r) || !size)
		return -EBADMSG;
	if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
		return -ENOTSUP;
	/* zlib cannot make more than 1032 bytes out of one; a larger claim is only after our
	 * memory. */
	if (!room || size > MAX_UNPACKED || (type == ELFCOMPRESS_ZLIB && size / 1033 > len))
		return -E2BIG;
	err = take_room(room, size, &bytes);
	if (err < 0)
		return err;
	err = type == ELFCOMPRESS_ZLIB
		      ? inflate_all(r.pos, reader_left(&r), bytes.owned, size)
		      : zstd_all(r.pos, reader_left(&r), bytes.owned, size, room->memory);
	if (err < 0)
		elf_bytes_deinit(&bytes, room);
	else
		*out = bytes;
	return err;
}

int elf_file_bytes(const struct elf_file *ef, const char *name, struct elf_room *room,
		   struct elf_bytes *out)
{
	struct elf_section s;
	const void *data;
	size_t len;

	if (!elf_file_section(ef, name, &s) || !elf_file_raw(ef, &s, &data, &len))
		return -ENOENT;
	if (s.flags & SHF_COMPRESSED)
		return decompress(data, len, room, out);
	*out = (struct elf_bytes){ .data = data, .len = len };
	return 0;
}

/* The second field of .eh_frame_hdr points at .eh_frame. */
static bool eh_frame_of_header(const struct elf_file *ef, const struct elf_segment *s,
			       uint64_t *vaddr)
{
	struct reader r;
	const void *data;
	size_t len;
	uint8_t encoding;
	int64_t value;

	if (!elf_file_at(ef, s->vaddr, &data, &len))
		return false;
	reader_init(&r, data, len);
	if (reader_u8(&r, "eh_frame_hdr version") != 1)
		return false;
	encoding = reader_u8(&r, "eh_frame_ptr encoding");
	reader_u16(&r, "other encodings");
	value = (int32_t)reader_u32(&r, "eh_frame_ptr");
	if (reader_error(&r))
		return false;
	if ((encoding & 0x0f) != EH_PE_SDATA4 && (encoding & 0x0f) != EH_PE_UDATA4)
		return false;
	if ((encoding & 0x70) == EH_PE_PCREL)
		*vaddr = s->vaddr + 4 + (uint64_t)value;
	else if ((encoding & 0x70) == EH_PE_DATAREL)
		*vaddr = s->vaddr + (uint64_t)value;
	else
		*vaddr = (uint64_t)value;
	return true;
}

bool elf_file_eh_frame(const struct elf_file *ef, const void **data, size_t *len, uint64_t *vaddr)
{
	struct elf_section s;

	if (elf_file_section(ef, ".eh_frame", &s) && !(s.flags & SHF_COMPRESSED) &&
	    elf_file_raw(ef, &s, data, len)) {
		*vaddr = s.vaddr;
		return true;
	}
	for (size_t i = 0; i < ef->n_segments; i++)
		if (ef->segments[i].type == PT_GNU_EH_FRAME &&
		    eh_frame_of_header(ef, &ef->segments[i], vaddr))
			return elf_file_at(ef, *vaddr, data, len);
	return false;
}
