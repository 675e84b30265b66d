/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a profile, root first: samples with the same path of frames are one node. A
 * frame is what people tell apart: name, module, kind, and whether it was inlined. The first
 * level is the process, the second, if asked for, the thread (both from the samples' labels;
 * without such a label the level is not there).
 *
 * Nodes count from 1, node 0 is the root and no frame; a parent's number is lower than its
 * children's. Negative values (of differences) do not fit a tree: they are left out and counted.
 */
#ifndef EXPORTER_FLAME_TREE_H
#define EXPORTER_FLAME_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/profile.h"

/* Levels that are no frames follow the kinds of frames. */
enum { FLAME_PROCESS = N_FRAME_KINDS, FLAME_THREAD, FLAME_LEFT_OUT };

#define FLAME_MANY_LINES UINT32_MAX

struct flame_frame {
	uint32_t name, module; /* flame_tree_string() */
	uint16_t kind;	       /* enum frame_kind or FLAME_* */
	uint16_t is_inlined;
	uint32_t file, start_line; /* of its function, as the first that knew has it */
};

struct flame_node {
	uint32_t parent;
	uint32_t frame;	       /* flame_tree_frame(); 0 for the root */
	uint32_t line;	       /* where it was; 0 unknown, FLAME_MANY_LINES when samples differ */
	uint32_t flags;	       /* enum location_flags of any of its samples */
	int64_t guessed;       /* how much of the first value passed through here as a guess */
	int64_t *self, *total; /* of each sample type */
};

struct flame_tree;

/* NULL without memory. More than max_nodes nodes: the smallest are folded into one FLAME_LEFT_OUT
   child of their parents, so that totals stay right. While it is made a tree has at most a quarter
   more: then the largest samples come first, and where later ones would need another node, they
   end in that child, too. */
struct flame_tree *flame_tree_new(const struct profile *p, uint32_t max_nodes);
/* With the threads as a level. NULL also when that makes more than max_nodes. */
struct flame_tree *flame_tree_new_with_threads(const struct profile *p, uint32_t max_nodes);
void flame_tree_free(struct flame_tree *t);

uint32_t flame_tree_n_nodes(const struct flame_tree *t); /* without the root */
uint32_t flame_tree_n_frames(const struct flame_tree *t);
uint32_t flame_tree_n_strings(const struct flame_tree *t);
/* The node that a sample ends in, of those that are kept; 0: it is in none. */
uint32_t flame_tree_leaf(const struct flame_tree *t, uint32_t sample);
uint32_t flame_tree_n_negative(const struct flame_tree *t); /* samples left out */
const struct flame_node *flame_tree_node(const struct flame_tree *t, uint32_t node);
const struct flame_frame *flame_tree_frame(const struct flame_tree *t, uint32_t frame); /* from 1 */
const char *flame_tree_string(const struct flame_tree *t, uint32_t string,
			      size_t *len); /* from 1 */

/* Nodes that are kept, each before its children: the first is flame_tree_next(t, 0), 0 ends. */
uint32_t flame_tree_next(const struct flame_tree *t, uint32_t node);

#endif
