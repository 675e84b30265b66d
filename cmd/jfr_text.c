// SPDX-License-Identifier: Apache-2.0
/* `weft jfr FILE` for people. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/accounting.h"
#include "cmd/jfr.h"
#include "cmd/jfr_tables.h"
#include "cmd/jfr_whose.h"
#include "cmd/show.h"
#include "cmd/totals.h"
#include "cmd/view.h"
#include "core/options.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "jfr/secret.h"
#include "jfr/workload.h"

#define DEFAULT_ROWS 20	 /* of the top table */
#define DEFAULT_TYPES 15 /* of the table of events */
#define DEFAULT_THREADS 10
#define MAX_NAMES 5 /* of services and hosts, before the tables */

static void print_time(int64_t ns, FILE *out)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32];
	struct tm tm;

	if (ns > 0 && gmtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), " · %Y-%m-%d %H:%M:%S UTC", &tm))
		fputs(text, out);
}

static void print_arguments(const char *what, const char *text, bool shows_secrets, FILE *out)
{
	if (!*text)
		return;
	fprintf(out, "%s: ", what);
	if (shows_secrets)
		show_name(text, 0, out);
	else
		fputs(SECRET_TEXT " (--show-secrets shows them)", out);
	fputc('\n', out);
}

/* " 17.0.15+6" of "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), ...". */
static void print_version(const char *text, FILE *out)
{
	const char *start = strchr(text, '(');
	char version[64];

	if (!start)
		return;
	snprintf(version, sizeof(version), "%.*s", (int)strcspn(start + 1, ")"), start + 1);
	fputc(' ', out);
	show_name(version, 0, out);
}

static void print_whose(const struct workload *w, enum workload_field field, const char *what,
			FILE *out)
{
	const char *name = workload_get(w, field);

	if (*name) {
		fprintf(out, " · %s ", what);
		show_name(name, 0, out);
	}
}

static void print_jvm(const struct jfr_run *run, FILE *out)
{
	const struct jvm_facts *f = &run->interpreter.facts;
	struct workload w = { 0 };

	jfr_find_whose(f, run->files[0].name, run->opt->path_template, &w);
	if (*f->name) {
		show_name(f->name, 0, out);
		print_version(f->version, out);
		if (f->pid)
			fprintf(out, " · pid %" PRId64, f->pid);
		if (f->n_threads)
			fprintf(out, " · %" PRId64 " hardware threads", f->n_threads);
		if (jvm_facts_n_cpus(f) != f->n_threads)
			fprintf(out, " · %" PRId64 " CPUs for its container", jvm_facts_n_cpus(f));
		print_whose(&w, WORKLOAD_SERVICE, "service", out);
		print_whose(&w, WORKLOAD_HOST, "host", out);
		fputc('\n', out);
	}
	if (*f->shutdown) {
		fputs("The JVM ended: ", out);
		show_name(f->shutdown, 0, out);
		fputc('\n', out);
	}
	if (run->opt->verbose || run->opt->show_secrets) {
		print_arguments("JVM arguments", f->arguments, run->opt->show_secrets, out);
		print_arguments("Program", f->java_arguments, run->opt->show_secrets, out);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "service orders", or "3 services: basket, orders, stock". The names are sorted by it. */
static void print_names(const char **names, size_t n, const char *what, bool is_first, FILE *out)
{
	size_t n_different = 0, shown;

	if (n)
		qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n; i++)
		if (*names[i] && (!i || strcmp(names[i], names[i - 1])))
			names[n_different++] = names[i];
	if (!n_different)
		return;
	fputs(is_first ? "" : " · ", out);
	if (n_different == 1)
		fprintf(out, "%s ", what);
	else
		fprintf(out, "%zu %ss: ", n_different, what);
	shown = n_different > MAX_NAMES + 1 ? MAX_NAMES : n_different;
	for (size_t i = 0; i < shown; i++) {
		fputs(i ? ", " : "", out);
		show_name(names[i], 0, out);
	}
	if (shown < n_different)
		fprintf(out, " and %zu more", n_different - shown);
}

/* Of several files. */
static int print_all_whose(const struct jfr_run *run, FILE *out)
{
	SCOPED(free) const char **names = calloc(2 * run->n_files + 1, sizeof(*names));
	const char **hosts = names + run->n_files;
	bool has_service = false, has_host = false;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < run->n_files; i++) {
		const struct jfr_file *f = &run->files[i];

		names[i] = f->service ? f->service : "";
		hosts[i] = f->host ? f->host : "";
		has_service |= !!*names[i];
		has_host |= !!*hosts[i];
	}
	print_names(names, run->n_files, "service", true, out);
	print_names(hosts, run->n_files, "host", !has_service, out);
	if (has_service || has_host)
		fputc('\n', out);
	return 0;
}

/* As the files of a JVM's repository are. */
static bool are_of_one_jvm(const struct jfr_run *run)
{
	const struct jvm_facts *last = &run->interpreter.facts;

	for (size_t i = 0; i < run->n_files; i++) {
		const struct jfr_file *f = &run->files[i];

		if (f->service && (f->jvm_pid != last->pid || f->jvm_start_ms != last->start_ms))
			return false;
	}
	return last->pid;
}

static void print_chunks(const struct jfr_run *run, FILE *out)
{
	uint64_t n_chunks = 0, n_duplicates = 0, n_open = 0, n_unflushed = 0;

	for (size_t i = 0; i < run->n_files; i++) {
		n_chunks += run->files[i].report.n_chunks;
		n_duplicates += run->files[i].report.n_duplicates;
		n_open += run->files[i].report.n_open;
		n_unflushed += run->files[i].report.n_unflushed;
	}
	fprintf(out, " · %" PRIu64 " chunk%s", n_chunks, n_chunks == 1 ? "" : "s");
	if (n_duplicates)
		fprintf(out, " (and %" PRIu64 " that %s there twice)", n_duplicates,
			n_duplicates == 1 ? "was" : "were");
	if (n_open && n_chunks == 1)
		fputs(", not finished by its JVM", out);
	else if (n_open)
		fprintf(out, ", %" PRIu64 " not finished by %s JVM%s", n_open,
			n_open == 1 ? "its" : "their", n_open == 1 ? "" : "s");
	if (n_unflushed)
		fprintf(out, ", %" PRIu64 " bytes behind the last flush", n_unflushed);
}

static int print_origin(const struct jfr_run *run, FILE *out)
{
	int err = 0;

	if (run->n_files == 1)
		show_name(run->files[0].name, 0, out);
	else
		fprintf(out, "%zu recordings", run->n_files);
	print_time(run->start_ns, out);
	if (run->end_ns > run->start_ns)
		fprintf(out, " · %.1f s", (double)(run->end_ns - run->start_ns) / 1e9);
	print_chunks(run, out);
	fputc('\n', out);
	if (run->n_files == 1 || are_of_one_jvm(run))
		print_jvm(run, out);
	else
		err = print_all_whose(run, out);
	if (run->summary.dropped)
		fprintf(out, "%" PRId64 " bytes of events were lost by the JVM (jdk.DataLoss)\n",
			run->summary.dropped);
	return err;
}

/* Events are counted before what is asked for is known of them. */
static bool is_filtered(const struct jfr_run *run)
{
	const struct options *opt = run->opt;

	return opt->events || opt->from || opt->to || opt->thread;
}

static int print_top(struct jfr_run *run, FILE *out)
{
	struct options opt = *run->opt;
	struct view v;
	char text[32];
	int err;

	if (!profile_n_samples(run->profile)) {
		fputs(is_filtered(run) ? "\nNo samples of what was asked for.\n"
				       : "\nNo samples.\n",
		      out);
		return 0;
	}
	if (!opt.n_rows)
		opt.n_rows = DEFAULT_ROWS;
	err = view_init(&v, run->profile, &opt, out);
	if (!err) {
		fprintf(out, "\n%s: %s in total\n", v.type,
			scale_print(&v.scale, v.total, text, sizeof(text)));
		err = view_top(&v);
	}
	view_deinit(&v);
	return err;
}

/* "cpu 12.3s · alloc_space 4.5GB": what the other sample types sum up to. */
static void print_sums(const struct jfr_run *run, FILE *out)
{
	const struct profile_header *h = profile_get_header(run->profile);

	if (h->n_sample_types < 2)
		return;
	fputs("\nIn all:", out);
	for (uint32_t i = 0; i < h->n_sample_types; i++) {
		int64_t total = total_of(run->profile, i);
		struct scale scale =
			scale_for(profile_get_string(run->profile, h->sample_types[i].unit), total);
		char text[32];

		fprintf(out, "%s %s %s", i ? " ·" : "",
			profile_get_string(run->profile, h->sample_types[i].type),
			scale_print(&scale, total, text, sizeof(text)));
	}
	fputs(" (--sample-type shows the functions of one)\n", out);
}

struct type_row {
	const char *name;
	struct type_sum sum;
};

static int more_first(const void *a, const void *b)
{
	const struct type_row *x = a, *y = b;

	if (x->sum.count != y->sum.count)
		return x->sum.count > y->sum.count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int print_types(const struct jfr_run *run, FILE *out)
{
	size_t n = summary_n_types(&run->summary);
	size_t shown = table_rows(run->opt, n, DEFAULT_TYPES);
	SCOPED(free) struct type_row *rows = calloc(n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i].name = summary_type(&run->summary, i, &rows[i].sum);
	qsort(rows, n, sizeof(*rows), more_first);
	if (n)
		fprintf(out, "\n%12s %12s  Events%s\n", "Count", "Bytes",
			is_filtered(run) ? " of the whole recording" : "");
	for (size_t i = 0; i < shown; i++) {
		fprintf(out, "%12" PRIu64 " %12" PRIu64 "  ", rows[i].sum.count, rows[i].sum.bytes);
		show_name(rows[i].name, 0, out);
		fputc('\n', out);
	}
	table_print_rest(run->opt, n, shown, out);
	return 0;
}

/* "Stacks: 99.1% complete · 0 lost · 22 stacks deeper than the JVM records" */
static void print_stacks(const struct jfr_run *run, FILE *out)
{
	struct accounting a = accounting_of(run->profile);

	if (!a.walks && !a.lost)
		return;
	fputs("Stacks: ", out);
	accounting_print(&a, out);
	accounting_print_broken(run->profile, out);
	fputc('\n', out);
	if (run->opt->verbose)
		accounting_print_all(run->profile, out);
}

static bool has_cpu(const struct jfr_run *run)
{
	const struct profile_header *h = profile_get_header(run->profile);

	for (uint32_t i = 0; i < h->n_sample_types; i++)
		if (!strcmp(profile_get_string(run->profile, h->sample_types[i].type), "cpu"))
			return profile_n_samples(run->profile);
	return false;
}

/* What each value of a label sums up to, by the profile's default value, when there are so many of
   them; none: what samples without it are called. */
static int print_by(const struct jfr_run *run, const char *label, size_t least, const char *title,
		    const char *none, FILE *out)
{
	const struct profile *p = run->profile;
	const struct value_type *type = &profile_get_header(p)->sample_types[total_default_type(p)];
	struct label_totals t;
	int err = label_totals_init(&t, p, label);
	size_t shown = table_rows(run->opt, t.n, DEFAULT_THREADS);
	struct scale scale;

	if (err || t.n < least || (t.n == 1 && !t.rows[0].text)) {
		label_totals_deinit(&t);
		return err;
	}
	scale = scale_for(profile_get_string(p, type->unit), t.rows[0].value);
	fprintf(out, "\n%12s  %s\n", profile_get_string(p, type->type), title);
	for (size_t i = 0; i < shown; i++) {
		char text[32];

		fprintf(out, "%12s  ", scale_print(&scale, t.rows[i].value, text, sizeof(text)));
		show_name(t.rows[i].text ? profile_get_string(p, t.rows[i].text) : none, 0, out);
		fputc('\n', out);
	}
	table_print_rest(run->opt, t.n, shown, out);
	label_totals_deinit(&t);
	return 0;
}

int jfr_print_summary(struct jfr_run *run, FILE *out)
{
	int err = print_origin(run, out);

	if (!err)
		err = print_top(run, out);
	if (err)
		return err;
	print_sums(run, out);
	print_stacks(run, out);
	err = print_by(run, "service", 2, "Services", "(unknown)", out);
	if (!err)
		err = print_by(run, "host", 2, "Hosts", "(unknown)", out);
	if (!err)
		err = print_by(run, "span_name", 1, "Spans", "(in none with a name)", out);
	if (!err)
		err = print_by(run, "tag", 1, "Spans, by their tags", "(in none)", out);
	if (!err)
		err = print_by(run, "thread", 1, "Threads", "(unknown)", out);
	if (!has_cpu(run))
		tables_print_loads(run->opt, &run->summary, out);
	tables_print_jvm(run->opt, &run->summary, out);
	return err ? err : print_types(run, out);
}

/* What --check is asked for is its result; otherwise it is a message as all others. */
static void print_name(const struct jfr_run *run, const struct jfr_file *f, FILE *out)
{
	if (!run->opt->check)
		fputs("weft: ", out);
	show_name(f->name, 0, out);
}

static void print_damages(const struct jfr_run *run, const struct jfr_file *f, FILE *out)
{
	for (size_t i = 0; i < f->report.n_damages; i++) {
		const struct damage *d = &f->report.damages[i];

		print_name(run, f, out);
		fprintf(out, ": bytes %" PRIu64 " to %" PRIu64 " are lost (%s)\n", d->at,
			d->at + d->len, d->what);
	}
}

void jfr_print_damage(const struct jfr_run *run, FILE *out)
{
	for (size_t i = 0; i < run->n_files; i++) {
		const struct jfr_file *f = &run->files[i];
		const struct recording_report *r = &f->report;

		if (f->reason) {
			print_name(run, f, out);
			fprintf(out, ": %s\n", f->reason);
		}
		print_damages(run, f, out);
		if (!run->opt->check)
			continue;
		print_name(run, f, out);
		fprintf(out, ": %" PRIu64 " chunk%s, %" PRIu64 " bytes lost", r->n_chunks,
			r->n_chunks == 1 ? "" : "s", r->n_lost);
		if (r->n_open)
			fprintf(out, ", %" PRIu64 " not finished by their JVM", r->n_open);
		if (r->n_unflushed)
			fprintf(out, ", %" PRIu64 " bytes behind the last flush", r->n_unflushed);
		if (r->n_unknown)
			fprintf(out, ", %" PRIu64 " events of unknown types", r->n_unknown);
		fputs(r->n_damages || f->reason ? "\n" : ": not damaged\n", out);
	}
}
