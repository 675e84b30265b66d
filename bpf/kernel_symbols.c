// SPDX-License-Identifier: Apache-2.0
#include "bpf/kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/scoped.h"
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

/* The addresses are hidden. */
static const char *who_hides(void)
{
	SCOPED(fclose) FILE *f = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int level = 0;

	if (f && fscanf(f, "%d", &level) == 1 && level >= 2)
		return "sysctl kernel.kptr_restrict is 2";
	return "CAP_SYSLOG is missing";
}

void kernel_symbols_explain(const struct kernel_symbols *k)
{
	log_info("kernel functions have no names: %s",
		 k->err == -EPERM ? who_hides() : strerror(-k->err));
}

void kernel_symbols_deinit(struct kernel_symbols *k)
{
	kernel_symbols_wait(k);
	kallsyms_free(k->symbols);
}
