/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over a snapshot: its state, and one step up by unwind data. Inner header of snapshot.c. */
#ifndef UNWINDERS_WALK_H
#define UNWINDERS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/counters.h"
#include "unwinders/arch.h"
#include "unwinders/snapshot.h"
#include "unwinders/unwind.h"

/* What all walks over one snapshot may use up together, so that no stack takes longer than 5 ms. */
struct walk_budget {
	uint32_t n_steps;
	uint32_t n_words;   /* of stack searched for return addresses */
	uint32_t n_entries; /* of .eh_frame looked at where there is no search table */
};

/* Small: guessing copies it to try something and come back. */
struct walk {
	const struct snapshot *s;
	struct walk_budget *budget;
	struct unwind u;
	struct code_region region; /* of u.map, while that is not empty */
	bool is_full;		   /* every register is followed, not only rip, rsp, rbp */
	bool is_guessed;	   /* the frame it is at was found by guessing */
	bool is_beyond;		   /* memory behind the copied bytes was wanted */
};

/* Begins at the registers of the snapshot. */
void walk_init(struct walk *w, const struct snapshot *s, struct walk_budget *budget);
/* Stack memory: 0, or -EFAULT. */
int walk_read(struct walk *w, uint64_t addr, void *buf, size_t len);
/* Bytes of code, from the file or from the target; how many there are from pc on, at most len. */
size_t walk_code(struct walk *w, uint64_t pc, uint8_t *buf, size_t len);
/* The code around a pc; false: there is none. Borrowed until the next call. */
const struct code_region *walk_region(struct walk *w, uint64_t pc);
/* Moves to the caller: 0, or why not (enum counter), with pc and sp as they were. */
int walk_step(struct walk *w);

#endif
