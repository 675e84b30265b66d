/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pprof has no place for and people may read: comments "weft.count: ticks.sampled 15,
 * ticks.lost_ring 3" (in one, as pprof prints every comment above its tables; what is not there is
 * 0) and "weft.host: NAME".
 */
#ifndef EXPORTER_PPROF_COMMENT_H
#define EXPORTER_PPROF_COMMENT_H

#include <stdbool.h>

struct profile;

/* Allocated; "" when there is nothing to say, NULL without memory. */
char *pprof_comment_counts(const struct profile *p);
char *pprof_comment_host(const struct profile *p);
/* Puts what a comment of ours says into p. False: it is somebody else's. */
bool pprof_comment_read(const char *text, struct profile *p);

#endif
