/* SPDX-License-Identifier: Apache-2.0 */
/* Why something cannot be unpacked, or not to its end: the first reason is kept. */
#ifndef JFR_UNPACK_FAULT_H
#define JFR_UNPACK_FAULT_H

#include <stdint.h>

#define UNPACK_REASON_MAX 160

struct unpack_fault {
	int err; /* 0: nothing is wrong */
	uint64_t where;
	char reason[UNPACK_REASON_MAX];
};

/* Returns the first error, which is not this one if there was one before. */
int unpack_fault_set(struct unpack_fault *f, int err, uint64_t where, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
