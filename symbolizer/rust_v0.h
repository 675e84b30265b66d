/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's mangled names, version 0 (RFC 2603, "v0 Symbol Format" in the rustc book), for people:
 * without disambiguators of crates and types of constants. Bounded in depth, length and work
 * (rust_symbol.h says how), for names may be hostile.
 */
#ifndef SYMBOLIZER_RUST_V0_H
#define SYMBOLIZER_RUST_V0_H

/* Allocated, or NULL: no such name, a bad one, one that passes a bound, or no memory. A vendor
 * suffix (".llvm.123") is left out. */
char *rust_v0_demangle(const char *name);

#endif
