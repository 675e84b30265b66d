/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads for core/mem_live.c: it gets a descriptor of a target's memory and places
 * in it by a socket, puts what is there into memory that both have, and says so. It holds nothing
 * else, so that it can be left behind when a read never ends.
 */
#ifndef CORE_MEM_READER_H
#define CORE_MEM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEM_READER_MAX (256u << 10) /* bytes of one answer */
#define MEM_READER_PLACES 64	    /* in it; going there and back costs more than reading one */

struct mem_place;

struct mem_reader {
	pid_t pid; /* 0: there is none */
	int fd;
	uint8_t *data; /* MEM_READER_MAX bytes that it writes */
	uint64_t timeout_ns;
};

/* It has timeout_ns for every answer, and more while it only waits for a CPU. 0 or -errno. */
int mem_reader_start(struct mem_reader *r, uint64_t timeout_ns);
/* Hands over the descriptor that it reads from until the next one. */
int mem_reader_open(struct mem_reader *r, int mem_fd);
/*
 * At most MEM_READER_PLACES places, with at most MEM_READER_MAX bytes together; of each is said
 * whether it could be read: 0, -EFAULT, -ESRCH. *took_ns: how long the reading itself took, of an
 * answer. 0; -ETIMEDOUT: no answer in time, and -EPIPE: it is gone. After these two it has to be
 * stopped.
 */
int mem_reader_read(struct mem_reader *r, struct mem_place *places, size_t n, uint64_t *took_ns);
/* Kills it. is_stuck: its end, which may never come, is the caller's to wait for. */
void mem_reader_stop(struct mem_reader *r, bool is_stuck);

#endif
