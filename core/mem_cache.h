/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target memory read a page at a time and kept: for walks over many small objects that lie close
 * together. What it answers is as old as the first read of that page; mem_cache_forget() makes
 * everything new.
 */
#ifndef CORE_MEM_CACHE_H
#define CORE_MEM_CACHE_H

#include <stdbool.h>

#include "core/mem.h"

/* under is borrowed. It forgets everything by itself when it holds max_bytes, and reads max_reads
   pages in all; whoever asks for more gets -E2BIG. NULL: no memory. */
struct mem *mem_cache_new(struct mem *under, size_t max_bytes, uint64_t max_reads);
void mem_cache_forget(struct mem *cache);
/* Makes everything new as well, by reading again what was asked for, many pages at a time, of which
   some count as one. For those who will ask for much of the same. */
void mem_cache_refresh(struct mem *cache);
/* Makes everything new as well: few pages by reading them again, with those that are expected, many
   by forgetting them. */
void mem_cache_renew(struct mem *cache);
/* Pages that are likely to be asked for again and again, by their numbers; reads them. And those
   that were asked for so far: how many, each once; 0 when they are more than max. */
void mem_cache_expect(struct mem *cache, const uint64_t *pages, size_t n);
size_t mem_cache_asked(struct mem *cache, uint64_t *pages, size_t max);
/* These bytes will be asked for; and now: reads all that will be and is not there, many pages at a
   time. */
void mem_cache_want(struct mem *cache, uint64_t addr, size_t len);
void mem_cache_fetch(struct mem *cache);
/* From now on it reads some pages that lie side by side at once, and counts that as one; or not any
   more. Each reading costs more than the bytes, unless there are very many. */
void mem_cache_read_ahead(struct mem *cache, bool is_wanted);
/* Pages that may still be read. */
uint64_t mem_cache_reads_left(const struct mem *cache);

#endif
