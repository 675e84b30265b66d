/* SPDX-License-Identifier: Apache-2.0 */
/* A label that no sample has is mostly a slip: which ones there are is said then. */
#ifndef CMD_LABEL_KEYS_H
#define CMD_LABEL_KEYS_H

struct options;
struct profile;

/* Says on stderr which keys of --by and --label no sample has, and which keys there are. */
void label_keys_check(const struct profile *p, const struct options *opt);

#endif
