// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/dump.h"
#include "cmd/python_path.h"
#include "cmd/show.h"
#include "core/intern.h"
#include "core/scoped.h"

#define REPEATS_SHOWN 3 /* of the same place right below itself */
#define MAX_DEPTH 256	/* of tasks below one another; what is deeper begins anew at the left */

SCOPED_DEFINE(struct intern, intern_free)

struct printing {
	struct dump_tree tree;
	FILE *out;
	bool all; /* every task by itself, and whole paths */
	bool *is_shown;
	/* Tasks of the same place, when not all of them are shown: { parent, what it is } and how
	   many there are of it. */
	struct intern *alike;
	uint32_t *n_alike;
	uint32_t *group; /* of a task, 0: it is shown by itself */
	/* Of the stack that is being printed: its last place, and how many times in a row. */
	struct python_place last;
	size_t n_last;
};

static void indent(FILE *out, int depth)
{
	fprintf(out, "%*s", 4 * depth, "");
}

static void print_function(const struct printing *p, const struct python_place *place, int depth)
{
	const struct python_function *f =
		python_functions_get(p->tree.dump->functions, place->function);

	indent(p->out, depth);
	if (!f) {
		fputs("[unknown Python code]\n", p->out);
		return;
	}
	show_name(f->name, 0, p->out);
	fputs(" (", p->out);
	show_name(p->all ? f->code.file : python_path_short(f->code.file), 0, p->out);
	if (place->line)
		fprintf(p->out, ":%d", place->line);
	fputs(")\n", p->out);
}

static void end_places(struct printing *p, int depth)
{
	if (p->n_last > REPEATS_SHOWN) {
		indent(p->out, depth);
		fprintf(p->out, "[the same %zu more times]\n", p->n_last - REPEATS_SHOWN);
	}
	p->n_last = 0;
}

static void print_place(struct printing *p, const struct python_place *place, int depth)
{
	if (p->n_last && (place->function != p->last.function || place->line != p->last.line))
		end_places(p, depth);
	p->last = *place;
	if (p->n_last++ < REPEATS_SHOWN)
		print_function(p, place, depth);
}

static void print_thread_name(const struct python_thread *t, FILE *out)
{
	if (t->tid)
		fprintf(out, "thread %d", (int)t->tid);
	else
		fprintf(out, "thread of unknown id");
	if (t->name) {
		fputc(' ', out);
		show_name(t->name, 0, out);
	}
}

static void print_thread(struct printing *p, const struct python_thread *t)
{
	print_thread_name(t, p->out);
	if (t->has_gil)
		fputs(", has the GIL", p->out);
	if (p->tree.dump->threads.interps[t->interp].id)
		fprintf(p->out, ", interpreter %" PRId64,
			p->tree.dump->threads.interps[t->interp].id);
	if (t->is_torn)
		fputs(", runs: these frames may never have been there together", p->out);
	fputc('\n', p->out);
	if (t->is_cut)
		fputs("    [the rest could not be read]\n", p->out);
	if (!t->n_frames && !t->is_cut)
		fputs("    no Python frames\n", p->out);
	for (size_t i = t->n_frames; i > 0; i--)
		print_place(p, &t->frames[i - 1].place, 1);
	end_places(p, 1);
	fputc('\n', p->out);
}

/* Two that nobody could tell apart but for their names are in the same group. */
static uint32_t group_of(struct printing *p, uint32_t parent, uint32_t i)
{
	const struct python_tasks *ts = &p->tree.dump->tasks;
	const struct python_task *t = &ts->tasks[i];
	uint64_t key[5] = { parent, (uint64_t)t->state << 32 | t->n_places,
			    (uint64_t)t->via << 32 | t->call, t->loop,
			    t->n_places ? hash_bytes(&ts->places[t->first_place],
						     t->n_places * sizeof(*ts->places))
					: 0 };

	if (p->tree.first[i] != p->tree.first[i + 1] || t->awaits_task || t->n_waiters > 1 ||
	    t->state == PYTHON_TASK_RUNNING)
		return 0;
	return intern_add(p->alike, key, sizeof(key));
}

static void find_groups(struct printing *p)
{
	const struct dump_tree *tree = &p->tree;
	size_t n = tree->dump->tasks.n;

	for (uint32_t i = 0; i < n; i++) {
		if (tree->is_root[i])
			p->group[i] = group_of(p, UINT32_MAX, i);
		for (uint32_t j = tree->first[i]; j < tree->first[i + 1]; j++)
			p->group[tree->children[j]] = group_of(p, i, tree->children[j]);
	}
	for (size_t i = 0; i < n; i++)
		if (p->group[i])
			p->n_alike[p->group[i]]++;
}

/* "for 12.3 s, 2987.7 s to go". What lies in the future or the past is by another clock. */
static void print_timer(const struct python_dump *d, const struct python_timer *timer, FILE *out)
{
	double waited, left;

	if (dump_waited(d, timer, &waited))
		fprintf(out, ", for %.1f s", waited);
	if (dump_left(d, timer, &left))
		fprintf(out, ", %.1f s to go at most", left);
}

static void print_head(const struct printing *p, const struct python_task *t, enum python_via via)
{
	const struct python_dump *d = p->tree.dump;
	const struct python_function *f = python_functions_get(d->functions, t->coroutine);
	char reason[PYTHON_REASON_MAX];

	if (t->name)
		show_name(t->name, 0, p->out);
	else if (f)
		show_name(f->name, 0, p->out);
	else
		fprintf(p->out, "task at %#" PRIx64, t->addr);
	if (via != PYTHON_VIA_AWAIT)
		fprintf(p->out, " [%s]", python_via_name(via));
	fprintf(p->out, ": %s", python_task_state_name((enum python_task_state)t->state));
	python_task_reason(t, d->functions, reason);
	if (*reason) {
		fputs(", ", p->out);
		show_name(reason, 0, p->out);
	}
	if (!t->is_started)
		fputs(", not started", p->out);
	print_timer(d, &t->timer, p->out);
}

static void print_span(const struct python_task *t, FILE *out)
{
	char trace[PYTHON_ID_LEN], span[PYTHON_ID_LEN];

	if (!t->has_span)
		return;
	python_id_text(t->span.trace_id, sizeof(t->span.trace_id), trace);
	python_id_text(t->span.span_id, sizeof(t->span.span_id), span);
	fputs(", in span ", out);
	if (t->span_name) {
		show_name(t->span_name, 0, out);
		fputc(' ', out);
	}
	fprintf(out, "%s of trace %s", span, trace);
}

static void print_task(struct printing *p, uint32_t i, enum python_via via, int depth)
{
	const struct python_tasks *ts = &p->tree.dump->tasks;
	const struct python_task *t = &ts->tasks[i];
	uint32_t n_more = p->group[i] ? p->n_alike[p->group[i]] : 1;

	if (!n_more)
		return; /* it was counted with another one */
	indent(p->out, depth);
	print_head(p, t, via);
	if (p->is_shown[i]) {
		fputs(" (shown above)\n", p->out);
		return;
	}
	p->is_shown[i] = true;
	if (n_more > 1)
		fprintf(p->out, ", and %" PRIu32 " more like it", n_more - 1);
	else
		print_span(t, p->out);
	fputc('\n', p->out);
	if (p->group[i])
		p->n_alike[p->group[i]] = 0;
	for (uint32_t j = 0; j < t->n_places; j++)
		print_place(p, &ts->places[t->first_place + j], depth + 2);
	end_places(p, depth + 2);
	if (t->is_cut) {
		indent(p->out, depth + 2);
		fputs("[broken: awaits in a circle, or too deep]\n", p->out);
	}
	for (uint32_t j = p->tree.first[i]; depth < MAX_DEPTH && j < p->tree.first[i + 1]; j++)
		print_task(p, p->tree.children[j], p->tree.via[j], depth + 1);
}

/* The tasks of a loop, from one place in their order on: those that nobody waits for, with all that
   hangs from them; then what is left, which waits for itself. Returns where the next loop begins.
 */
static size_t print_loop(struct printing *p, size_t first)
{
	const struct python_dump *d = p->tree.dump;
	const struct python_task *tasks = d->tasks.tasks;
	const uint32_t *order = p->tree.order;
	uint64_t loop = tasks[order[first]].loop;
	const struct python_thread *thread = python_dump_thread(d, &tasks[order[first]]);
	size_t end = first;

	fputs("tasks of ", p->out);
	if (thread)
		print_thread_name(thread, p->out);
	else
		fputs("a loop that no thread runs", p->out);
	fputc('\n', p->out);
	while (end < d->tasks.n && tasks[order[end]].loop == loop)
		end++;
	for (int only_roots = 1; only_roots >= 0; only_roots--)
		for (size_t i = first; i < end; i++)
			if (!p->is_shown[order[i]] && (!only_roots || p->tree.is_root[order[i]]))
				print_task(p, order[i], PYTHON_VIA_AWAIT, 1);
	fputc('\n', p->out);
	return end;
}

static void print_ends(const struct python_dump *d, FILE *out)
{
	if (d->tasks.n_changed)
		fprintf(out, "%zu tasks kept changing while they were read and are left out\n",
			d->tasks.n_changed);
	if (d->is_cut)
		fputs("there are more threads or tasks than weft reads\n", out);
}

static void print_all(struct printing *p, pid_t pid)
{
	const struct python_dump *d = p->tree.dump;
	char version[16];

	fprintf(p->out, "process %d: CPython %s, %zu thread%s, %zu asyncio task%s\n\n", (int)pid,
		dump_version(d->version, version), d->threads.n_threads,
		d->threads.n_threads == 1 ? "" : "s", d->tasks.n, d->tasks.n == 1 ? "" : "s");
	for (size_t i = d->threads.n_threads; i > 0; i--) /* the oldest is last in their list */
		print_thread(p, &d->threads.threads[i - 1]);
	for (size_t i = 0; i < d->tasks.n;)
		i = print_loop(p, i);
}

int dump_print_text(const struct python_dump *d, pid_t pid, bool all, FILE *out)
{
	SCOPED(intern_free) struct intern *alike = intern_new();
	SCOPED(free) bool *is_shown = calloc(d->tasks.n + 1, sizeof(*is_shown));
	SCOPED(free) uint32_t *group = calloc(d->tasks.n + 1, sizeof(*group));
	/* Each task may be in a group of its own. */
	SCOPED(free)
	uint32_t *n_alike = calloc(2 * d->tasks.n + d->tasks.waiters.n + 2, sizeof(*n_alike));
	struct printing p = { .out = out,
			      .all = all,
			      .is_shown = is_shown,
			      .alike = alike,
			      .n_alike = n_alike,
			      .group = group };
	int err = alike && is_shown && group && n_alike ? dump_tree_init(&p.tree, d) : -ENOMEM;

	if (!err && !all)
		find_groups(&p);
	if (!err) {
		print_all(&p, pid);
		print_ends(d, out);
	}
	dump_tree_deinit(&p.tree);
	return err;
}
