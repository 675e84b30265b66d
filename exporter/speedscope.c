// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope's file format (https://www.speedscope.app/file-format-schema.json): one sampled
 * profile a thread, the one that is worth most first, and frames that they share.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/names.h"
#include "exporter/values.h"
#include "exporter/who.h"

/* The samples of one thread, as a list through writer.next. */
struct thread {
	uint32_t who;	      /* id in writer.whos */
	uint32_t first, last; /* index + 1 */
	uint64_t total;
};

struct writer {
	const struct profile *p;
	FILE *out;
	uint32_t value;
	struct intern *whos, *frames; /* a frame's index in the file is its id - 1 */
	struct thread *threads;	      /* of who id - 1 */
	uint32_t *next;		      /* by index: the thread's next sample, as index + 1; 0 ends */
};

/* A frame is its function, or a name that was made when there is none. */
struct frame_key {
	uint32_t function;
	char made[sizeof(((struct frame *)0)->made)];
};

static uint32_t frame_index(struct writer *w, const struct frame *f, uint32_t function)
{
	struct frame_key key = { .function = function };
	size_t len = sizeof(key.function);

	if (!function) {
		size_t name_len = strnlen(f->name, sizeof(key.made));

		memcpy(key.made, f->name, name_len);
		len += name_len;
	}
	return intern_add(w->frames, &key, len);
}

/* Root first. */
static int put_stack(struct writer *w, uint32_t stack)
{
	const char *separator = "";
	size_t depth;
	const uint32_t *locations = profile_get_stack(w->p, stack, &depth);

	fputc('[', w->out);
	while (depth--) {
		size_t n_lines;
		const struct line *lines = profile_get_lines(w->p, locations[depth], &n_lines);

		for (size_t i = location_n_frames(w->p, locations[depth]); i--;) {
			struct frame f;
			uint32_t index;

			location_frame(w->p, locations[depth], i, &f);
			index = frame_index(w, &f, i < n_lines ? lines[i].function : 0);
			if (!index)
				return -ENOMEM;
			fprintf(w->out, "%s%u", separator, index - 1);
			separator = ",";
		}
	}
	fputc(']', w->out);
	return 0;
}

static void put_frame(struct writer *w, uint32_t id)
{
	size_t len;
	const struct frame_key *key = intern_get(w->frames, id, &len);
	const struct function *fn = profile_get_function(w->p, key->function);
	const char *file = profile_get_string(w->p, fn->filename);
	const char *name = profile_get_string(w->p, fn->name ? fn->name : fn->system_name);

	fputs(id > 1 ? ",\n{\"name\":" : "{\"name\":", w->out);
	if (key->function && *name)
		text_put_json(name, strlen(name), w->out);
	else if (key->function)
		fputs("\"[unknown]\"", w->out);
	else
		text_put_json(key->made, len - sizeof(key->function), w->out);
	if (*file) {
		fputs(",\"file\":", w->out);
		text_put_json(file, strlen(file), w->out);
	}
	if (fn->start_line)
		fprintf(w->out, ",\"line\":%u", fn->start_line);
	fputc('}', w->out);
}

/* "worker/0 44", or what of it is known. */
static void add_name(FILE *out, const char *before, const char *name, int64_t id)
{
	if (*name || id)
		fputs(before, out);
	fputs(name, out);
	if (id)
		fprintf(out, "%s%" PRId64, *name ? " " : "", id);
}

/* "server 42, worker/0 44" */
static int put_thread_name(struct writer *w, const struct who *who)
{
	const char *process = profile_get_string(w->p, who->process);
	const char *thread = profile_get_string(w->p, who->thread);
	SCOPED(free) char *name = NULL;
	size_t len;
	FILE *made = open_memstream(&name, &len);

	if (!made)
		return -ENOMEM;
	add_name(made, "", process, who->pid);
	add_name(made, *process || who->pid ? ", " : "", thread, who->tid);
	if (fclose(made))
		return -ENOMEM;
	if (!len)
		text_put_json("all samples", strlen("all samples"), w->out);
	else
		text_put_json(name, len, w->out);
	return 0;
}

static const char *unit_of(const struct profile *p, uint32_t value)
{
	static const char *const units[] = { "nanoseconds", "microseconds", "milliseconds",
					     "seconds", "bytes" };
	const char *unit = profile_get_string(p, profile_get_header(p)->sample_types[value].unit);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i]))
			return units[i];
	return "none";
}

static int put_thread(struct writer *w, const struct thread *t)
{
	int err;

	fputs("{\"type\":\"sampled\",\"name\":", w->out);
	err = put_thread_name(w, intern_get(w->whos, t->who, NULL));
	fprintf(w->out,
		",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		unit_of(w->p, w->value), t->total);
	for (uint32_t i = t->first; i && !err; i = w->next[i - 1]) {
		fputs(i == t->first ? "" : ",", w->out);
		err = put_stack(w, profile_get_sample(w->p, i - 1)->stack);
	}
	fputs("],\n\"weights\":[", w->out);
	for (uint32_t i = t->first; i; i = w->next[i - 1])
		fprintf(w->out, "%s%" PRId64, i == t->first ? "" : ",",
			profile_get_sample(w->p, i - 1)->values[w->value]);
	fputs("]}", w->out);
	return err;
}

/* Puts each sample that is worth something into its thread's list. */
static int sort_out(struct writer *w)
{
	for (uint32_t i = 0; i < profile_n_samples(w->p); i++) {
		const struct sample *s = profile_get_sample(w->p, i);
		struct who who = who_of(w->p, s->labels);
		struct thread *t;
		uint32_t id;

		if (s->values[w->value] <= 0)
			continue;
		id = intern_add(w->whos, &who, sizeof(who));
		if (!id)
			return -ENOMEM;
		t = &w->threads[id - 1];
		t->who = id;
		t->total += (uint64_t)s->values[w->value];
		if (t->last)
			w->next[t->last - 1] = i + 1;
		else
			t->first = i + 1;
		t->last = i + 1;
	}
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->who < y->who ? -1 : x->who > y->who;
}

static int put_file(struct writer *w)
{
	uint32_t n_threads;
	int err = sort_out(w);

	if (err)
		return err;
	n_threads = intern_count(w->whos);
	qsort(w->threads, n_threads, sizeof(*w->threads), by_total);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"weft " WEFT_VERSION "\",\"activeProfileIndex\":0,\n\"profiles\":[",
	      w->out);
	for (uint32_t i = 0; i < n_threads && !err; i++) {
		fputs(i ? ",\n" : "", w->out);
		err = put_thread(w, &w->threads[i]);
	}
	fputs("],\n\"shared\":{\"frames\":[", w->out);
	for (uint32_t id = 1; id <= intern_count(w->frames); id++)
		put_frame(w, id);
	fputs("]}}\n", w->out);
	return err ? err : ferror(w->out) ? -EIO : 0;
}

static int speedscope_write(const struct profile *p, FILE *out)
{
	size_t n = (size_t)profile_n_samples(p) + 1;
	SCOPED(free) struct thread *threads = calloc(n, sizeof(*threads));
	SCOPED(free) uint32_t *next = calloc(n, sizeof(*next));
	struct writer w = { .p = p, .out = out, .threads = threads, .next = next };
	int err = -ENOMEM;

	w.value = value_default(p);
	w.whos = intern_new();
	w.frames = intern_new();
	if (threads && next && w.whos && w.frames)
		err = put_file(&w);
	intern_free(w.whos);
	intern_free(w.frames);
	return err;
}

const struct exporter_ops exporter_speedscope = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.help = "for speedscope.app: a profile for each thread",
	.write = speedscope_write,
};
