/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function symbols of one symbol table, sorted for lookups by address.
 *
 * A symbol covers [value, value + size). One of size 0 (assembly) reaches to the next function of
 * its table or the end of its section, which is a guess: the functions behind it may have lost
 * their symbols. It counts only where no sized one covers the address, and STT_NOTYPE labels in
 * code only where no function does. Of several symbols at one address the name for people wins:
 * sized before unsized, function before label, fewest leading underscores, global before weak
 * before local, shortest.
 *
 * Names are borrowed from the file, still mangled and with their version.
 */
#ifndef SYMBOLIZER_SYMTAB_H
#define SYMBOLIZER_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/elf_file.h"

struct symtab;

struct symbol {
	const char *name;
	uint64_t start, size; /* size as it was worked out, never 0 */
	bool is_sized;	      /* the file says the size */
	uint32_t index;	      /* for symtab_aliases() */
};

/* section is ".symtab" or ".dynsym"; the memory is the room's (NULL: no limit), which has to stay
   as long as the table. 0; -ENOENT no such table or no functions in it; -E2BIG no room; -ENOMEM;
   -EINTR in a hurry. */
int symtab_new(const struct elf_file *ef, const char *section, struct elf_room *room,
	       struct symtab **out);
void symtab_free(struct symtab *t);
bool symtab_find(const struct symtab *t, uint64_t vaddr, struct symbol *out);
/* Does a function (no label) begin in (after, vaddr]? */
bool symtab_begins(const struct symtab *t, uint64_t after, uint64_t vaddr);
/* Has it the names of private functions, so that nothing was taken out of it? */
bool symtab_is_whole(const struct symtab *t);
size_t symtab_memory(const struct symtab *t);
/*
 * Names of other functions that the linker or compiler folded into the same code as this one:
 * the same address and size, another name. Names that are mere aliases are left out: weak ones,
 * those that differ in leading underscores or where one contains the other, those of one C++ name
 * (constructors C1 and C2), and every C alias in a library that defines symbol versions. The caller
 * still compares demangled names. Returns how many were written.
 */
size_t symtab_folded(const struct symtab *t, const struct symbol *s, const char **names,
		     size_t max);
/* A symbol's value and size by its exact name, version cut; any type, defined. */
bool symtab_by_name(const struct elf_file *ef, const char *section, const char *name,
		    uint64_t *vaddr, uint64_t *size);

#endif
