/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it would cost to print the tree that libiberty's parser made of a C++ name, counted before
 * it is printed. A parsed name is not a tree but a graph with shared parts (substitutions), and
 * template parameters point to arguments that may hold parameters again, so a name of 200 bytes can
 * take 2^50 steps to print, and not write one character in them.
 *
 * The printer was read for this (libiberty/cp-demangle.c of binutils 2.40): it visits every part
 * once for each way to it, searches what it expands for a pack before it prints it, and at a
 * template parameter goes on in the argument, with the innermost of the enclosing templates taken
 * off.
 */
#ifndef SYMBOLIZER_CPP_TREE_H
#define SYMBOLIZER_CPP_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct demangle_component;

/* Whether printing root visits at most max_visits components and takes little stack. comps[n_comps]
 * holds all components; what is not in there is not followed. False without memory, too. */
bool cpp_tree_is_cheap(const struct demangle_component *root,
		       const struct demangle_component *comps, size_t n_comps,
		       unsigned long max_visits);

#endif
