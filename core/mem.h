/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target memory: the only way weft reads another program's memory. A live process (read only, never
 * stopped), a core file, or an array of bytes in a test.
 */
#ifndef CORE_MEM_H
#define CORE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/allowance.h"

struct mem;

/* A place that is to be read. err: as read() says, once it was. */
struct mem_place {
	uint64_t addr;
	size_t len;
	void *buf;
	int err;
};

struct mem_ops {
	/* All len bytes, or -EFAULT (not readable), -ESRCH (the process went away), -ETIMEDOUT (it
	   keeps us waiting: mem_live()). */
	int (*read)(struct mem *m, uint64_t addr, void *buf, size_t len);
	void (*free)(struct mem *m);
	/* Several at once, each for itself; NULL: one after the other. */
	void (*read_many)(struct mem *m, struct mem_place *places, size_t n);
};

struct mem {
	const struct mem_ops *ops;
};

/* How long one process has kept us waiting. Zeros at first. */
struct mem_patience {
	struct allowance waits; /* ns */
	bool is_stuck;		/* the last read of its memory did not come back */
	pid_t left_behind;	/* who reads there; the process is not read before that one ended */
	/* Nor before this time; the pause doubles. 0: it never did, or answered for longer since.
	 */
	uint64_t again_ns, pause_ns;
};

/*
 * A page of a target may come from wherever it likes: a file system in user space that never
 * answers keeps whoever reads it waiting where no signal helps. So a small process of its own does
 * the reading (core/mem_live.c), and is left behind when it does not come back; nothing here waits
 * for longer than some tenths of a second (but for a CPU that the reader needs), nor does the end
 * of this program. A disk, or a fork of a large process, may take as long: so whoever kept us
 * waiting is asked again some time after the reader that was left behind could end. patience is
 * borrowed; NULL: nobody remembers. One reader serves the whole program, from one thread.
 */
struct mem *mem_live(pid_t pid, struct mem_patience *patience);
/* Starts the reader, which is small as long as this program is. It starts by itself otherwise. */
void mem_live_begin(void);
/* Ends it, if it can be ended. */
void mem_live_end(void);
/* What it used so far. */
uint64_t mem_live_cpu_ns(void);

/* A core file of x86-64 or aarch64; path is opened read only. NULL and *err on failure. */
struct mem *mem_core(const char *path, int *err);
/* Borrowed bytes that appear at addr. */
struct mem *mem_array(uint64_t addr, const void *bytes, size_t len);
void mem_free(struct mem *m);

static inline int mem_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	return m->ops->read(m, addr, buf, len);
}

static inline void mem_read_many(struct mem *m, struct mem_place *places, size_t n)
{
	if (m->ops->read_many)
		m->ops->read_many(m, places, n);
	for (size_t i = 0; i < n && !m->ops->read_many; i++)
		places[i].err = mem_read(m, places[i].addr, places[i].buf, places[i].len);
}

#endif
