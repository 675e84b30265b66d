// SPDX-License-Identifier: Apache-2.0
#include "jfr/recording_report.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"

#define MAX_DAMAGES 10000 /* that are told apart; what comes then is added to the last */

void recording_report_deinit(struct recording_report *r)
{
	free(r->damages);
	*r = (struct recording_report){ 0 };
}

static int add_damage(struct recording_report *report, const struct damage *d)
{
	report->n_lost += d->len;
	if (report->n_damages >= MAX_DAMAGES) {
		report->damages[MAX_DAMAGES - 1].len += d->len;
		return 0;
	}
	if (ARRAY_RESERVE(report->damages, report->damages_cap, report->n_damages))
		return -ENOMEM;
	report->damages[report->n_damages++] = *d;
	return 0;
}

int recording_report_note(struct recording_report *r, uint64_t at, uint64_t end, const char *what)
{
	const struct damage d = { .at = at, .len = end - at, .what = what };
	const struct damage *last = r->n_damages ? &r->damages[r->n_damages - 1] : NULL;

	/* What is wrong with the header of a chunk that turns out to be lost whole. */
	if (last && end > at && last->at >= at && last->at + last->len <= end) {
		r->n_lost -= last->len;
		r->n_damages--;
	}
	return end <= at ? 0 : add_damage(r, &d);
}

/* Counts one more chunk, or the chunks of another report. */
static void widen(struct recording_report *report, uint64_t n, int64_t start_ns, int64_t end_ns)
{
	if (n && (!report->n_chunks || start_ns < report->start_ns))
		report->start_ns = start_ns;
	if (n && (!report->n_chunks || end_ns > report->end_ns))
		report->end_ns = end_ns;
	report->n_chunks += n;
}

int recording_report_add(struct recording_report *r, const struct chunk *c)
{
	const struct chunk_header *h = &c->header;
	int err = 0;

	widen(r, 1, h->start_ns, chunk_header_end_ns(h));
	r->n_unknown += c->n_unknown;
	for (size_t i = 0; i < 2; i++) {
		r->counts[i] += c->counts[i];
		r->sizes[i] += c->sizes[i];
	}
	for (size_t i = 0; i < c->n_damages && !err; i++)
		err = recording_report_note(r, c->damages[i].at,
					    c->damages[i].at + c->damages[i].len,
					    c->damages[i].what);
	return err;
}

int recording_report_merge(struct recording_report *into, const struct recording_report *from)
{
	int err = 0;

	widen(into, from->n_chunks, from->start_ns, from->end_ns);
	into->n_duplicates += from->n_duplicates;
	into->n_open += from->n_open;
	into->n_unflushed += from->n_unflushed;
	into->n_unknown += from->n_unknown;
	for (size_t i = 0; i < 2; i++) {
		into->counts[i] += from->counts[i];
		into->sizes[i] += from->sizes[i];
	}
	for (size_t i = 0; i < from->n_damages && !err; i++)
		err = add_damage(into, &from->damages[i]);
	return err;
}
