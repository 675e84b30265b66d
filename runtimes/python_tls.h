/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread-local variable is, read off the machine code of the function that returns it (the
 * variable's symbol is gone from stripped files). x86-64, the forms of the ELF TLS ABI: local-exec
 * in programs, general or local dynamic in libraries.
 */
#ifndef RUNTIMES_PYTHON_TLS_H
#define RUNTIMES_PYTHON_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum python_tls_kind {
	PYTHON_TLS_NONE,
	PYTHON_TLS_STATIC, /* at the thread pointer + offset */
	PYTHON_TLS_MODULE, /* offset further than what the pair (module, offset) at `pair` says */
};

struct python_tls {
	enum python_tls_kind kind;
	int64_t offset;
	uint64_t pair; /* virtual address, in the GOT */
};

/* code: the function's, which is at vaddr. kind is PYTHON_TLS_NONE when it has none of the forms.
 */
struct python_tls python_tls_find(const uint8_t *code, size_t len, uint64_t vaddr);

#endif
