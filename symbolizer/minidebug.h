/* SPDX-License-Identifier: Apache-2.0 */
/* MiniDebugInfo: the .gnu_debugdata section, an ELF file with a .symtab, compressed by xz. */
#ifndef SYMBOLIZER_MINIDEBUG_H
#define SYMBOLIZER_MINIDEBUG_H

#include <stddef.h>

/* 0 and an allocated ELF image with one zero byte behind it; -EBADMSG damaged; -E2BIG more than max
   bytes, or a dictionary larger than 64 MiB; -ENOMEM. */
int minidebug_unpack(const void *xz, size_t len, size_t max, void **out, size_t *out_len);

#endif
