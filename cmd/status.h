/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line that a terminal shows while weft records:
 * `rec 12s · 2376 samples · 0 lost · native 61% kernel 9% · 98.9% complete · ^C stop`
 */
#ifndef CMD_STATUS_H
#define CMD_STATUS_H

#include <stddef.h>
#include <stdint.h>

struct accounting;
struct profile;

/* The line without its line end; out is returned. The kinds are those of the innermost frames. */
const char *status_line(const struct profile *p, const struct accounting *a, uint64_t elapsed_ns,
			char *out, size_t size);
/* Shows it in place of the one before; "" removes it. */
void status_show(const char *line);

#endif
