/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads have a thread-local variable that a file exports: Drepper, "ELF Handling For
 * Thread-Local Storage"; the x86-64 psABI, 4.4 (relocations) and 6.2 (TLS descriptors).
 */
#ifndef SYMBOLIZER_TLS_SYMBOL_H
#define SYMBOLIZER_TLS_SYMBOL_H

#include <stdint.h>

struct elf_file;

enum tls_model {
	TLS_NONE,	   /* the file does not export it */
	TLS_AT_OFFSET,	   /* a program's: at the thread pointer + offset */
	TLS_OFFSET_AT,	   /* that offset is in the GOT, at `got` */
	TLS_PAIR_AT,	   /* its module's number and where it is in that are there */
	TLS_DESCRIPTOR_AT, /* a function and its argument are there: where the variable is static,
			      that is the offset, else it points to a pair */
};

struct tls_symbol {
	enum tls_model model;
	int64_t offset;
	uint64_t got; /* virtual address */
};

/* A variable by its exact name. TLS_NONE also for one that the file's own code does not refer to:
   only the dynamic linker knows where that is. */
struct tls_symbol tls_symbol_find(const struct elf_file *ef, const char *name);

#endif
