/* SPDX-License-Identifier: Apache-2.0 */
/* Which files some process has open: their writers, if they still run. */
#ifndef JFR_OPENERS_H
#define JFR_OPENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct open_question {
	uint64_t dev, ino;
	bool is_open; /* the answer */
};

/*
 * Looks at all processes but this one, once for all questions, without opening what they have open.
 * 1: it saw all of them; 0: not those of other users, so that a file that seems closed may be open;
 * or a negative errno. proc: "/proc".
 */
int openers_find(const char *proc, struct open_question *questions, size_t n);

#endif
