// SPDX-License-Identifier: Apache-2.0
#include "jfr/content.h"

#include <string.h>

struct magic {
	const char *bytes;
	uint16_t len, at;
	struct content content;
};

#define MAGIC(bytes, at, kind, name)          \
	{                                     \
		bytes, sizeof(bytes) - 1, at, \
		{                             \
			CONTENT_##kind, name  \
		}                             \
	}

static const struct magic magics[] = {
	MAGIC("FLR\0", 0, RECORDING, "a JFR recording"),
	MAGIC("\x1f\x8b\x08", 0, GZIP, "gzip data"),
	MAGIC("\x28\xb5\x2f\xfd", 0, ZSTD, "zstd data"),
	MAGIC("\x04\x22\x4d\x18", 0, LZ4, "lz4 data"),
	MAGIC("PK\x03\x04", 0, ZIP, "a zip archive"),
	MAGIC("PK\x05\x06", 0, OTHER, "an empty zip archive"),
	MAGIC("PK\x07\x08", 0, OTHER, "a zip archive in several files"),
	MAGIC("\x02\x21\x4c\x18", 0, OTHER, "lz4's legacy format: lz4 -d unpacks it"),
	MAGIC("LZ4Block", 0, OTHER, "lz4-java's block format"),
	MAGIC("\xff\x06\0\0sNaPpY", 0, OTHER, "snappy data"),
	MAGIC("\xfd"
	      "7zXZ\0",
	      0, OTHER, "xz data: xz -d unpacks it"),
	MAGIC("BZh", 0, OTHER, "bzip2 data: bzip2 -d unpacks it"),
	MAGIC("\x1f\x9d", 0, OTHER, "compress data: gzip -d unpacks it"),
	MAGIC("7z\xbc\xaf\x27\x1c", 0, OTHER, "a 7z archive"),
	MAGIC("Rar!\x1a\x07", 0, OTHER, "a rar archive"),
	MAGIC("ustar", 257, OTHER, "a tar archive"),
	MAGIC("JAVA PROFILE 1.0", 0, OTHER, "a heap dump (hprof)"),
	MAGIC("\xca\xfe\xba\xbe", 0, OTHER, "a Java class"),
	MAGIC("\x7f"
	      "ELF",
	      0, OTHER, "an ELF file"),
	MAGIC("SQLite format 3\0", 0, OTHER, "an SQLite database"),
};

static bool is_text(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((p[i] < ' ' && !strchr("\t\n\r\f", p[i])) || !p[i] || p[i] > '~')
			return false;
	return len;
}

struct content content_sniff(const void *head, size_t len)
{
	const struct content recording = magics[0].content;
	const uint8_t *p = head;

	if (len < magics[0].len && !memcmp(p, magics[0].bytes, len))
		return recording;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const struct magic *m = &magics[i];

		if (len >= (size_t)m->at + m->len && !memcmp(p + m->at, m->bytes, m->len))
			return m->content;
	}
	if (len >= 4 && (p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3))
		return (struct content){ CONTENT_SKIPPABLE, "a frame without content" };
	if (is_text(p, len))
		return (struct content){ CONTENT_OTHER, "text" };
	return (struct content){ CONTENT_UNKNOWN, NULL };
}

bool content_is_packed(enum content_kind kind)
{
	return kind >= CONTENT_GZIP && kind <= CONTENT_ZIP;
}
