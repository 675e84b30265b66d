/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's symbols, read in the background: that takes as long as loading the kernel half, and
 * one after the other the first samples would wait until the processes they are of are gone.
 */
#ifndef BPF_KERNEL_SYMBOLS_H
#define BPF_KERNEL_SYMBOLS_H

#include <pthread.h>
#include <stdbool.h>

struct kallsyms;

struct kernel_symbols {
	struct kallsyms *symbols; /* NULL: none; not before kernel_symbols_wait() */
	int err;		  /* why there are none */
	pthread_t reader;
	bool is_reading;
};

void kernel_symbols_begin(struct kernel_symbols *k);
void kernel_symbols_wait(struct kernel_symbols *k); /* fine when nothing was begun */
/* Says why there are none. */
void kernel_symbols_explain(const struct kernel_symbols *k);
void kernel_symbols_deinit(struct kernel_symbols *k);

#endif
