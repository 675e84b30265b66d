/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pointers and a thread's own variables in the target, as the C library and the dynamic linker find
 * them. Plain C as unwinders/python.bpf.h is, with the same read_user().
 */
#ifndef UNWINDERS_PYTHON_SLOT_BPF_H
#define UNWINDERS_PYTHON_SLOT_BPF_H

#include "unwinders/arch.h"
#include "unwinders/compiler.h"
#include "unwinders/python_walk.h"

static __always_inline __u64 python_read_pointer(__u64 addr)
{
	__u64 word = 0;

	return read_user(addr, &word, sizeof(word)) ? 0 : word;
}

/* pthread_getspecific(), glibc's way: a first block inside the thread, the others by pointers. */
static __always_inline __u64 python_specific(__u64 thread, __u64 key_at)
{
	__u32 key = 0;
	__u64 block;

	if (read_user(key_at, &key, sizeof(key)) || key >= PTHREAD_KEYS_MAX)
		return 0;
	block = thread + PTHREAD_FIRST_BLOCK;
	if (key >= PTHREAD_BLOCK_KEYS)
		block = python_read_pointer(thread + PTHREAD_BLOCKS + key / PTHREAD_BLOCK_KEYS * 8);
	return block ? python_read_pointer(block + key % PTHREAD_BLOCK_KEYS * 16 + 8) : 0;
}

/* musl's way. */
static __always_inline __u64 python_musl_specific(__u64 thread, __u64 key_at)
{
	__u32 key = 0;
	__u64 values;

	if (read_user(key_at, &key, sizeof(key)) || key >= MUSL_KEYS_MAX)
		return 0;
	values = python_read_pointer(thread + MUSL_SPECIFIC);
	return values ? python_read_pointer(values + key * 8) : 0;
}

/* __tls_get_addr(), of memory that is there already: the thread's vector has a pointer for each
   module, in glibc or -1. */
static __always_inline __u64 python_in_module(__u64 thread, const struct python_slot_at *slot,
					      __u32 entry_len)
{
	__u64 vector = python_read_pointer(thread + TLS_VECTOR);
	__u64 block = vector ? python_read_pointer(vector + (__u64)entry_len * slot->module) : 0;

	return block && block + 1 ? python_read_pointer(block + slot->where) : 0;
}

/* What a thread's own variable holds; 0 for a slot of another kind. */
static __always_inline __u64 python_slot_read(const struct python_slot_at *slot, __u64 thread)
{
	if (slot->kind == PYTHON_SLOT_MODULE)
		return python_in_module(thread, slot, TLS_VECTOR_ENTRY);
	if (slot->kind == PYTHON_SLOT_MUSL_MODULE)
		return python_in_module(thread, slot, MUSL_TLS_VECTOR_ENTRY);
	return slot->kind == PYTHON_SLOT_STATIC ? python_read_pointer(thread + slot->where) : 0;
}

#endif
