/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ (Itanium) and Rust names for people: Rust's v0 by rust_v0.h, the others by libiberty. Bounded
 * for hostile names: what would take too much work, text (64 KiB) or stack is not demangled.
 */
#ifndef SYMBOLIZER_DEMANGLE_H
#define SYMBOLIZER_DEMANGLE_H

/* Allocated, or NULL when the name is not mangled or passes a bound. Symbol versions (@GLIBC_2.2.5)
   are cut first; suffixes of clones (.cold, .constprop.0, .llvm.123) are kept visible as
   " [clone .cold]". */
char *demangle(const char *name);

#endif
