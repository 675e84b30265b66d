// SPDX-License-Identifier: Apache-2.0
/* `weft jfr --json`: the same as one document. */
#include <inttypes.h>
#include <string.h>

#include "cmd/frames.h"
#include "cmd/jfr.h"
#include "cmd/top_table.h"
#include "cmd/totals.h"
#include "cmd/view.h"
#include "core/options.h"
#include "core/profile.h"
#include "core/text.h"

static void put(const char *text, FILE *out)
{
	text_put_json(text, strlen(text), out);
}

static void put_key(const char *key, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", key);
	put(text, out);
}

static void put_jvm(const struct jvm_facts *f, FILE *out)
{
	fputs(",\n\"jvm\":{\"name\":", out);
	put(f->name, out);
	put_key("version", f->version, out);
	put_key("os", f->os, out);
	put_key("shutdown", f->shutdown, out);
	fprintf(out,
		",\"pid\":%" PRId64 ",\"startMs\":%" PRId64 ",\"hardwareThreads\":%" PRId64
		",\"cpus\":%" PRId64 "}",
		f->pid, f->start_ms, f->n_threads, jvm_facts_n_cpus(f));
}

static void put_file(const struct jfr_file *f, FILE *out)
{
	const struct recording_report *r = &f->report;

	fputs("{\"name\":", out);
	put(f->name, out);
	fprintf(out,
		",\"chunks\":%" PRIu64 ",\"duplicates\":%" PRIu64 ",\"unfinished\":%" PRIu64
		",\"unflushedBytes\":%" PRIu64 ",\"unknownEvents\":%" PRIu64
		",\"lostBytes\":%" PRIu64 ",\"startNs\":%" PRId64 ",\"endNs\":%" PRId64
		",\"problem\":",
		r->n_chunks, r->n_duplicates, r->n_open, r->n_unflushed, r->n_unknown, r->n_lost,
		r->start_ns, r->end_ns);
	if (f->reason)
		put(f->reason, out);
	else
		fputs("null", out);
	put_key("service", f->service ? f->service : "", out);
	put_key("host", f->host ? f->host : "", out);
	fputs(",\"damage\":[", out);
	for (size_t i = 0; i < r->n_damages; i++) {
		const struct damage *d = &r->damages[i];

		fprintf(out, "%s{\"at\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"what\":", i ? "," : "",
			d->at, d->len);
		put(d->what, out);
		fputc('}', out);
	}
	fputs("]}", out);
}

static void put_sums(const struct sums *s, enum sum_kind kind, FILE *out)
{
	fprintf(out, ",\n\"%s\":[", sum_kind_key(kind));
	for (size_t i = 0; i < s->n[kind]; i++) {
		const struct named_sum *sum = &s->items[kind][i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(sum->name, out);
		fprintf(out, ",\"count\":%" PRIu64, sum->count);
		if (kind == SUM_THREAD)
			fprintf(out, ",\"meanLoad\":%.4f", sum->load / (double)sum->count);
		else
			fprintf(out, ",\"totalNs\":%" PRId64 ",\"longestNs\":%" PRId64,
				sum->total_ns, sum->longest_ns);
		fputc('}', out);
	}
	fputc(']', out);
}

/* What is in samples: all of each type, and the default type by thread and so on. */
static void put_sample_types(const struct profile *p, FILE *out)
{
	const struct profile_header *h = profile_get_header(p);

	fputs(",\n\"sampleTypes\":[", out);
	for (uint32_t i = 0; i < h->n_sample_types; i++) {
		fputs(i ? ",\n{\"type\":" : "\n{\"type\":", out);
		put(profile_get_string(p, h->sample_types[i].type), out);
		put_key("unit", profile_get_string(p, h->sample_types[i].unit), out);
		fprintf(out, ",\"total\":%" PRId64 "}", total_of(p, i));
	}
	fputs("],\n\"defaultSampleType\":", out);
	put(profile_get_string(p, h->default_sample_type), out);
}

static int put_totals(const struct profile *p, const char *key, const char *label, FILE *out)
{
	struct label_totals t;
	int err = label_totals_init(&t, p, label);

	fprintf(out, ",\n\"%s\":[", key);
	for (size_t i = 0; i < t.n; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(profile_get_string(p, t.rows[i].text), out);
		fprintf(out, ",\"value\":%" PRId64 "}", t.rows[i].value);
	}
	fputc(']', out);
	label_totals_deinit(&t);
	return err;
}

static int put_top(const struct profile *p, const struct options *opt, FILE *out)
{
	struct view v;
	struct top_table t = { 0 };
	int err = view_init(&v, p, opt, out);

	if (!err)
		err = top_table_init(&t, &v);
	fputs(",\n\"top\":[", out);
	for (size_t i = 0; i < t.n && (!opt->n_rows || i < opt->n_rows); i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(frames_name(v.frames, t.rows[i].name), out);
		fprintf(out, ",\"flat\":%" PRId64 ",\"cum\":%" PRId64 "}", t.rows[i].flat,
			t.rows[i].cum);
	}
	fputc(']', out);
	top_table_deinit(&t);
	view_deinit(&v);
	return err;
}

static int put_profile(const struct jfr_run *run, FILE *out)
{
	const struct profile *p = run->profile;
	int err;

	put_sample_types(p, out);
	err = put_totals(p, "services", "service", out);
	if (!err)
		err = put_totals(p, "hosts", "host", out);
	if (!err)
		err = put_totals(p, "spans", "span_name", out);
	if (!err)
		err = put_totals(p, "tags", "tag", out);
	if (!err)
		err = put_totals(p, "threads", "thread", out);
	return err ? err : put_top(p, run->opt, out);
}

static void put_types(const struct summary *s, FILE *out)
{
	fputs(",\n\"types\":[", out);
	for (size_t i = 0; i < summary_n_types(s); i++) {
		struct type_sum sum;

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(summary_type(s, i, &sum), out);
		fprintf(out, ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", sum.count, sum.bytes);
	}
	fputc(']', out);
}

static void put_gcs(const struct summary *s, FILE *out)
{
	fputs(",\n\"gcs\":[", out);
	for (size_t i = 0; i < s->n_gcs; i++) {
		const struct gc_sum *g = &s->gcs[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(g->name, out);
		put_key("cause", g->cause, out);
		fprintf(out,
			",\"count\":%" PRIu64 ",\"pauseNs\":%" PRId64 ",\"longestNs\":%" PRId64
			",\"durationNs\":%" PRId64 "}",
			g->count, g->pause_ns, g->longest_ns, g->duration_ns);
	}
	fputc(']', out);
}

static void put_gauges(const struct gauges *gauges, FILE *out)
{
	const char *separator = "";

	fputs(",\n\"measured\":[", out);
	for (size_t i = 0; i < N_GAUGES; i++) {
		const struct gauge *g = &gauges->items[i];

		if (!g->count)
			continue;
		fprintf(out,
			"%s\n{\"name\":\"%s\",\"unit\":\"%s\",\"count\":%" PRIu64
			",\"mean\":%" PRId64 ",\"most\":%" PRId64 "}",
			separator, gauge_key(i), gauge_unit(i), g->count, gauge_mean(g),
			g->largest);
		separator = ",";
	}
	fputc(']', out);
}

int jfr_print_json(const struct jfr_run *run, FILE *out)
{
	const struct summary *s = &run->summary;
	int err;

	fputs("{\"files\":[", out);
	for (size_t i = 0; i < run->n_files; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_file(&run->files[i], out);
	}
	fprintf(out, "],\n\"startNs\":%" PRId64 ",\"endNs\":%" PRId64, run->start_ns, run->end_ns);
	put_jvm(&run->interpreter.facts, out);
	err = put_profile(run, out);
	put_types(s, out);
	fprintf(out, ",\n\"dataLossBytes\":%" PRId64, s->dropped);
	put_gcs(s, out);
	for (unsigned int kind = 0; kind < N_SUM_KINDS; kind++)
		put_sums(&s->sums, (enum sum_kind)kind, out);
	put_gauges(&s->gauges, out);
	fputs("}\n", out);
	return err;
}
