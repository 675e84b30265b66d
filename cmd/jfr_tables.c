// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/show.h"
#include "core/options.h"
#include "jfr/summary.h"

#define DEFAULT_THREADS 10
#define DEFAULT_SUMS 8

size_t table_rows(const struct options *opt, size_t n, size_t most)
{
	most = opt->n_rows ? opt->n_rows : opt->verbose ? n : most;
	return n < most ? n : most;
}

void table_print_rest(const struct options *opt, size_t n, size_t shown, FILE *out)
{
	if (shown < n)
		fprintf(out, "%12s  … %zu more%s\n", "", n - shown,
			opt->n_rows ? "" : " (-v shows all)");
}

static int larger_first(const void *a, const void *b)
{
	const struct named_sum *x = *(const struct named_sum *const *)a,
			       *y = *(const struct named_sum *const *)b;
	double x_load = x->load / (double)x->count, y_load = y->load / (double)y->count;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x_load > y_load ? -1 : x_load < y_load;
}

/* Of sums, the larger ones first. */
static size_t sorted(const struct sums *s, enum sum_kind kind,
		     const struct named_sum *rows[MAX_SUMS])
{
	size_t n = s->n[kind];

	for (size_t i = 0; i < n; i++)
		rows[i] = &s->items[kind][i];
	qsort(rows, n, sizeof(*rows), larger_first);
	return n;
}

void tables_print_loads(const struct options *opt, const struct summary *s, FILE *out)
{
	const struct named_sum *rows[MAX_SUMS];
	size_t n = sorted(&s->sums, SUM_THREAD, rows), shown = table_rows(opt, n, DEFAULT_THREADS);

	if (n)
		fprintf(out, "\n%12s  %s\n", "CPUs", sum_kind_title(SUM_THREAD));
	for (size_t i = 0; i < shown; i++) {
		fprintf(out, "%12.2f  ", rows[i]->load / (double)rows[i]->count);
		show_name(rows[i]->name, 0, out);
		fputc('\n', out);
	}
	table_print_rest(opt, n, shown, out);
}

static void print_times(uint64_t count, int64_t total_ns, int64_t longest_ns, FILE *out)
{
	fprintf(out, "%12" PRIu64 " %10.2fms %10.2fms  ", count, (double)total_ns / 1e6,
		(double)longest_ns / 1e6);
}

static void print_gcs(const struct options *opt, const struct summary *s, FILE *out)
{
	size_t shown = table_rows(opt, s->n_gcs, s->n_gcs);

	if (s->n_gcs)
		fprintf(out, "\n%12s %12s %12s  Garbage collections\n", "Count", "Pauses",
			"Longest");
	for (size_t i = 0; i < shown; i++) {
		const struct gc_sum *g = &s->gcs[i];

		print_times(g->count, g->pause_ns, g->longest_ns, out);
		show_name(g->name, 0, out);
		fputs(", ", out);
		show_name(g->cause, 0, out);
		fputc('\n', out);
	}
	table_print_rest(opt, s->n_gcs, shown, out);
}

static void print_durations(const struct options *opt, const struct sums *s, enum sum_kind kind,
			    FILE *out)
{
	const struct named_sum *rows[MAX_SUMS];
	size_t n = sorted(s, kind, rows), shown = table_rows(opt, n, DEFAULT_SUMS);

	if (n)
		fprintf(out, "\n%12s %12s %12s  %s\n", "Count", "Total", "Longest",
			sum_kind_title(kind));
	for (size_t i = 0; i < shown; i++) {
		print_times(rows[i]->count, rows[i]->total_ns, rows[i]->longest_ns, out);
		show_name(rows[i]->name, 0, out);
		fputc('\n', out);
	}
	table_print_rest(opt, n, shown, out);
}

static void print_measured(const char *unit, int64_t value, FILE *out)
{
	struct scale scale = scale_for(unit, value);
	char text[32];

	if (!strcmp(unit, "ppm"))
		fprintf(out, "%11.1f%%", (double)value / 1e4);
	else
		fprintf(out, "%12s", scale_print(&scale, value, text, sizeof(text)));
}

static void print_gauges(const struct gauges *gauges, FILE *out)
{
	bool has_title = false;

	for (size_t i = 0; i < N_GAUGES; i++) {
		const struct gauge *g = &gauges->items[i];

		if (!g->count)
			continue;
		if (!has_title)
			fprintf(out, "\n%12s %12s  Measured by the JVM\n", "Mean", "Most");
		has_title = true;
		print_measured(gauge_unit(i), gauge_mean(g), out);
		fputc(' ', out);
		print_measured(gauge_unit(i), g->largest, out);
		fprintf(out, "  %s\n", gauge_title(i));
	}
}

void tables_print_jvm(const struct options *opt, const struct summary *s, FILE *out)
{
	print_gcs(opt, s, out);
	for (unsigned int kind = SUM_PAUSE; kind < SUM_THREAD; kind++)
		print_durations(opt, &s->sums, (enum sum_kind)kind, out);
	print_gauges(&s->gauges, out);
}
