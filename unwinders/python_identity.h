/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What both halves compute of a CPython code object.
 *
 * Code objects are freed and their memory is used again, often by the next code object of the same
 * shape, so an address does not name one. Its identity does: a hash of the words that hold its
 * first line and the pointers to its names and tables, and from 3.12 on a number that no other code
 * object of the process has. Before that all these pointers recur too when a program compiles one
 * text after another (seen in 99 % of the rounds of such a loop, 3.6 to 3.11), so the hash that the
 * name itself keeps of its characters goes in as well.
 */
#ifndef UNWINDERS_PYTHON_IDENTITY_H
#define UNWINDERS_PYTHON_IDENTITY_H

#include <linux/types.h>

#define PYTHON_IDENTITY_WORDS 11

/* Any change of one word changes all that comes out but for a chance of 2^-32. */
static inline __u64 python_identity_add(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* Of the code object itself: n (at most PYTHON_IDENTITY_WORDS) words from code.id_off on, each
   times an odd number of its own, so that none waits for the one before: a walk does this for each
   frame. Where one word changes, so does the sum. */
static inline __u64 python_identity_words(const __u64 *words, __u32 n)
{
	__u64 sum = 0, factor = 0x9e3779b97f4a7c15ULL;

	for (__u32 i = 0; i < PYTHON_IDENTITY_WORDS; i++, factor *= 0xd1342543de82ef95ULL)
		if (i < n)
			sum += words[i] * factor;
	return sum ^ sum >> 32;
}

/* With the word at str.hash of its name where code.id_needs_name says so, else 0. Never 0, which is
   for objects nobody could read. */
static inline __u32 python_identity_name(__u64 hash, __u64 name_hash)
{
	__u32 identity;

	hash = python_identity_add(hash, name_hash);
	identity = (__u32)(hash ^ hash >> 29);
	return identity ? identity : 1;
}

static inline __u32 python_code_identity(const __u64 *words, __u32 n, __u64 name_hash)
{
	return python_identity_name(python_identity_words(words, n), name_hash);
}

#endif
