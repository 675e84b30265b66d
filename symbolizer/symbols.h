/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of names of one object: DWARF in the file or its debug file, then the symbol tables
 * of both, MiniDebugInfo, and .dynsym at last. DWARF names what it knows; the first symbol table
 * that covers an address names the rest.
 *
 * A symbol without a size (assembly) reaches as far as there is proof: over the unwind data's range
 * that begins where it does, else to the next function's symbol or range, provided that a symbol
 * table with private names is there to say where that is. In a stripped library it names nothing.
 */
#ifndef SYMBOLIZER_SYMBOLS_H
#define SYMBOLIZER_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/debug_file.h"
#include "symbolizer/elf_file.h"
#include "symbolizer/name_cache.h"

struct symbols;

struct symbols_input {
	const struct elf_file *elf;	/* borrowed for the life of the symbols, as is debug */
	const struct debug_file *debug; /* of the object; .map NULL when there is none */
	struct debug_search search;	/* for an alternate debug file */
	const char *path;
	struct elf_room *room; /* for what is unpacked and the tables; shared by all objects */
	uint64_t memory;       /* cap for what is unpacked or built; 0 is none */
	bool is_spent;	       /* as symbols_is_spent() said before: do without DWARF */
};

struct symbols *symbols_new(const struct symbols_input *in);
void symbols_free(struct symbols *s);
/* Lines at an address, innermost first; strings are borrowed until the next call or a flush of
 * names. */
size_t symbols_find(struct symbols *s, struct name_cache *names, uint64_t vaddr,
		    struct name_line *out, size_t max, uint16_t *flags);
/* By the symbols, else by the unwind data. */
bool symbols_function(struct symbols *s, uint64_t vaddr, uint64_t *start, uint64_t *size);
/* As object_symbol_source() says. */
const char *symbols_source(const struct symbols *s);
/* Has its DWARF cost more work than it may? */
bool symbols_is_spent(const struct symbols *s);
/* Is something missing because the room was too small for it? */
bool symbols_is_short(const struct symbols *s);
/* Was its alternate debug file cut while it is mapped? */
bool symbols_is_cut(const struct symbols *s);
size_t symbols_memory(const struct symbols *s);

#endif
