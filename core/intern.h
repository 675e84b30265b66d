/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned byte strings: the same bytes always get the same id. Ids count from 1 in order of first
 * sight, 0 is "none". Bytes never move and are 8-byte aligned, so rows of a profile (plain structs
 * without padding) live here too and may be borrowed as long as the table lives. Every entry is
 * followed by a NUL that its length does not count.
 */
#ifndef CORE_INTERN_H
#define CORE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *in);

/* The id of these bytes, or 0 when there is no memory for them. */
uint32_t intern_add(struct intern *in, const void *bytes, size_t len);
/* The id if the bytes are there already, else 0. */
uint32_t intern_find(const struct intern *in, const void *bytes, size_t len);
/* The bytes of an id; NULL and length 0 for 0 and for ids never given out. len may be NULL. */
const void *intern_get(const struct intern *in, uint32_t id, size_t *len);
/* Number of entries; the highest id. */
uint32_t intern_count(const struct intern *in);
/* Bytes of memory in use. */
size_t intern_memory(const struct intern *in);

/* The hash the table uses: fast, seeded per process, for tables in memory only. */
uint64_t hash_bytes(const void *bytes, size_t len);

#endif
