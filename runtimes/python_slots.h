/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a CPython process find their thread states: the slots of a walk. */
#ifndef RUNTIMES_PYTHON_SLOTS_H
#define RUNTIMES_PYTHON_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct python_image;
struct python_process;

/* Sets the slots, and where the interpreters are. False: it depends on what the dynamic linker has
   not written yet. */
bool python_slots_set(struct process *proc, const struct python_image *image, uint64_t bias,
		      bool is_musl, struct python_process *out);

#endif
