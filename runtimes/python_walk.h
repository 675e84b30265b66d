/* SPDX-License-Identifier: Apache-2.0 */
/* What of a layout the kernel half needs to walk frames. */
#ifndef RUNTIMES_PYTHON_WALK_H
#define RUNTIMES_PYTHON_WALK_H

#include "unwinders/python_walk.h"

struct python_layout;

/* The rest is of the process and stays 0. */
void python_walk_set(const struct python_layout *l, struct python_process *out);

#endif
