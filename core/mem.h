/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target memory: the only way weft reads another program's memory. A live process (read only, never
 * stopped), a core file, or an array of bytes in a test.
 */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mem;

struct mem_ops {
	/* All len bytes, or -EFAULT (not readable), -ESRCH (the process went away). */
	int (*read)(struct mem *m, uint64_t addr, void *buf, size_t len);
	void (*free)(struct mem *m);
};

struct mem {
	const struct mem_ops *ops;
};

struct mem *mem_live(pid_t pid);
/* A core file of x86-64 or aarch64; path is opened read only. NULL and *err on failure. */
struct mem *mem_core(const char *path, int *err);
/* Borrowed bytes that appear at addr. */
struct mem *mem_array(uint64_t addr, const void *bytes, size_t len);
void mem_free(struct mem *m);

static inline int mem_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	return m->ops->read(m, addr, buf, len);
}

#endif
