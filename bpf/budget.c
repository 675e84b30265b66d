// SPDX-License-Identifier: Apache-2.0
#include "bpf/budget.h"

#include <inttypes.h>

#include "core/log.h"

#define SUM_EVERY 128 /* samples: less than 200 KB of new stacks, and a sum takes microseconds */
#define FLUSH_NS UINT64_C(1000000000) /* between two flushes: what was dropped is built again */

/* A sixteenth is kept for the names at the end. */
static enum budget_state state_of(const struct budget *b, uint64_t used)
{
	if (used <= b->bytes - b->bytes / 16)
		return BUDGET_FITS;
	return used <= b->bytes ? BUDGET_OVER : BUDGET_FAR_OVER;
}

enum budget_state budget_check(struct budget *b, uint64_t now_ns)
{
	if (!b->bytes || b->until_sum--)
		return b->state;
	b->until_sum = SUM_EVERY - 1;
	b->state = state_of(b, b->used(b->ctx));
	if (b->state != BUDGET_FITS &&
	    (!b->last_flush_ns || now_ns - b->last_flush_ns >= FLUSH_NS)) {
		b->last_flush_ns = now_ns;
		b->flush(b->ctx);
		b->state = state_of(b, b->used(b->ctx));
	}
	if (b->state != BUDGET_FITS && !b->was_said) {
		log_info("the memory budget of %" PRIu64 " MiB is used up: further stacks become "
			 "[over memory budget]; give more by --memory",
			 b->bytes >> 20);
		b->was_said = true;
	}
	return b->state;
}
