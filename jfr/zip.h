/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of a zip archive (PKWARE's APPNOTE 6.3.10), as its directory at the end has them.
 * Where there is none, or it is damaged, they are looked for by the headers before them, so of an
 * archive that was cut all is found that came before. Nothing of their bytes is unpacked here.
 */
#ifndef JFR_ZIP_H
#define JFR_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/scoped.h"
#include "jfr/unpack_fault.h"

#define ZIP_NAME_MAX 256

enum zip_method { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ZSTD = 93 };

struct zip_entry {
	char name[ZIP_NAME_MAX]; /* its beginning, as bytes */
	uint16_t method;	 /* enum zip_method, or another */
	bool is_encrypted;
	bool has_sizes;	  /* or only its bytes say where they end, and there is no checksum */
	uint64_t data_at; /* in the archive */
	uint64_t packed_len, len;
	uint32_t crc;
};

struct zip;

/* fd is borrowed. NULL without memory. */
struct zip *zip_new(int fd, uint64_t len);
void zip_free(struct zip *z);
/*
 * The next entry: 1; 0: there is none any more; or what is wrong, with *fault (which has to be
 * empty): -EBADMSG, -ENOTSUP, -errno. It can go on after an error.
 */
int zip_next(struct zip *z, struct zip_entry *e, struct unpack_fault *fault);
/* Of an entry without sizes: its bytes were seen to end here. */
void zip_ended(struct zip *z, uint64_t offset);

SCOPED_DEFINE(struct zip, zip_free)

#endif
