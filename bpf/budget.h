/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one budget of a recording (--memory), against what its parts say they use. When the sum
 * passes it, what can be read again is dropped first, at most once a second; when that does not
 * help, further stacks are refused and their samples go to one location.
 */
#ifndef BPF_BUDGET_H
#define BPF_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum budget_state {
	BUDGET_FITS,
	BUDGET_OVER,	 /* stacks that are there already may be used */
	BUDGET_FAR_OVER, /* nothing at all may be added */
};

struct budget {
	uint64_t bytes; /* 0: none */
	enum budget_state state;
	unsigned int until_sum;
	uint64_t last_flush_ns;
	bool was_said;
	uint64_t (*used)(void *ctx);
	void (*flush)(void *ctx);
	void *ctx;
};

/* To be asked once for each sample: the sum is made now and then only. */
enum budget_state budget_check(struct budget *b, uint64_t now_ns);

#endif
