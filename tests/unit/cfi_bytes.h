/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: writes call frame sections by hand. */
#ifndef TESTS_UNIT_CFI_BYTES_H
#define TESTS_UNIT_CFI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/cfi.h"

#define CFI_BYTES_VADDR UINT64_C(0x100000) /* of the section */
#define CFI_PCREL_SDATA4 0x1b
#define CFI_ABSOLUTE 0x00

struct cfi_bytes {
	uint8_t data[4096];
	size_t len, entry, cie; /* entry: where the open one's length stands */
	bool is_debug, is_64;
	uint8_t version, encoding;
	const char *augmentation;
};

static inline void cfi_put(struct cfi_bytes *b, const void *data, size_t len)
{
	if (len > sizeof(b->data) - b->len)
		abort();
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void cfi_put_u8(struct cfi_bytes *b, uint8_t n)
{
	cfi_put(b, &n, 1);
}

static inline void cfi_put_word(struct cfi_bytes *b, uint64_t n, size_t len)
{
	cfi_put(b, &n, len); /* little endian, as the tests' machine */
}

static inline void cfi_put_uleb(struct cfi_bytes *b, uint64_t n)
{
	for (; n > 127; n >>= 7)
		cfi_put_u8(b, (uint8_t)(n | 128));
	cfi_put_u8(b, (uint8_t)n);
}

/* A pointer in the encoding of the section's FDEs. */
static inline void cfi_put_pointer(struct cfi_bytes *b, uint64_t addr, bool is_length)
{
	static const uint8_t len_of[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };
	uint8_t len = len_of[b->encoding & 15];

	if (b->encoding >> 4 == 1 && !is_length)
		addr -= CFI_BYTES_VADDR + b->len;
	if (len)
		cfi_put_word(b, addr, len);
	else
		cfi_put_uleb(b, addr);
}

static inline void cfi_open(struct cfi_bytes *b)
{
	b->entry = b->len;
	if (b->is_64)
		cfi_put_word(b, 0xffffffff, 4);
	cfi_put_word(b, 0, b->is_64 ? 8 : 4);
}

static inline void cfi_close(struct cfi_bytes *b)
{
	size_t width = b->is_64 ? 8 : 4, at = b->entry + (b->is_64 ? 4 : 0);
	uint64_t len;

	while (b->len % 8)
		cfi_put_u8(b, 0);
	len = b->len - at - width;
	memcpy(b->data + at, &len, width);
}

/* A CIE whose functions begin with CFA = rsp + 8 and the return address at CFA - 8. */
static inline void cfi_cie(struct cfi_bytes *b)
{
	static const uint8_t start[] = { 0x0c, 7, 8, 0x80 | 16, 1 };

	b->cie = b->len;
	cfi_open(b);
	cfi_put_word(b, b->is_debug ? UINT64_MAX : 0, b->is_64 ? 8 : 4);
	cfi_put_u8(b, b->version);
	cfi_put(b, b->augmentation, strlen(b->augmentation) + 1);
	if (strcmp(b->augmentation, "eh") == 0)
		cfi_put_word(b, 0, 8);
	if (b->version == 4)
		cfi_put(b, "\10", 2); /* addresses of 8 bytes, no segments */
	cfi_put(b, "\1\x78\20", 3);   /* code 1, data -8, return address in 16 */
	if (b->augmentation[0] == 'z') {
		cfi_put_uleb(b, 2 * (strchr(b->augmentation, 'L') != NULL) +
					(strchr(b->augmentation, 'R') != NULL) -
					(strchr(b->augmentation, 'L') != NULL) +
					5 * (strchr(b->augmentation, 'P') != NULL));
		for (const char *c = b->augmentation + 1; *c; c++) {
			if (*c == 'R')
				cfi_put_u8(b, b->encoding);
			if (*c == 'L')
				cfi_put_u8(b, 0xff);
			if (*c == 'P')
				cfi_put(b, "\x9b\0\0\0", 5); /* indirect, pc-relative */
		}
	}
	cfi_put(b, start, sizeof(start));
	cfi_close(b);
}

static inline void cfi_fde(struct cfi_bytes *b, uint64_t start, uint64_t len, const void *insns,
			   size_t n)
{
	cfi_open(b);
	cfi_put_word(b, b->is_debug ? b->cie : b->len - b->cie, b->is_64 ? 8 : 4);
	cfi_put_pointer(b, start, false);
	cfi_put_pointer(b, len, true);
	if (b->augmentation[0] == 'z')
		cfi_put_u8(b, 0);
	cfi_put(b, insns, n);
	cfi_close(b);
}

/* The usual .eh_frame of GCC, with its CIE. */
static inline void cfi_bytes_eh(struct cfi_bytes *b)
{
	memset(b, 0, sizeof(*b));
	b->version = 1;
	b->augmentation = "zR";
	b->encoding = CFI_PCREL_SDATA4;
	cfi_cie(b);
}

static inline struct cfi_section cfi_bytes_section(const struct cfi_bytes *b)
{
	return (struct cfi_section){ b->data, b->len, CFI_BYTES_VADDR };
}

#endif
