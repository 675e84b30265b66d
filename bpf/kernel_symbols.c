// SPDX-License-Identifier: Apache-2.0
#include "bpf/kernel_symbols.h"

#include <stddef.h>

#include "symbolizer/kallsyms.h"

static void *read_symbols(void *ctx)
{
	struct kernel_symbols *k = ctx;

	k->symbols = kallsyms_load(NULL, &k->err);
	return NULL;
}

void kernel_symbols_begin(struct kernel_symbols *k)
{
	k->is_reading = !pthread_create(&k->reader, NULL, read_symbols, k);
}

void kernel_symbols_wait(struct kernel_symbols *k)
{
	if (k->is_reading)
		pthread_join(k->reader, NULL);
	k->is_reading = false;
}

void kernel_symbols_deinit(struct kernel_symbols *k)
{
	kernel_symbols_wait(k);
	kallsyms_free(k->symbols);
}
