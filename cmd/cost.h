/* SPDX-License-Identifier: Apache-2.0 */
/* What weft itself cost, for `record --stats`. */
#ifndef CMD_COST_H
#define CMD_COST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct live_stats;

struct cost {
	uint64_t peak_bytes; /* anonymous memory of weft and its BPF maps together */
	uint64_t cpu_ns;     /* user time when sampling had begun */
	bool is_peak_reset;  /* the kernel's mark of the most memory is of the writing */
};

/* Once when sampling has begun. */
void cost_begin(struct cost *c);
/* Now and then: memory is looked at here. */
void cost_update(struct cost *c, uint64_t map_bytes);
/* Around the writing of the profile, when the maps are gone: what it took at most. */
void cost_begin_writing(struct cost *c);
void cost_end_writing(struct cost *c);
/* samples: ticks that became samples. written: bytes of the output file, 0 is unknown. */
void cost_print(const struct cost *c, const struct live_stats *stats, uint64_t samples,
		uint64_t written, FILE *out);

#endif
