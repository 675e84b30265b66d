/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks through code without unwind data. Where the tables end, candidates for the caller are tried
 * in the order of their evidence: what the function's own instructions say of its frame, the frame
 * pointer, then the words of the stack that follow a call instruction, a call of this function
 * first. One is taken only if the walk from there reaches a root. Inner header of snapshot.c.
 */
#ifndef UNWINDERS_GUESS_H
#define UNWINDERS_GUESS_H

#include <stddef.h>

#include "bpf/weft.h"
#include "unwinders/walk.h"

struct frame_list {
	struct wire_frame *frames;
	size_t n, max;
};

/* Pushes the frame the walk is at and all its callers. Returns why it ended (enum counter).
   n_guesses: how many frames below were guessed, 0 at the start. */
int guess_walk(struct walk *w, struct frame_list *frames, unsigned int n_guesses);

#endif
