/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile's stacks as names, for tables and trees: every location once looked up, an inlined
 * function a frame of its own, the same name the same id, code without a name under its binary's.
 * Ids count from 1. Names are the target's bytes. Borrows the profile.
 */
#ifndef CMD_FRAMES_H
#define CMD_FRAMES_H

#include <stddef.h>
#include <stdint.h>

struct frames;
struct profile;

/* Only frames of the language that --only says, NULL: of all. NULL: no memory. */
struct frames *frames_new(const struct profile *p, const char *only);
void frames_free(struct frames *f);
uint32_t frames_count(const struct frames *f); /* the highest id */
const char *frames_name(const struct frames *f, uint32_t id);
size_t frames_longest(const struct frames *f); /* names in the longest stack, at least 1 */
/* The names of a stack, innermost first; out has room for frames_longest(). Returns how many. */
size_t frames_of_stack(const struct frames *f, uint32_t stack, uint32_t *out);

#endif
