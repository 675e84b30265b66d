/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind tables of objects: built when a stack first passes through the file, copied into the
 * kernel half's table memory, and dropped, the longest unused first, when that is full. What does
 * not fit there is kept here as long as it fits a budget of its own, for walks in user space.
 */
#ifndef BPF_TABLES_H
#define BPF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/cfi.h"

struct object;
struct tables;
struct unwind_maps;

struct object_table {
	const struct unwind_table *table; /* NULL: none */
	const struct cfi_input *cfi;	  /* NULL: the file has no unwind data */
};

/* host_budget: bytes of tables that did not fit the kernel half. maps is borrowed. */
struct tables *tables_new(struct unwind_maps *maps, size_t host_budget);
void tables_free(struct tables *ts); /* before the objects */
/* Called now and then while a table is made. It must not come back here. */
void tables_on_breath(struct tables *ts, void (*fn)(void *ctx), void *ctx);
/* The object's table, made and loaded by now if that is possible. Valid until the next call. */
struct object_table tables_get(struct tables *ts, struct object *o);
/* Makes and loads the object's table before a sample asks for it, if nobody did and it is small
   enough not to keep what is under way waiting. */
void tables_preload(struct tables *ts, struct object *o);
/* Its word in the table memory, 0 when it is not there; makes nothing. */
uint32_t tables_loaded(const struct object *o);
/* Known to have no unwind data; false when nobody looked. */
bool tables_is_without(const struct object *o);
uint64_t tables_over_budget(const struct tables *ts);
size_t tables_memory(const struct tables *ts); /* bytes here, not in the table memory */

#endif
