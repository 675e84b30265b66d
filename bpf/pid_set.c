// SPDX-License-Identifier: Apache-2.0
#include "bpf/pid_set.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static size_t home(const struct pid_set *s, pid_t pid)
{
	return ((uint32_t)pid * UINT32_C(2654435769) >> 8) & (s->n_slots - 1);
}

/* Where pid is, or the free slot where it would go. */
static size_t find(const struct pid_set *s, pid_t pid)
{
	size_t i = home(s, pid);

	while (s->slots[i] && s->slots[i] != pid)
		i = (i + 1) & (s->n_slots - 1);
	return i;
}

bool pid_set_has(const struct pid_set *s, pid_t pid)
{
	return s->n && pid > 0 && s->slots[find(s, pid)];
}

static int grow(struct pid_set *s)
{
	struct pid_set bigger = { .n_slots = s->n_slots ? 2 * s->n_slots : 64 };

	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_slots; i++) {
		if (s->slots[i])
			bigger.slots[find(&bigger, s->slots[i])] = s->slots[i];
	}
	bigger.n = s->n;
	free(s->slots);
	*s = bigger;
	return 0;
}

int pid_set_add(struct pid_set *s, pid_t pid)
{
	size_t i;

	if (pid <= 0)
		return -EINVAL;
	if (2 * (s->n + 1) > s->n_slots && grow(s))
		return -ENOMEM;
	i = find(s, pid);
	if (!s->slots[i])
		s->n++;
	s->slots[i] = pid;
	return 0;
}

void pid_set_remove(struct pid_set *s, pid_t pid)
{
	size_t hole, i;

	if (!pid_set_has(s, pid))
		return;
	hole = i = find(s, pid);
	s->slots[hole] = 0;
	s->n--;
	/* What was pushed behind the hole by it moves up. */
	for (;;) {
		size_t from;

		i = (i + 1) & (s->n_slots - 1);
		if (!s->slots[i])
			return;
		from = home(s, s->slots[i]);
		if (((i - from) & (s->n_slots - 1)) >= ((i - hole) & (s->n_slots - 1))) {
			s->slots[hole] = s->slots[i];
			s->slots[i] = 0;
			hole = i;
		}
	}
}

void pid_set_deinit(struct pid_set *s)
{
	free(s->slots);
	*s = (struct pid_set){ 0 };
}
