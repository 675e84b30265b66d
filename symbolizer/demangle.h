/* SPDX-License-Identifier: Apache-2.0 */
/* C++ (Itanium) and Rust (legacy and v0) names for people, by libiberty. Bounded for hostile names.
 */
#ifndef SYMBOLIZER_DEMANGLE_H
#define SYMBOLIZER_DEMANGLE_H

/* Allocated, or NULL when the name is not mangled. Symbol versions (@GLIBC_2.2.5) are cut first;
   suffixes of clones (.cold, .constprop.0, .llvm.123) are kept visible as " [clone .cold]". */
char *demangle(const char *name);

#endif
