/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks and those that wait for them, of which not all were read at the same moment: they go
 * together if both were as they are then at one moment, which is sure while neither has moved.
 */
#ifndef RUNTIMES_PYTHON_FAMILIES_H
#define RUNTIMES_PYTHON_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_tasks.h"

struct python_families;

/* The tasks are borrowed, and are neither more nor fewer as long as this is used. NULL: no memory.
 */
struct python_families *python_families_new(const struct python_tasks *ts);
void python_families_free(struct python_families *f); /* NULL is fine */
/* One for each task: is there another, read at another time, that it waits for or that waits for
   it? only_moved: and has one of the two moved since? Borrowed, until it is asked again. */
const bool *python_families_apart(struct python_families *f, bool only_moved);
/* The addresses of the tasks that were found last, those of a family side by side. NULL: no
   memory; else it is the caller's. */
uint64_t *python_families_addrs(const struct python_families *f, size_t *n);

#endif
