/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of PLT stubs, which have no symbols: a stub jumps through a slot of the GOT, and the slot's
 * relocation names the function (System V psABI x86-64, section 5.2). x86-64 only.
 */
#ifndef SYMBOLIZER_PLT_H
#define SYMBOLIZER_PLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/elf_file.h"

struct plt;

/* The memory is the room's (NULL: no limit), which has to stay as long as the plt; names are
   borrowed from the file. 0; -ENOENT no stubs; -E2BIG too many, or no room for them; -ENOMEM. */
int plt_new(const struct elf_file *ef, struct elf_room *room, struct plt **out);
void plt_free(struct plt *p);
/* The function that the stub at an address jumps to; NULL when there is none. */
const char *plt_find(const struct plt *p, uint64_t vaddr, uint64_t *start, uint64_t *size);
size_t plt_memory(const struct plt *p);

#endif
