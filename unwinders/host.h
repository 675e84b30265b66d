/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk on the host: the same steps as in the kernel, over whatever `unwind_host` points at.
 * Set it before a walk (it is per thread), begin with a struct unwind whose map is zero, and call
 * native_step().
 */
#ifndef UNWINDERS_HOST_H
#define UNWINDERS_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define UNWIND_GLOBAL static inline

#include "bpf/counters.h"
#include "unwinders/unwind.h"

struct unwind_host {
	void *ctx;
	/* len bytes of target memory: 0, or negative when they cannot be read. */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	/* The mapping of a pc into *m (start, len, bias, flags) and the words of its file's table
	   into *words (NULL: none): 0, or END_NO_PROCESS, END_NO_MAPPING. Borrowed for the walk. */
	int (*find)(void *ctx, uint64_t pc, struct unwind_mapping *m, const uint32_t **words,
		    size_t *n_words);
	/* Filled by the walk: the table of the mapping found last. */
	const uint32_t *words;
	size_t n_words;
};

static __thread struct unwind_host *unwind_host;

/* On the host every table is a memory of its own; it begins at word 1, as 0 means "no table". */
#define HOST_TABLE 1

static inline int read_user(__u64 addr, void *buf, __u32 len)
{
	return unwind_host->read(unwind_host->ctx, addr, buf, len);
}

static inline int read_stack(struct unwind *u, __u64 addr, __u64 *words, __u32 n)
{
	(void)u;
	return read_user(addr, words, n * (__u32)sizeof(*words));
}

static inline const __u32 *table_memory(void)
{
	return unwind_host->words;
}

static inline __u32 table_word(const __u32 *memory, __u32 i)
{
	return i - HOST_TABLE < unwind_host->n_words ? memory[i - HOST_TABLE] : 0;
}

static inline int mapping_find(struct unwind *u, __u64 pc)
{
	struct unwind_host *host = unwind_host;
	int end;

	if (pc - u->map.start < u->map.len)
		return 0;
	host->words = NULL;
	host->n_words = 0;
	end = host->find(host->ctx, pc, &u->map, &host->words, &host->n_words);
	if (end)
		u->map.len = 0;
	u->map.table = host->words ? HOST_TABLE : 0;
	return end;
}

#include "unwinders/native.bpf.h"

static inline int native_find(struct unwind *u, __u64 pc, __u64 *rule)
{
	return native_lookup(u, pc, rule);
}

#endif
