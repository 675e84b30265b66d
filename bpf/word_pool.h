/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands out ranges of words of a fixed memory. Word 0 is never handed out. A range that is given
 * back is used again only after a while, as walks on other CPUs may be reading it still.
 */
#ifndef BPF_WORD_POOL_H
#define BPF_WORD_POOL_H

#include <stdint.h>

struct word_pool;

struct word_pool *word_pool_new(uint32_t n_words);
void word_pool_free(struct word_pool *p);
/* The first word of a range of n words, 8-byte aligned; 0 when there is none. */
uint32_t word_pool_get(struct word_pool *p, uint32_t n_words);
/* The same n as in word_pool_get(). Used again grace_ns after now_ns. */
void word_pool_put(struct word_pool *p, uint32_t first, uint32_t n_words, uint64_t now_ns);
/* Makes what was given back long enough ago usable; call before word_pool_get(). */
void word_pool_settle(struct word_pool *p, uint64_t now_ns);
uint32_t word_pool_used(const struct word_pool *p); /* words, those waiting included */

#define WORD_POOL_GRACE_NS UINT64_C(100000000)

#endif
