// SPDX-License-Identifier: Apache-2.0
#include "unwinders/snapshot.h"

#include <string.h>

#include "unwinders/guess.h"
#include "unwinders/walk.h"

/* A step costs at most about a microsecond with everything it looks at. */
#define MAX_STEPS 8000
#define MAX_WORDS 40000
#define MAX_ENTRIES 50000

/* Whether following every register from the first frame on can get past this end. */
static bool full_helps(const struct snapshot *s, const struct walk *w, int end)
{
	return end == END_EXPRESSION && !w->is_full && (s->valid_regs & ALL_REGS) == ALL_REGS;
}

int snapshot_walk(const struct snapshot *s, struct wire_frame *out, size_t *n, size_t max)
{
	struct walk_budget budget = { MAX_STEPS, MAX_WORDS, MAX_ENTRIES };
	struct frame_list frames = { out, *n, max };
	struct walk w;
	int end;

	walk_init(&w, s, &budget);
	end = guess_walk(&w, &frames, 0);
	if (full_helps(s, &w, end)) {
		frames.n = *n;
		walk_init(&w, s, &budget);
		w.is_full = true;
		end = guess_walk(&w, &frames, 0);
	}
	*n = frames.n;
	return end;
}
