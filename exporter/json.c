// SPDX-License-Identifier: Apache-2.0
/*
 * ProfileEvent lines: one JSON object a sample row, with the flat keys that dashboards of that
 * format know. Command lines and environments never appear: they hold secrets.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/names.h"
#include "exporter/values.h"
#include "exporter/who.h"

#define PATH_FRAMES 5 /* frames in stackPath, as its readers expect */

struct writer {
	const struct profile *p;
	FILE *out;
	uint32_t count, value; /* which values: samples, and what they are worth */
	bool is_time;	       /* the value is in nanoseconds */
	bool is_live;	       /* weft's sampler took it */
	int64_t total_count, total_value;
	int64_t *self; /* value of samples whose leaf is in the function, by function id */
};

static void put_string(struct writer *w, const char *key, const char *s)
{
	if (!*s)
		return;
	fprintf(w->out, ",\"%s\":", key);
	text_put_json(s, strlen(s), w->out);
}

static void put_number(struct writer *w, const char *key, int64_t n)
{
	fprintf(w->out, ",\"%s\":%" PRId64, key, n);
}

static void put_time(struct writer *w, int64_t ns)
{
	time_t seconds = ns / 1000000000;
	long part = ns % 1000000000;
	int digits = 9;
	struct tm tm;
	char text[32];

	if (ns <= 0 || !gmtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(w->out, ",\"timestamp\":\"%s", text);
	for (; part && part % 10 == 0; part /= 10)
		digits--;
	if (part)
		fprintf(w->out, ".%0*ld", digits, part);
	fputs("Z\"", w->out);
}

/* The words other profilers use for a language. */
static const char *language_of(enum frame_kind kind)
{
	switch (kind) {
	case FRAME_JAVA:
		return "java";
	case FRAME_PYTHON:
		return "python";
	case FRAME_GO:
		return "go";
	case FRAME_JIT:
	case FRAME_NATIVE:
	case FRAME_KERNEL:
		return frame_kind_name(kind);
	default:
		return "";
	}
}

static bool is_named(const struct frame *f)
{
	if (f->location.flags & LOCATION_UNNAMED)
		return false;
	return f->function->name || f->function->system_name;
}

static const char *file_of(const struct writer *w, const struct frame *f)
{
	return profile_get_string(w->p, f->function->filename);
}

static void put_parts(struct writer *w, const char *class_key, const char *method_key,
		      const struct frame *f)
{
	struct name_parts parts = name_split(f->name, f->location.kind);

	if (parts.scope_len) {
		fprintf(w->out, ",\"%s\":", class_key);
		text_put_json(parts.scope, parts.scope_len, w->out);
	}
	fprintf(w->out, ",\"%s\":", method_key);
	text_put_json(parts.method, parts.method_len, w->out);
}

static void put_bool(struct writer *w, const char *key, bool is_set)
{
	fprintf(w->out, ",\"%s\":%s", key, is_set ? "true" : "false");
}

/* One element of stackFrames. */
static void put_frame(struct writer *w, const struct frame *f, size_t depth)
{
	const struct function *fn = f->function;

	fprintf(w->out, "%s{\"depth\":%zu", depth ? "," : "", depth);
	put_string(w, "function", f->name);
	put_parts(w, "class", "method", f);
	put_string(w, "file", file_of(w, f));
	if (f->line)
		put_number(w, "line", f->line);
	if (f->location.address)
		fprintf(w->out, ",\"address\":\"0x%" PRIx64 "\"", f->location.address);
	put_string(w, "module", path_basename(profile_get_string(w->p, f->mapping->filename)));
	put_string(w, "buildId", profile_get_string(w->p, f->mapping->build_id));
	put_bool(w, "isKernel", f->location.kind == FRAME_KERNEL);
	put_bool(w, "isInline", f->is_inline);
	put_bool(w, "demangled", fn->system_name && fn->name && fn->name != fn->system_name);
	put_string(w, "type", frame_kind_name(f->location.kind));
	if (f->location.flags & LOCATION_GUESSED)
		put_bool(w, "guessed", true);
	fputc('}', w->out);
}

typedef void frame_fn(struct writer *w, const struct frame *f, size_t depth);

/* Calls fn for each frame, leaf first; returns how many there are. */
static size_t each_frame(struct writer *w, uint32_t stack, size_t max, frame_fn *fn)
{
	size_t n, depth = 0;
	const uint32_t *locations = profile_get_stack(w->p, stack, &n);

	for (size_t i = 0; i < n && depth < max; i++) {
		size_t n_frames = location_n_frames(w->p, locations[i]);

		for (size_t j = 0; j < n_frames && depth < max; j++) {
			struct frame f;

			location_frame(w->p, locations[i], j, &f);
			fn(w, &f, depth++);
		}
	}
	return depth;
}

static void put_path_frame(struct writer *w, const struct frame *f, size_t depth)
{
	if (depth)
		fputs(" <- ", w->out);
	fputs(f->name, w->out);
}

static void put_trace_frame(struct writer *w, const struct frame *f, size_t depth)
{
	struct name_parts parts = name_split(f->name, f->location.kind);

	fputs(depth ? ",{\"class\":" : "{\"class\":", w->out);
	text_put_json(parts.scope, parts.scope_len, w->out);
	fputs(",\"method\":", w->out);
	text_put_json(parts.method, parts.method_len, w->out);
	fprintf(w->out, ",\"line\":%u}", f->line);
}

/* A string value that is itself text made of frames. */
static int put_text(struct writer *w, const char *key, uint32_t stack, size_t max, frame_fn *fn,
		    bool is_array)
{
	SCOPED(free) char *text = NULL;
	size_t len;
	struct writer inner = *w;

	inner.out = open_memstream(&text, &len);
	if (!inner.out)
		return -ENOMEM;
	fputs(is_array ? "[" : "", inner.out);
	each_frame(&inner, stack, max, fn);
	fputs(is_array ? "]" : "", inner.out);
	if (fclose(inner.out))
		return -ENOMEM;
	fprintf(w->out, ",\"%s\":", key);
	text_put_json(text, len, w->out);
	return 0;
}

struct tally {
	size_t n, n_kernel, n_user, n_named;
	const char *language; /* of the innermost frame that is no kernel's, else the kernel's */
};

static struct tally tally_stack(const struct profile *p, uint32_t stack)
{
	struct tally t = { .language = "" };
	size_t n;
	const uint32_t *locations = profile_get_stack(p, stack, &n);

	for (size_t i = 0; i < n; i++) {
		size_t n_frames = location_n_frames(p, locations[i]);
		enum frame_kind kind = profile_get_location(p, locations[i]).kind;
		struct frame f;

		location_frame(p, locations[i], 0, &f);
		if (!t.n_user)
			t.language = language_of(kind);
		t.n += n_frames;
		t.n_named += is_named(&f) ? n_frames : 0;
		t.n_kernel += kind == FRAME_KERNEL ? n_frames : 0;
		t.n_user += kind != FRAME_KERNEL && kind != FRAME_MARK ? n_frames : 0;
	}
	return t;
}

static int put_stack(struct writer *w, const struct sample *s)
{
	struct tally t = tally_stack(w->p, s->stack);
	int err;

	put_number(w, "stackDepth", (int64_t)t.n);
	put_number(w, "kernelFrames", (int64_t)t.n_kernel);
	put_number(w, "userFrames", (int64_t)t.n_user);
	put_string(w, "language", t.language);
	put_string(w, "resolutionStatus",
		   t.n_named == t.n ? "resolved"
		   : t.n_named	    ? "partial"
				    : "unresolved");
	err = put_text(w, "stackPath", s->stack, PATH_FRAMES, put_path_frame, false);
	if (!err)
		err = put_text(w, "stackTrace", s->stack, SIZE_MAX, put_trace_frame, true);
	fputs(",\"stackFrames\":[", w->out);
	each_frame(w, s->stack, SIZE_MAX, put_frame);
	fputc(']', w->out);
	return err;
}

static void put_top(struct writer *w, const struct sample *s)
{
	size_t depth;
	const uint32_t *stack = profile_get_stack(w->p, s->stack, &depth);
	size_t n_lines;
	const struct line *lines;
	struct frame f;
	int64_t self;

	if (!depth)
		return;
	location_frame(w->p, stack[0], 0, &f);
	put_string(w, "topFunction", f.name);
	put_parts(w, "topClass", "topMethod", &f);
	lines = profile_get_lines(w->p, stack[0], &n_lines);
	self = n_lines ? w->self[lines[0].function] : s->values[w->value];
	if (w->is_time)
		fprintf(w->out, ",\"selfTimeMs\":%.3f", (double)self / 1e6);
	if (w->total_value > 0)
		fprintf(w->out, ",\"selfTimePercent\":%.3f",
			100.0 * (double)self / (double)w->total_value);
}

static void put_who(struct writer *w, const struct sample *s)
{
	struct who who = who_of(w->p, s->labels);
	uint32_t program = profile_get_mapping(w->p, stack_program(w->p, s->stack))->filename;
	const char *path = profile_get_string(w->p, program);
	const char *process = profile_get_string(w->p, who.process);

	put_string(w, "serviceName", process);
	put_string(w, "appName", process);
	put_string(w, "hostname", profile_get_string(w->p, profile_get_header(w->p)->hostname));
	if (who.pid)
		put_number(w, "pid", who.pid);
	if (who.tid) {
		put_number(w, "tid", who.tid);
		put_number(w, "threadId", who.tid);
	}
	put_string(w, "comm", profile_get_string(w->p, who.thread));
	put_string(w, "threadName", profile_get_string(w->p, who.thread));
	put_string(w, "containerId", profile_get_string(w->p, who.container));
	put_string(w, "appBinary", path_basename(path));
	put_string(w, "process.executable.name", path_basename(path));
	put_string(w, "process.executable.path", path);
}

/* Labels that have no key of their own in a ProfileEvent. */
static void put_labels(struct writer *w, const struct sample *s)
{
	size_t n, n_put = 0;
	const struct label *l = profile_get_labels(w->p, s->labels, &n);

	for (size_t i = 0; i < n; i++) {
		const char *key = profile_get_string(w->p, l[i].key);
		const char *str = profile_get_string(w->p, l[i].str);

		if (who_has(w->p, &l[i]))
			continue;
		fputs(n_put++ ? "," : ",\"labels\":{", w->out);
		text_put_json(key, strlen(key), w->out);
		fputc(':', w->out);
		if (l[i].str)
			text_put_json(str, strlen(str), w->out);
		else
			fprintf(w->out, "%" PRId64, l[i].num);
	}
	fputs(n_put ? "}" : "", w->out);
}

static int put_event(struct writer *w, const struct sample *s)
{
	const struct profile_header *h = profile_get_header(w->p);
	const char *type = profile_get_string(w->p, h->sample_types[w->value].type);
	const char *source = w->is_live ? "ebpf" : "pprof";
	bool is_cpu = !strcmp(type, "cpu");
	int err;

	fprintf(w->out, "{\"eventType\":\"%s.%s\"", source, is_cpu ? "CPUSample" : "Sample");
	put_time(w, s->time_ns ? (int64_t)s->time_ns : h->time_ns);
	put_string(w, "profileType", type);
	put_string(w, "profileSource", source);
	put_who(w, s);
	put_top(w, s);
	put_number(w, "sampleWeight", s->values[w->count]);
	if (w->is_time)
		put_number(w, "durationNs", s->values[w->value]);
	if (value_index(w->p, "samples") == (int)w->count)
		put_number(w, "totalSamples", w->total_count);
	err = put_stack(w, s);
	put_labels(w, s);
	fputs("}\n", w->out);
	return err ? err : ferror(w->out) ? -EIO : 0;
}

/* Sums of a hostile profile wrap. */
static void add(int64_t *sum, int64_t n)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)n);
}

/* What each function's own frames are worth. */
static void learn_self(struct writer *w)
{
	for (uint32_t i = 0; i < profile_n_samples(w->p); i++) {
		const struct sample *s = profile_get_sample(w->p, i);
		size_t depth, n_lines = 0;
		const uint32_t *stack = profile_get_stack(w->p, s->stack, &depth);
		const struct line *lines = profile_get_lines(w->p, depth ? stack[0] : 0, &n_lines);

		if (n_lines)
			add(&w->self[lines[0].function], s->values[w->value]);
	}
}

static bool has_count(const struct profile *p, const char *name)
{
	uint64_t n;

	for (uint32_t i = 0; i < profile_n_counts(p); i++)
		if (!strcmp(profile_get_count(p, i, &n), name))
			return true;
	return false;
}

static int json_write(const struct profile *p, FILE *out)
{
	SCOPED(free) int64_t *self = calloc((size_t)profile_n_functions(p) + 1, sizeof(*self));
	struct writer w = { .p = p, .out = out, .self = self };
	const struct value_type *type;
	int err = 0;

	if (!self)
		return -ENOMEM;
	w.count = value_count(p);
	w.value = value_default(p);
	type = &profile_get_header(p)->sample_types[w.value];
	w.is_time = !strcmp(profile_get_string(p, type->unit), "nanoseconds");
	w.is_live = has_count(p, "ticks.sampled");
	w.total_count = value_total(p, w.count, w.value);
	w.total_value = value_total(p, w.value, w.value);
	learn_self(&w);
	for (uint32_t i = 0; i < profile_n_samples(p) && !err; i++) {
		const struct sample *s = profile_get_sample(p, i);

		if (value_is_shown(s, w.value))
			err = put_event(&w, s);
	}
	return err;
}

const struct exporter_ops exporter_json = {
	.name = "json",
	.extension = ".json",
	.help = "ProfileEvent lines: one JSON object a stack and thread",
	.write = json_write,
};
