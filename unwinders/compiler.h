/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a compiler is told about code that a tick runs. */
#ifndef UNWINDERS_COMPILER_H
#define UNWINDERS_COMPILER_H

/* Keeps clang from proving that a bound is not needed and dropping it: the verifier wants to see
   it. */
#define OPAQUE(x) asm volatile("" : "+r"(x))

/* A tick finds its own code in no cache: what hardly ever runs is better not among the rest. */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* What stands at a place among bytes. By way of a pointer: where clang sees that it is among bytes,
   it reads them one by one for BPF, 22 instructions a word. */
#define VALUE_AT(type, place)                                 \
	({                                                    \
		const type *value_at = (const void *)(place); \
		*value_at;                                    \
	})

#endif
