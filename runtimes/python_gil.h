/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a process wait for the GIL, for the kernel half. */
#ifndef RUNTIMES_PYTHON_GIL_H
#define RUNTIMES_PYTHON_GIL_H

#include <stdint.h>

#include "runtimes/python_image.h"
#include "unwinders/python_walk.h"

/* bias: of the image's file in the process. Sets nothing where the version does not say it. */
void python_gil_set(const struct python_image *image, uint64_t bias, struct python_process *out);

#endif
