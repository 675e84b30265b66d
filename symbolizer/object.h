/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ELF file: its identity, executable segments, sections and symbols. Everything is found lazily
 * and cached; the same file mapped by many processes is one object. The bytes are mapped, not
 * trusted: a file that is cut while it is mapped reads as zeros (core/filemap.h), and is given up.
 *
 * Addresses given and taken are ELF virtual addresses.
 */
#ifndef SYMBOLIZER_OBJECT_H
#define SYMBOLIZER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct line;
struct object;
struct objects;
struct tls_symbol;

#define MAX_INLINE_DEPTH 64
#define BUILD_ID_MAX 64 /* bytes */

/* Identity of a file: two files with the same key and build id are the same. */
struct file_key {
	uint64_t dev, ino, size;
	int64_t mtime_ns;
};

struct segment { /* an executable PT_LOAD */
	uint64_t vaddr, memsz, offset, filesz;
};

struct object_options {
	const char *const *debug_dirs; /* NULL-terminated; default { "/usr/lib/debug" } */
	bool debuginfod;
	uint64_t memory; /* bytes of symbol memory before the least used is dropped; 0 is no cap */
};

/* The cache of objects. */
struct objects *objects_new(const struct object_options *opt);
void objects_free(struct objects *os);
size_t objects_memory(const struct objects *os); /* anonymous bytes */
/* Lowers object_options.memory from now on. */
void objects_limit(struct objects *os, uint64_t memory);
/* Drops all symbols and cached names; they are read again when they are asked for. */
void objects_flush(struct objects *os);
uint64_t objects_refused(const struct objects *os); /* debug files refused by a safety rule */
uint64_t objects_cut(const struct objects *os);	    /* of which object_is_cut() is true */

/* The object behind an open file (borrowed; it is dup'ed when needed) or bytes (the vdso; copied).
   path is for people and as the start of debug file searches below root_fd (-1: our own root).
   The pointer stays valid until objects_free(). NULL and *err: -EBADMSG no ELF, -ENOTSUP not an
   executable or library of this architecture, -EINVAL not a regular file. */
struct object *objects_get(struct objects *os, int fd, const char *path, int root_fd, int *err);
struct object *objects_get_bytes(struct objects *os, const void *bytes, size_t len,
				 const char *path, int *err);
/* Already there by its key? NULL when not. Opens nothing. */
struct object *objects_find(struct objects *os, const struct file_key *key);

const struct file_key *object_key(const struct object *o);
const char *object_path(const struct object *o);
const char *object_build_id(const struct object *o); /* lower-case hex, "" when it has none */
const struct segment *object_segments(const struct object *o, size_t *n);
uint64_t object_entry(const struct object *o);
/* Was it, or its debug file, seen to be cut while it is mapped? To be asked after anything was made
   of its bytes, which may have been zeros then: that has to be thrown away. It is for good, and no
   names are read any more. */
bool object_is_cut(struct object *o);
bool object_is_go(const struct object *o); /* has a Go build id or pclntab */
/* The virtual address of a file offset inside an executable segment. */
bool object_vaddr(const struct object *o, uint64_t file_offset, uint64_t *vaddr);
/* Bytes of a section or of a program header's range by section name, valid as long as the object.
   ".eh_frame" is found through PT_GNU_EH_FRAME too when the sections are stripped; ".debug_frame"
   also in the debug file. */
bool object_section(struct object *o, const char *name, const void **data, size_t *len,
		    uint64_t *vaddr);
/* A symbol's address and size by its exact name (.dynsym, then .symtab). */
bool object_symbol(struct object *o, const char *name, uint64_t *vaddr, uint64_t *size);
/* Where threads have OTEP 4947's variable otel_thread_ctx_v1. */
const struct tls_symbol *object_otel_context(struct object *o);
/* Free for the unwinder: one pointer it may keep with an object (a struct unwind_table). */
void object_set_private(struct object *o, void *priv, void (*release)(void *priv));
void *object_private(const struct object *o);

/*
 * The functions at an address, innermost inlined one first; adds them to p. Returns how many lines
 * were written (0: nothing known), sets LOCATION_* in *flags. The caller passes an address inside
 * the instruction (return address - 1 for callers). Where only the unwind data says which function
 * it is, there is one line, "libfoo.so+0x1200" by where the function begins, and LOCATION_UNNAMED.
 */
size_t object_symbolize(struct object *o, uint64_t vaddr, struct profile *p, struct line *out,
			size_t max, uint16_t *flags);
/* The function that covers an address, by symbols, else by the unwind data: its start and size.
   False when unknown. */
bool object_function(struct object *o, uint64_t vaddr, uint64_t *start, uint64_t *size);
/* "dwarf", "symtab", "minidebuginfo", "debug file /…", "dynsym", "none": what names come from. */
const char *object_symbol_source(struct object *o);

#endif
