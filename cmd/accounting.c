// SPDX-License-Identifier: Apache-2.0
#include "cmd/accounting.h"

#include <inttypes.h>
#include <string.h>

#include "bpf/counters.h"
#include "core/profile.h"
#include "core/text.h"
#include "jfr/samples.h"

enum role { OTHER, SAMPLED, LOST, COMPLETE, BROKEN, UNREAD };

static const struct counter_row {
	const char *name, *meaning;
} rows[N_COUNTERS] = {
#define X(id, name, meaning) [id] = { name, meaning },
	TICK_COUNTERS(X) END_REASONS(X) OTHER_COUNTERS(X)
#undef X
};

/* Of recordings that others made. */
static const struct jfr_row {
	const char *name, *meaning;
	enum role role;
} jfr_rows[] = {
#define X(id, name, meaning)                 \
	{ name, meaning,                     \
	  id == SAMPLES_TAKEN	  ? SAMPLED  \
	  : id == SAMPLES_LOST	  ? LOST     \
	  : id == STACKS_COMPLETE ? COMPLETE \
	  : id == STACKS_NONE	  ? OTHER    \
				  : BROKEN },
	SAMPLE_COUNTS(X)
#undef X
		{ BYTES_LOST, "bytes of damaged recordings that could not be read", UNREAD },
};

static enum role role_of(enum counter c)
{
	switch (c) {
	case TICK_SAMPLED:
		return SAMPLED;
	case TICK_LOST_RING:
	case TICK_LOST_BUSY:
	case TICK_LOST_ERROR:
	case ASYNC_TORN:
		return LOST;
	case END_ROOT:
	case END_KERNEL_ONLY:
		return COMPLETE;
	default:
		return strncmp(rows[c].name, "end.", 4) ? OTHER : BROKEN;
	}
}

static int find_row(const char *name)
{
	for (int i = 0; i < N_COUNTERS; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

static const struct jfr_row *find_jfr_row(const char *name)
{
	for (size_t i = 0; i < sizeof(jfr_rows) / sizeof(jfr_rows[0]); i++)
		if (!strcmp(jfr_rows[i].name, name))
			return &jfr_rows[i];
	return NULL;
}

static void add(struct accounting *a, enum role role, uint64_t n)
{
	a->is_known = true;
	a->sampled += role == SAMPLED ? n : 0;
	a->lost += role == LOST ? n : 0;
	a->walks += role == COMPLETE || role == BROKEN ? n : 0;
	a->complete += role == COMPLETE ? n : 0;
	a->bytes_lost += role == UNREAD ? n : 0;
}

struct accounting accounting_of(const struct profile *p)
{
	struct accounting a = { 0 };

	for (uint32_t i = 0; i < profile_n_counts(p); i++) {
		uint64_t n;
		const char *name = profile_get_count(p, i, &n);
		const struct jfr_row *jfr_row = find_jfr_row(name);
		int row = find_row(name);

		if (row >= 0)
			add(&a, role_of((enum counter)row), n);
		else if (jfr_row)
			add(&a, jfr_row->role, n);
	}
	return a;
}

struct accounting accounting_of_counters(const uint64_t *counters)
{
	struct accounting a = { 0 };

	for (int i = 0; i < N_COUNTERS; i++)
		add(&a, role_of((enum counter)i), counters[i]);
	return a;
}

double accounting_complete_percent(const struct accounting *a)
{
	return a->walks ? 100.0 * (double)a->complete / (double)a->walks : 100;
}

double accounting_lost_percent(const struct accounting *a)
{
	double all = (double)a->sampled + (double)a->lost;

	return all > 0 ? 100.0 * (double)a->lost / all : 0;
}

void accounting_print(const struct accounting *a, FILE *out)
{
	if (!a->is_known)
		return;
	if (a->walks)
		fprintf(out, "%.1f%% complete · ", accounting_complete_percent(a));
	fprintf(out, "%" PRIu64 " lost", a->lost);
	if (a->bytes_lost)
		fprintf(out, ", and %" PRIu64 " bytes of the recordings", a->bytes_lost);
}

/* "1 stack deeper than ...", "2 stacks deeper than ..." */
static void print_broken(uint64_t n, const char *meaning, FILE *out)
{
	size_t len = strcspn(meaning, " ");
	size_t shown = n == 1 && len && meaning[len - 1] == 's' ? len - 1 : len;

	fprintf(out, " · %" PRIu64 " %.*s%s", n, (int)shown, meaning, meaning + len);
}

void accounting_print_broken(const struct profile *p, FILE *out)
{
	for (uint32_t i = 0; i < profile_n_counts(p); i++) {
		uint64_t n;
		const struct jfr_row *row = find_jfr_row(profile_get_count(p, i, &n));

		if (row && n && !strncmp(row->name, "jfr.end.", 8) && row->role != COMPLETE)
			print_broken(n, row->meaning, out);
	}
}

void accounting_print_all(const struct profile *p, FILE *out)
{
	for (uint32_t i = 0; i < profile_n_counts(p); i++) {
		uint64_t n;
		const char *name = profile_get_count(p, i, &n);
		const struct jfr_row *jfr_row = find_jfr_row(name);
		int row = find_row(name);
		const char *meaning = row >= 0	? rows[row].meaning
				      : jfr_row ? jfr_row->meaning
						: "";
		char safe[64];

		if (n)
			fprintf(out, "  %-24s %12" PRIu64 "  %s\n",
				text_safe(name, safe, sizeof(safe)), n, meaning);
	}
}
