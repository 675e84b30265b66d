// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_watch_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "jfr/watch.h"

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static uint64_t total(const uint64_t *numbers)
{
	uint64_t sum = 0;

	for (int i = 0; i < N_LOST_REASONS; i++)
		sum += numbers[i];
	return sum;
}

const char *watch_status_line(const struct watch_counts *c, uint64_t elapsed_ns, bool is_over,
			      char *out, size_t size)
{
	uint64_t lost = total(c->lost_bytes);
	FILE *f = fmemopen(out, size, "w");

	out[0] = 0;
	if (!f)
		return out;
	fprintf(f,
		"watch %" PRIu64 "s · %" PRIu64 " recording%s (%" PRIu64 " growing) · %" PRIu64
		" events · ",
		elapsed_ns / NS_PER_S, c->n_files, c->n_files == 1 ? "" : "s", c->n_growing,
		c->n_events);
	if (!is_over)
		fprintf(f, "lag %.1fs · ", seconds(c->lag_ns));
	fprintf(f, lost ? "%" PRIu64 " bytes lost" : "%" PRIu64 " lost", lost);
	if (c->n_quarantined)
		fprintf(f, " · %" PRIu64 " damaged", c->n_quarantined);
	if (c->n_failures)
		fprintf(f, " · waiting: %s", strerror(-c->err));
	if (!is_over)
		fputs(" · ^C stop", f);
	fclose(f);
	return out;
}

const char *watch_metrics_line(const struct watch_counts *c, char *out, size_t size)
{
	FILE *f = fmemopen(out, size, "w");

	out[0] = 0;
	if (!f)
		return out;
	fprintf(f,
		"watch: sources=%" PRIu64 " growing=%" PRIu64 " open=%" PRIu64 " events=%" PRIu64
		" bytes=%" PRIu64 " batches=%" PRIu64 " lag_s=%.3f",
		c->n_files, c->n_growing, c->n_open, c->n_events, c->n_bytes, c->n_batches,
		seconds(c->lag_ns));
	for (int i = 0; i < N_LOST_REASONS; i++)
		fprintf(f, " lost_%s_bytes=%" PRIu64, lost_reason_name((enum lost_reason)i),
			c->lost_bytes[i]);
	fprintf(f,
		" late_scopes=%" PRIu64 " quarantined=%" PRIu64 " duplicate_bytes=%" PRIu64
		" historic_chunks=%" PRIu64 " other_files=%" PRIu64 " output_failures=%" PRIu64
		" over_limit=%" PRIu64 " unwatched_dirs=%" PRIu64 " unreadable_dirs=%" PRIu64,
		c->n_late_scopes, c->n_quarantined, c->n_duplicate_bytes, c->n_historic,
		c->n_foreign, c->n_failures, c->n_over_limit, c->n_unwatched, c->n_unreadable);
	fclose(f);
	return out;
}
