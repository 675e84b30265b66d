// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_share.h"

#include <errno.h>

#include "core/log.h"
#include "core/mem_cache.h"
#include "runtimes/process_table.h"
#include "runtimes/python.h"
#include "runtimes/python_heap.h"

static const struct allowance_limits each = { 100000000, 20000000 }, all = { 400000000, 50000000 };

void python_limit(struct processes *ps, uint64_t budget)
{
	ps->python_share.max = budget / 8;
	ps->python_share.max_each = budget / 12;
}

void python_share_say(struct python_share *s, pid_t pid)
{
	if (s->is_said || !(s->n_refused || s->n_over_budget))
		return;
	s->is_said = true;
	log_info("Python processes ask for more %s than their share (pid %d does): some frames "
		 "have no name or line",
		 s->n_refused ? "work" : "memory", (int)pid);
}

uint64_t python_steps_left(struct python_part *p)
{
	uint64_t mine = allowance_left(&p->steps, &each, p->share->now_ns);
	uint64_t left = allowance_left(&p->share->steps, &all, p->share->now_ns);

	if (mine < left)
		left = mine;
	p->share->n_refused += !left;
	return left;
}

void python_steps_use(struct python_part *p, uint64_t n)
{
	allowance_use(&p->steps, n);
	allowance_use(&p->share->steps, n);
}

bool python_steps_take(struct python_part *p, uint64_t n)
{
	if (!python_steps_left(p))
		return false;
	python_steps_use(p, n);
	return true;
}

int python_search_begin(struct python_search *s, struct python_part *p, struct mem *m,
			const struct python_layout *l, size_t cache_bytes, struct python_heap *h)
{
	uint64_t steps = python_steps_left(p);
	int err;

	*s = (struct python_search){ .n_pages = steps / PYTHON_STEPS_FETCH };
	s->cache = mem_cache_new(m, cache_bytes, s->n_pages);
	if (!s->cache)
		return -ENOMEM;
	err = python_heap_init(h, s->cache, l);
	h->n_left = err ? 0 : steps / PYTHON_STEPS_READ;
	if (err)
		mem_free(s->cache);
	return err;
}

uint64_t python_search_steps(const struct python_search *s, const struct python_heap *h)
{
	uint64_t n_pages = s->n_pages - mem_cache_reads_left(s->cache);

	return n_pages * PYTHON_STEPS_FETCH + h->n_reads * PYTHON_STEPS_READ;
}

void python_search_end(struct python_search *s, struct python_part *p, struct python_heap *h)
{
	python_steps_use(p, python_search_steps(s, h));
	python_heap_deinit(h);
	mem_free(s->cache);
}

bool python_room_is_left(const struct python_part *p)
{
	const struct python_share *s = p->share;

	return !s->max || (p->held < s->max_each && s->held < s->max);
}

void python_room_hold(struct python_part *p, size_t len)
{
	p->share->held += len - p->held;
	p->held = len;
}
