/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constant pools of a chunk: what its checkpoint events (type id 1) hold, each constant as the
 * bytes it was written in. What constants refer to is looked up when it is needed, as it may come
 * later in the file.
 */
#ifndef JFR_CONSTANTS_H
#define JFR_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/reader.h"
#include "jfr/metadata.h"

struct constants;
struct layout;
struct pool;

struct constant {
	int64_t key;
	const uint8_t *bytes; /* WIRE_PADDING more can be loaded */
	uint32_t len;
	uint32_t memo; /* for whoever explains it; 0 at first */
};

struct constants *constants_new(struct metadata *m); /* takes a reference; NULL: no memory */
void constants_free(struct constants *c);	     /* NULL is fine */
/* Of no other types, by this name, which is borrowed. */
void constants_keep_only(struct constants *c, const char *type);
const struct metadata *constants_metadata(const struct constants *c);
/* From here on types are looked up in newer metadata of the same chunk. */
int constants_update(struct constants *c, struct metadata *m);
size_t constants_memory(const struct constants *c);
size_t constants_count(const struct constants *c);

/*
 * Adds what a checkpoint holds; r stands behind its type id. Of a constant that is there already
 * the first one stays. 0, -ENOMEM, -E2BIG, or -EBADMSG with the reader's what and where: what came
 * before the fault is kept.
 */
int constants_add(struct constants *c, struct reader *r);

/* The pool of a type, NULL while there is none. It lives as long as the constants. */
struct pool *constants_pool(struct constants *c, uint64_t type_id);
/* NULL: there is no such key. Valid until the next constants_add(). */
struct constant *pool_find(struct pool *pool, int64_t key);
size_t pool_size(const struct pool *pool);
/* Of its constants in the order in which they came; index below its size. */
int64_t pool_key(const struct pool *pool, size_t index);
/* How its values are read. */
const struct layout *pool_layout(const struct pool *pool);
/* May some of them be written in another one, that of older metadata? */
bool pool_is_mixed(const struct pool *pool);

#define MEMO_LEAVES 8

/* For whoever explains the constants of a pool, as the memo of each; all zero at first, and again
   when its layout is another. */
struct pool_memo {
	uint8_t what; /* they are taken for */
	uint8_t type; /* they are by their name */
	int16_t leaves[MEMO_LEAVES];
};

struct pool_memo *pool_memo(struct pool *pool);

#endif
