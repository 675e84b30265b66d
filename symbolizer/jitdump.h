/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitdump files (linux tools/perf/Documentation/jitdump-specification.txt): code that was loaded or
 * moved, and its lines. Code bytes and unwind data are passed over.
 */
#ifndef SYMBOLIZER_JITDUMP_H
#define SYMBOLIZER_JITDUMP_H

#include <stddef.h>
#include <stdint.h>

struct jit_symbols;

struct jitdump { /* how far a growing file was read; zeroed at the beginning */
	uint64_t offset;
	uint32_t n_records;
	uint8_t has_arch_time; /* times are the CPU's, not CLOCK_MONOTONIC: they say nothing to us
				*/
	uint8_t is_closed;
};

/*
 * Reads the whole records behind d->offset out of the file's bytes as they are now. 0 (also when
 * the last record is not complete yet); -EBADMSG damaged; -ENOTSUP another byte order or version;
 * -E2BIG over a cap; -ENOMEM. What was read before an error stays.
 */
int jitdump_read(struct jitdump *d, const void *bytes, size_t len, struct jit_symbols *out);

#endif
