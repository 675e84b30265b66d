/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever waits for us has asked twice to come to an end (the second ^C): loops whose length is
 * decided by a file or a target end with what they have, which is then as good as a damaged file's
 * and no better. The one thing that a signal handler tells all parts.
 */
#ifndef CORE_HURRY_H
#define CORE_HURRY_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool hurry_flag; /* of hurry.c */

static inline bool hurry_is_on(void)
{
	return atomic_load_explicit(&hurry_flag, memory_order_relaxed);
}

/* Async-signal-safe. */
void hurry_set(bool is_on);

#endif
