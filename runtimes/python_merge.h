/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stack out of two: the native frames of a thread and the frames of its Python stack. A Python
 * frame belongs to the native frame of the eval function that runs it: the one that has its anchor
 * in its part of the C stack or, before 3.10, the one whose turn it is.
 */
#ifndef RUNTIMES_PYTHON_MERGE_H
#define RUNTIMES_PYTHON_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/weft.h"

struct python_merge {
	const struct wire_frame *native; /* leaf first; kernel frames may come first */
	size_t n_native;
	const struct wire_python_frame *python; /* leaf first, anchors among them */
	size_t n_python;
	bool has_anchors;
	bool is_whole;	    /* both walks reached their root */
	bool is_eval_shown; /* keep the native frames that run Python ones */
	void *ctx;
	/* Is the native frame the eval function? Only asked where there are no anchors. */
	bool (*is_eval)(void *ctx, const struct wire_frame *f);
	/* The frame that stands for a Python one in the result. */
	struct wire_frame (*frame)(void *ctx, const struct wire_python_frame *f);
};

/* How many frames were written, leaf first; at most max. Python frames that fit no native one stand
   where they keep the order of both. */
size_t python_merge(const struct python_merge *m, struct wire_frame *out, size_t max);

#endif
