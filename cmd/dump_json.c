// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "cmd/dump.h"
#include "core/text.h"

static void put_string(const char *s, FILE *out)
{
	if (s)
		text_put_json(s, strlen(s), out);
	else
		fputs("null", out);
}

static void put_addr(uint64_t addr, FILE *out)
{
	if (addr)
		fprintf(out, "\"%#" PRIx64 "\"", addr);
	else
		fputs("null", out);
}

static void put_place(const struct python_dump *d, const struct python_place *place, bool is_first,
		      FILE *out)
{
	const struct python_function *f = python_functions_get(d->functions, place->function);

	fputs(is_first ? "{\"function\":" : ",{\"function\":", out);
	put_string(f ? f->name : NULL, out);
	fputs(",\"file\":", out);
	put_string(f ? f->code.file : NULL, out);
	fprintf(out, ",\"line\":%d}", place->line);
}

static const char *boolean(bool is)
{
	return is ? "true" : "false";
}

static void put_thread(const struct python_dump *d, const struct python_thread *t, FILE *out)
{
	fprintf(out, "{\"tid\":%d,\"name\":", (int)t->tid);
	put_string(t->name, out);
	fprintf(out,
		",\"interpreter\":%" PRId64
		",\"has_gil\":%s,\"is_torn\":%s,\"is_cut\":%s,\"loop\":",
		d->threads.interps[t->interp].id, boolean(t->has_gil), boolean(t->is_torn),
		boolean(t->is_cut));
	put_addr(t->loop, out);
	fputs(",\"task\":", out);
	put_addr(t->task, out);
	fputs(",\"stack\":[", out);
	for (size_t i = t->n_frames; i > 0; i--)
		put_place(d, &t->frames[i - 1].place, i == t->n_frames, out);
	fputs("]}", out);
}

static void put_seconds(const char *key, const double *seconds, FILE *out)
{
	fprintf(out, ",\"%s\":", key);
	if (seconds)
		fprintf(out, "%.3f", *seconds);
	else
		fputs("null", out);
}

static void put_span(const struct python_task *t, FILE *out)
{
	char trace[PYTHON_ID_LEN] = "", span[PYTHON_ID_LEN] = "";

	if (t->has_span) {
		python_id_text(t->span.trace_id, sizeof(t->span.trace_id), trace);
		python_id_text(t->span.span_id, sizeof(t->span.span_id), span);
	}
	fputs(",\"trace_id\":", out);
	put_string(*trace ? trace : NULL, out);
	fputs(",\"span_id\":", out);
	put_string(*span ? span : NULL, out);
	fputs(",\"span_name\":", out);
	put_string(t->span_name, out);
}

static void put_task(const struct python_dump *d, const struct python_task *t, FILE *out)
{
	const struct python_function *f = python_functions_get(d->functions, t->coroutine);
	const struct python_thread *thread = python_dump_thread(d, t);
	char reason[PYTHON_REASON_MAX];
	double seconds = 0;

	fputs("{\"id\":", out);
	put_addr(t->addr, out);
	fputs(",\"name\":", out);
	put_string(t->name, out);
	fprintf(out, ",\"state\":\"%s\",\"coroutine\":",
		python_task_state_name((enum python_task_state)t->state));
	put_string(f ? f->name : NULL, out);
	fputs(",\"loop\":", out);
	put_addr(t->loop, out);
	fprintf(out, ",\"tid\":%d,\"is_started\":%s,\"is_cut\":%s,\"reason\":",
		thread ? (int)thread->tid : 0, boolean(t->is_started), boolean(t->is_cut));
	put_string(python_task_reason(t, d->functions, reason), out);
	put_seconds("waited_s", dump_waited(d, &t->timer, &seconds) ? &seconds : NULL, out);
	put_seconds("left_s", dump_left(d, &t->timer, &seconds) ? &seconds : NULL, out);
	fprintf(out, ",\"%s\":", t->awaits_task ? "awaits_task" : "awaits_future");
	put_addr(t->awaits, out);
	put_span(t, out);
	fputs(",\"awaited_by\":[", out);
	for (uint32_t i = 0; i < t->n_waiters; i++) {
		const struct python_waiter *w = &d->tasks.waiters.items[t->first_waiter + i];

		fprintf(out, "%s{\"task\":\"%#" PRIx64 "\",\"via\":\"%s\"}", i ? "," : "", w->task,
			python_via_name(w->via));
	}
	fputs("],\"stack\":[", out);
	for (uint32_t i = 0; i < t->n_places; i++)
		put_place(d, &d->tasks.places[t->first_place + i], !i, out);
	fputs("]}", out);
}

void dump_print_json(const struct python_dump *d, pid_t pid, FILE *out)
{
	char version[16];

	fprintf(out, "{\"pid\":%d,\"runtime\":\"CPython\",\"version\":\"%s\",\n\"threads\":[",
		(int)pid, dump_version(d->version, version));
	for (size_t i = d->threads.n_threads; i > 0; i--) {
		fputs(i == d->threads.n_threads ? "\n" : ",\n", out);
		put_thread(d, &d->threads.threads[i - 1], out);
	}
	fputs("],\n\"tasks\":[", out);
	for (size_t i = 0; i < d->tasks.n; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_task(d, &d->tasks.tasks[i], out);
	}
	fprintf(out, "],\n\"n_changed\":%zu,\"is_cut\":%s}\n", d->tasks.n_changed,
		boolean(d->is_cut));
}
