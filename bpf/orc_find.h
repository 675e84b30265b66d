/* SPDX-License-Identifier: Apache-2.0 */
/* Where the running kernel has its ORC tables, by its symbols. */
#ifndef BPF_ORC_FIND_H
#define BPF_ORC_FIND_H

#include "unwinders/orc.h"

struct kallsyms;

/* All zeros where there are none, or they are not as expected: then the kernel walks its stacks. */
void orc_find(const struct kallsyms *k, struct orc_tables *out);

#endif
