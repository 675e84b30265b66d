// SPDX-License-Identifier: Apache-2.0
/* `weft jfr --json`: the same as one document. */
#include <inttypes.h>
#include <string.h>

#include "cmd/jfr.h"
#include "core/text.h"

static void put(const char *text, FILE *out)
{
	text_put_json(text, strlen(text), out);
}

static void put_jvm(const struct jvm_facts *f, FILE *out)
{
	fputs(",\n\"jvm\":{\"name\":", out);
	put(f->name, out);
	fputs(",\"version\":", out);
	put(f->version, out);
	fprintf(out,
		",\"pid\":%" PRId64 ",\"startMs\":%" PRId64 ",\"hardwareThreads\":%" PRId64 "}",
		f->pid, f->start_ms, f->n_threads);
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

void jfr_print_json(const struct jfr_run *run, FILE *out)
{
	const struct summary *s = &run->summary;

	fputs("{\"files\":[", out);
	for (size_t i = 0; i < run->n_files; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_file(&run->files[i], out);
	}
	fprintf(out, "],\n\"startNs\":%" PRId64 ",\"endNs\":%" PRId64, run->start_ns, run->end_ns);
	put_jvm(&run->interpreter.facts, out);
	fputs(",\n\"types\":[", out);
	for (size_t i = 0; i < summary_n_types(s); i++) {
		struct type_sum sum;

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(summary_type(s, i, &sum), out);
		fprintf(out, ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", sum.count, sum.bytes);
	}
	fputs("],\n\"gcs\":[", out);
	for (size_t i = 0; i < s->n_gcs; i++) {
		const struct gc_sum *g = &s->gcs[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		put(g->name, out);
		fputs(",\"cause\":", out);
		put(g->cause, out);
		fprintf(out,
			",\"count\":%" PRIu64 ",\"pauseNs\":%" PRId64 ",\"longestNs\":%" PRId64
			",\"durationNs\":%" PRId64 "}",
			g->count, g->pause_ns, g->longest_ns, g->duration_ns);
	}
	fputc(']', out);
	for (unsigned int kind = 0; kind < N_SUM_KINDS; kind++)
		put_sums(&s->sums, (enum sum_kind)kind, out);
	fputs("}\n", out);
}
