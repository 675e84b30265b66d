/* SPDX-License-Identifier: Apache-2.0 */
/* The targets as processes: for what looks at them from user space, whether they run or not. */
#ifndef BPF_TARGET_LIST_H
#define BPF_TARGET_LIST_H

#include <stdbool.h>

#include "bpf/pid_set.h"

struct targets;

/* Adds all that there are now to a set. 0 or -ENOMEM. */
int target_list(const struct targets *t, struct pid_set *out);
/* Takes all of /proc or of a cgroup to find them, so not too often. */
bool target_list_is_dear(const struct targets *t);

#endif
