/* SPDX-License-Identifier: Apache-2.0 */
/* Where a function without a symbol begins: at an aligned address, behind a return and padding. */
#ifndef UNWINDERS_PADDING_H
#define UNWINDERS_PADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_ALIGNMENT 16

/* The last such address at or before `end`, the address behind the last of len bytes of code.
   False: none among them. */
bool padding_find_start(const uint8_t *code, size_t len, uint64_t end, uint64_t *start);

#endif
