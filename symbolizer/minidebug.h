/* SPDX-License-Identifier: Apache-2.0 */
/* MiniDebugInfo: the .gnu_debugdata section, an ELF file with a .symtab, compressed by xz. */
#ifndef SYMBOLIZER_MINIDEBUG_H
#define SYMBOLIZER_MINIDEBUG_H

#include <stddef.h>

/* 0 and an allocated ELF image with one zero byte behind it; -EBADMSG damaged; -E2BIG the image and
   what unpacks it, its dictionary above all, take more than max bytes; -ENOMEM; -EINTR in a hurry.
 */
int minidebug_unpack(const void *xz, size_t len, size_t max, void **out, size_t *out_len);

#endif
