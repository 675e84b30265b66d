/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel symbols from /proc/kallsyms, modules and BPF programs included. Addresses are absolute. */
#ifndef SYMBOLIZER_KALLSYMS_H
#define SYMBOLIZER_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* path NULL is /proc/kallsyms. NULL and *err: -EPERM when every address reads 0 (kptr_restrict,
 * CAP_SYSLOG). */
struct kallsyms *kallsyms_load(const char *path, int *err);
void kallsyms_free(struct kallsyms *k);
/* The name at or below addr, borrowed; *module is "" for the kernel proper, *start its first
 * address. NULL: none. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **module,
			  uint64_t *start);
/* Of one of the landmarks of kallsyms.c, functions or data. 0: it is not there, or hidden. */
uint64_t kallsyms_address(const struct kallsyms *k, const char *name);
size_t kallsyms_memory(const struct kallsyms *k);

#endif
