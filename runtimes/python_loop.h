/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asyncio's own event loop in a CPython process, 3.7 to 3.15: where a thread that runs one has the
 * time at which the loop came back from its selector. Each turn of the loop is one call of
 * BaseEventLoop._run_once(), which keeps that time in its variable `end_time`, so no system call
 * must be watched for it. uvloop's loops are found from their tasks (unwinders/python_task.bpf.h).
 */
#ifndef RUNTIMES_PYTHON_LOOP_H
#define RUNTIMES_PYTHON_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/weft.h"
#include "runtimes/python_code.h"
#include "runtimes/python_layout.h"
#include "runtimes/python_share.h"
#include "unwinders/python_walk.h"

/* What was seen in a process. Zeros before. */
struct python_loop {
	uint64_t code;	   /* of the method; 0: not seen */
	uint32_t variable; /* number of its variable */
	bool is_new;	   /* the kernel half has not heard of it */
};

/* Is that the method? */
bool python_loop_is_turn(const struct python_code *code);
/* Learns of it from the code object at an address in m, which may be NULL. */
void python_loop_learn(struct python_loop *loop, struct python_part *part, struct mem *m,
		       const struct python_layout *l, uint64_t addr);
/* Where the process has a clock of its own, nothing. */
void python_loop_set(struct python_loop *loop, const struct python_layout *l, pid_t pid,
		     struct python_process *out);
/* The time that the kernel half read, in ns of CLOCK_MONOTONIC; 0: none. */
uint64_t python_loop_ns(const struct wire_python *python);

#endif
