// SPDX-License-Identifier: Apache-2.0
#include "cmd/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/accounting.h"
#include "cmd/selection.h"
#include "cmd/show.h"
#include "core/profile.h"

#define KINDS_SHOWN 3

static void count_kinds(const struct profile *p, int64_t *kinds)
{
	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		const struct sample *s = profile_get_sample(p, i);
		size_t n;
		const uint32_t *stack = profile_get_stack(p, s->stack, &n);
		unsigned int kind = n ? profile_get_location(p, stack[0]).kind : FRAME_UNKNOWN;

		kinds[kind < N_FRAME_KINDS ? kind : FRAME_UNKNOWN] += s->values[0];
	}
}

static void put_kinds(FILE *out, int64_t *kinds)
{
	int64_t total = 0;

	for (int i = 0; i < N_FRAME_KINDS; i++)
		total += kinds[i];
	for (int shown = 0; shown < KINDS_SHOWN; shown++) {
		int best = 0;

		for (int i = 1; i < N_FRAME_KINDS; i++)
			best = kinds[i] > kinds[best] ? i : best;
		if (!kinds[best])
			break;
		fprintf(out, "%s%s %.0f%%", shown ? " " : " · ",
			selection_language((enum frame_kind)best),
			100.0 * (double)kinds[best] / (double)total);
		kinds[best] = 0;
	}
}

const char *status_line(const struct profile *p, const struct accounting *a, uint64_t elapsed_ns,
			char *out, size_t size)
{
	int64_t kinds[N_FRAME_KINDS] = { 0 };
	FILE *f = fmemopen(out, size, "w");

	out[0] = 0;
	if (!f)
		return out;
	count_kinds(p, kinds);
	fprintf(f, "rec %" PRIu64 "s · %" PRIu64 " samples · %" PRIu64 " lost",
		elapsed_ns / 1000000000, a->sampled, a->lost);
	put_kinds(f, kinds);
	if (a->walks)
		fprintf(f, " · %.1f%% complete", accounting_complete_percent(a));
	fputs(" · ^C stop", f);
	fclose(f);
	return out;
}

void status_show(const char *line)
{
	fputs("\r\033[K", stderr);
	show_name(line, show_width(STDERR_FILENO), stderr);
	fflush(stderr);
}
