/* SPDX-License-Identifier: Apache-2.0 */
/* Frames the compiler leaves as they are written, and work for them to do. */
#ifndef SPIN_H
#define SPIN_H

#ifdef __clang__
#define FRAME __attribute__((noinline))
#else
#define FRAME __attribute__((noinline, noclone))
#endif

/* Work without an inlined call in it. Each leaf has its own count: equal bodies could be folded. */
#define SPIN(n)                                                                        \
	do {                                                                           \
		long spin_left = (n);                                                  \
		__asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(spin_left) : : "cc"); \
	} while (0)

/* Behind a call: keeps it from becoming a jump. */
#define NOT_TAIL() __asm__ volatile("" : : : "memory")

#endif
