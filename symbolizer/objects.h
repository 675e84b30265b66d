/* SPDX-License-Identifier: Apache-2.0 */
/* What the cache of objects and an object know of each other; for object.c and objects.c only. */
#ifndef SYMBOLIZER_OBJECTS_H
#define SYMBOLIZER_OBJECTS_H

#include "symbolizer/debug_file.h"
#include "symbolizer/elf_file.h"
#include "symbolizer/object.h"
#include "symbolizer/symtab.h"
#include "symbolizer/tls_symbol.h"

struct filemap;
struct name_cache;
struct symbols;

struct object {
	struct objects *owner;
	uint32_t id; /* from 1 */
	struct file_key key;
	char *path;
	struct filemap *map; /* of a file */
	void *bytes;	     /* of objects_get_bytes() */
	struct elf_file elf;
	struct segment *segments;
	size_t n_segments;
	char build_id[2 * BUILD_ID_MAX + 1];
	void *priv;
	void (*release)(void *priv);
	struct debug_file debug; /* .map NULL: none */
	bool is_debug_searched;
	bool is_tls_searched;
	struct tls_symbol otel_context;
	struct elf_bytes debug_frame; /* when it had to be decompressed */
	bool is_cut;
	bool is_spent;		      /* its DWARF cost too much work once: not read again */
	bool is_too_large;	      /* not even all of the room is enough for its symbols */
	struct symbols *symbols;      /* NULL: not asked yet, or dropped to save memory */
	uint64_t dropped_ns, read_ns; /* when they were dropped last; how long reading took */
	uint64_t last_used;	      /* of the owner's clock */
	struct object *next;	      /* of the same hash */
};

/* Reads the headers. 0, -EBADMSG, -ENOTSUP, -ENOMEM. */
int object_init(struct object *o, const void *data, size_t len);
void object_free(struct object *o);

struct name_cache *objects_names(struct objects *os);
void objects_count_cut(struct objects *os);
void objects_count_refused(struct objects *os);
/* How debug files are searched for below a root. */
struct debug_search objects_search(struct objects *os, int root_fd);
uint64_t objects_memory_cap(const struct objects *os);
struct elf_room *objects_room(struct objects *os);
/* Drops the symbols of all but one. */
void objects_drop_others(struct objects *os, const struct object *keep);
/* Its symbols are in use. */
void objects_touch(struct object *o);
/* Drops symbols of the least recently used objects, and cached names, while memory is over the cap;
   never those of keep. */
void objects_trim(struct objects *os, const struct object *keep);

#endif
