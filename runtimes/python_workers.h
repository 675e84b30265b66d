/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel half must know of a CPython process, 3.7 to 3.15, to find the asyncio task that
   waits for what a thread of a pool does (unwinders/python_worker.bpf.h). */
#ifndef RUNTIMES_PYTHON_WORKERS_H
#define RUNTIMES_PYTHON_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/python_layout.h"
#include "runtimes/python_look.h"
#include "unwinders/python_await.h"

struct mem;
struct python_part;

/* Zeros at first. */
struct python_pools {
	struct python_workers at;
	struct python_look look;
};

bool python_pools_is_due(const struct python_pools *pools, const struct python_layout *l,
			 uint64_t now_ns);
/* Looks only when modules came or went, as python_asyncio_look() does. True: something else is
   known now. */
bool python_pools_look(struct python_pools *pools, struct python_part *part, struct mem *m,
		       const struct python_layout *l, uint64_t runtime, uint64_t now_ns);

#endif
