// SPDX-License-Identifier: Apache-2.0
/* What the names of generated code of several processes take together, and who has to give. */
#include <stdlib.h>

#include "symbolizer/jit_table.h"

bool jit_room_has(const struct jit_symbols *s, size_t more)
{
	size_t own = jit_symbols_memory(s) + more;

	return !s->room || !s->room->max ||
	       (own <= s->room->max_each && own + s->room->used - s->counted <= s->room->max);
}

void jit_room_tell(struct jit_symbols *s)
{
	size_t memory = jit_symbols_memory(s);

	if (s->room)
		s->room->used += memory - s->counted;
	s->counted = memory;
}

/* Gives back the room that the tables have beyond what is in them. */
static void shrink(struct jit_symbols *s)
{
	struct range *ranges = s->n ? realloc(s->ranges, s->n * sizeof(*ranges)) : NULL;
	struct jit_line *lines = s->n_lines ? realloc(s->lines, s->n_lines * sizeof(*lines)) : NULL;

	if (ranges) {
		s->ranges = ranges;
		s->cap = s->n;
		free(s->order);
		free(s->max_end);
		s->order = NULL;
		s->max_end = NULL;
		s->n_ordered = s->cap_ordered = 0;
	}
	if (lines) {
		s->lines = lines;
		s->cap_lines = s->n_lines;
	}
	jit_room_tell(s);
}

/*
 * The holder of most, and everybody's part of the room: an eighth less than an equal one, so that
 * whoever asks for more than is free finds a holder that has that eighth too much, and what is
 * forgotten at once is worth the work.
 */
static struct jit_symbols *largest_holder(const struct jit_symbols *asking, size_t *part)
{
	struct jit_symbols *largest = NULL;
	size_t n = 0;

	for (struct jit_symbols *h = asking->room->holders; h; h = h->next) {
		n += h->counted || h == asking;
		if (!largest || h->counted > largest->counted)
			largest = h;
	}
	*part = asking->room->max / n / 8 * 7;
	return largest;
}

/* Forgets names of the largest holder for one that has less than its part; false: nobody's. */
static bool take_from_largest(const struct jit_symbols *s, size_t more)
{
	struct jit_symbols *largest;
	size_t part, n_kept;

	if (!s->room || !s->room->max)
		return false;
	largest = largest_holder(s, &part);
	if (largest == s || largest->counted <= part || jit_symbols_memory(s) + more > part ||
	    jit_symbols_memory(s) + more > s->room->max_each)
		return false;
	n_kept = (size_t)((double)largest->n * (double)part / (double)largest->counted);
	if (n_kept < largest->n / 2)
		n_kept = largest->n / 2;
	if (largest->n)
		jit_symbols_forget(largest, largest->n - n_kept);
	shrink(largest);
	return true;
}

bool jit_room_find(const struct jit_symbols *s, size_t more)
{
	size_t used;

	do {
		if (jit_room_has(s, more))
			return true;
		used = s->room->used;
	} while (take_from_largest(s, more) && s->room->used < used);
	return false;
}
