// SPDX-License-Identifier: Apache-2.0
#include "jfr/event_line.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "jfr/chunk.h"
#include "jfr/layout.h"
#include "jfr/place.h"
#include "jfr/secret.h"

#define PATH_FRAMES 5 /* frames in stackPath, as its readers expect */

static void put_key(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	text_put_json(text, strlen(text), out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
	if (*text)
		put_key(out, key, text);
}

static void put_number(FILE *out, const char *key, int64_t n)
{
	fprintf(out, ",\"%s\":%" PRId64, key, n);
}

void event_lines_deinit(struct event_lines *l)
{
	free(l->room.text);
	free(l->whose);
}

void event_lines_set_whose(struct event_lines *l, const struct event_line_key *keys, size_t n,
			   int64_t pid)
{
	size_t len;
	FILE *out;

	free(l->whose);
	l->whose = NULL;
	out = open_memstream(&l->whose, &len);
	l->err = out ? 0 : -ENOMEM;
	if (!out)
		return;
	for (size_t i = 0; i < n; i++)
		if (!i || *keys[i].value)
			put_key(out, keys[i].key, keys[i].value);
	if (pid)
		put_number(out, "pid", pid);
	if (fclose(out))
		l->err = -ENOMEM;
}

/* In UTC, with nanoseconds. */
static void put_time(FILE *out, const char *key, int64_t ns)
{
	int64_t part = ns % 1000000000;
	time_t seconds = (time_t)(ns / 1000000000) - (part < 0);
	struct tm tm;
	char text[32];

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	fprintf(out, ",\"%s\":\"%s.%09" PRId64 "Z\"", key, text,
		part < 0 ? part + 1000000000 : part);
}

static const char *frame_type(enum java_frame_type type)
{
	static const char *const names[] = {
		[JAVA_INTERPRETED] = "interpreted",
		[JAVA_COMPILED] = "compiled",
		[JAVA_C1] = "c1",
		[JAVA_INLINED] = "inlined",
		[JAVA_NATIVE_METHOD] = "native_method",
		[JAVA_NATIVE] = "native",
		[JAVA_KERNEL] = "kernel",
		[JAVA_OTHER_CODE] = "unknown",
	};

	return names[type];
}

static void put_name(FILE *out, const struct java_method *m)
{
	if (*m->class->name)
		fprintf(out, "%s.", m->class->name);
	fputs(m->name, out);
}

/* A key whose value is made of several parts. */
static int put_made(FILE *out, const char *key, const struct java_stack *s,
		    void (*put)(FILE *out, const struct java_stack *s))
{
	SCOPED(free) char *text = NULL;
	size_t len;
	FILE *made = open_memstream(&text, &len);

	if (!made)
		return -ENOMEM;
	put(made, s);
	if (fclose(made))
		return -ENOMEM;
	fprintf(out, ",\"%s\":", key);
	text_put_json(text, len, out);
	return 0;
}

static void put_path(FILE *out, const struct java_stack *s)
{
	for (size_t i = 0; i < s->n && i < PATH_FRAMES; i++) {
		fputs(i ? " <- " : "", out);
		put_name(out, s->frames[i]->method);
	}
}

static void put_top(FILE *out, const struct java_stack *s)
{
	put_name(out, s->frames[0]->method);
}

static void put_trace(FILE *out, const struct java_stack *s)
{
	fputc('[', out);
	for (size_t i = 0; i < s->n; i++) {
		const struct java_frame *f = s->frames[i];

		fputs(i ? ",{\"class\":" : "{\"class\":", out);
		text_put_json(f->method->class->name, strlen(f->method->class->name), out);
		fputs(",\"method\":", out);
		text_put_json(f->method->name, strlen(f->method->name), out);
		fprintf(out, ",\"line\":%d}", f->line);
	}
	fputc(']', out);
}

static void put_frames(FILE *out, const struct java_stack *s)
{
	fputs(",\"stackFrames\":[", out);
	for (size_t i = 0; i < s->n; i++) {
		const struct java_frame *f = s->frames[i];

		fprintf(out, "%s{\"depth\":%zu", i ? "," : "", i);
		put_made(out, "function", &(struct java_stack){ .frames = &f, .n = 1 }, put_top);
		put_text(out, "class", f->method->class->name);
		put_text(out, "method", f->method->name);
		put_text(out, "descriptor", f->method->descriptor);
		if (f->line)
			put_number(out, "line", f->line);
		if (f->bci >= 0)
			put_number(out, "bci", f->bci);
		put_text(out, "type", frame_type(f->type));
		fprintf(out, ",\"isKernel\":%s,\"isInline\":%s%s}",
			f->type == JAVA_KERNEL ? "true" : "false",
			f->type == JAVA_INLINED ? "true" : "false",
			f->method->is_hidden ? ",\"hidden\":true" : "");
	}
	fputc(']', out);
}

/* All that a line says of its stack, which is the same for each sample of it. */
static char *stack_text(const struct java_stack *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (s->n) {
		put_made(out, "topFunction", s, put_top);
		put_text(out, "topClass", s->frames[0]->method->class->name);
		put_text(out, "topMethod", s->frames[0]->method->name);
	}
	put_number(out, "stackDepth", (int64_t)s->n);
	put_text(out, "resolutionStatus", s->is_partial ? "partial" : "resolved");
	if (s->is_truncated)
		fputs(",\"stackTruncated\":true", out);
	put_made(out, "stackPath", s, put_path);
	put_made(out, "stackTrace", s, put_trace);
	put_frames(out, s);
	return fclose(out) ? NULL : text;
}

static int put_stack(FILE *out, const struct moment *m)
{
	if (!m->stack) {
		if (m->mark || m->is_stack_missing)
			put_text(out, "resolutionStatus", m->mark ? m->mark : "unresolved");
		return 0;
	}
	if (!m->stack->text) {
		SCOPED(free) char *text = stack_text(m->stack);

		if (!text)
			return -ENOMEM;
		/* What is missing may come yet, and none of many such stacks is worth its memory.
		 */
		if (!m->stack->is_partial)
			m->stack->text = names_keep(m->chunk->names, text, strlen(text));
		fputs(text, out);
		return 0;
	}
	fputs(m->stack->text, out);
	return 0;
}

static void put_who(struct event_lines *l, const struct moment *m)
{
	fputs(l->whose ? l->whose : ",\"serviceName\":\"\"", l->out);
	fputs(",\"language\":\"java\",\"threadName\":", l->out);
	text_put_json(m->thread ? m->thread->name : "", m->thread ? strlen(m->thread->name) : 0,
		      l->out);
	put_number(l->out, "threadId", m->thread ? m->thread->id : 0);
	if (m->thread && m->thread->os_id)
		put_number(l->out, "tid", m->thread->os_id);
	if (m->thread && m->thread->is_virtual)
		fputs(",\"virtualThread\":true", l->out);
}

static void put_worth(FILE *out, const struct moment *m)
{
	const char *type, *unit;

	put_text(out, "state", m->state);
	put_number(out, "sampleWeight", worth_value(&m->worth, m->column));
	if (!m->is_sample)
		return;
	event_column_type(m->column, &type, &unit);
	put_text(out, "weightUnit", unit);
	put_number(out, "totalSamples", worth_value(&m->worth, COLUMN_SAMPLES));
}

/* Keys that readers of the format know, for fields that have them. */
static const char *known_key(const struct moment *m, const char *path)
{
	static const struct {
		const char *path, *key;
	} keys[] = {
		{ "objectClass", "objectClass" },	{ "monitorClass", "monitorClass" },
		{ "parkedClass", "lockClass" },		{ "thrownClass", "exceptionClass" },
		{ "allocationSize", "allocationSize" }, { "tlabSize", "tlabSize" },
	};
	bool is_lock = m->row->group == GROUP_LOCK || m->row->group == GROUP_PARK ||
		       m->row->group == GROUP_WAIT;

	if (!strcmp(m->row->name, "jdk.GarbageCollection")) {
		if (!strcmp(path, "name"))
			return "gcName";
		if (!strcmp(path, "cause"))
			return "gcCause";
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(path, keys[i].path))
			return keys[i].key;
	if (m->row->group == GROUP_EXCEPTION && m->row->class && !strcmp(path, m->row->class))
		return "exceptionClass";
	if (is_lock && !strcmp(path, "address"))
		return "lockAddress";
	if (!strcmp(path, "object") && m->row->class && !strcmp(m->row->class, path))
		return "objectClass";
	return NULL;
}

/* Is it said by a key of its own already? */
static bool is_said(const char *path)
{
	static const char *const paths[] = { "startTime",     "duration",   "eventThread",
					     "sampledThread", "stackTrace", "state",
					     "traceId",	      "spanId",	    "samplingPeriod" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(path, paths[i]))
			return true;
	return false;
}

/* As short as it can be and still be the same number. */
static void put_real(FILE *out, double d, bool is_float)
{
	int least = is_float ? FLT_DIG : DBL_DIG,
	    most = is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	char text[40];

	if (!isfinite(d)) {
		fputs("null", out);
		return;
	}
	for (int digits = least; digits <= most; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (is_float ? strtof(text, NULL) == (float)d : strtod(text, NULL) == d)
			break;
	}
	fputs(text, out);
}

static void put_value(struct event_lines *l, const struct moment *m, size_t i)
{
	const struct jfr_leaf *leaf = layout_leaf(m->layout, i);
	const struct jfr_value *v = &m->fields[i];
	enum jfr_unit unit = leaf->field->unit;
	const char *text;

	switch (leaf->kind) {
	case VALUE_NUMBER:
		if (leaf->field->type->kind == JFR_BOOLEAN)
			fputs(v->n ? "true" : "false", l->out);
		else if ((jfr_unit_is_timespan(unit) || jfr_unit_is_timestamp(unit)) &&
			 value_is_no_time(v->n))
			fputs("null", l->out);
		else if (leaf->field->is_unsigned)
			fprintf(l->out, "%" PRIu64,
				(uint64_t)value_ns(m->chunk, leaf->field->unit, v->n));
		else
			fprintf(l->out, "%" PRId64, value_ns(m->chunk, leaf->field->unit, v->n));
		return;
	case VALUE_REAL:
		put_real(l->out, v->real, leaf->field->type->kind == JFR_FLOAT);
		return;
	case VALUE_STRING:
		text = names_string(m->chunk, &v->string, &l->room);
		break;
	case VALUE_CONSTANT:
		text = names_text(m->chunk, leaf->field->type_id, v->n);
		break;
	default:
		fprintf(l->out, "%" PRId64, v->n); /* of an array: how many elements */
		return;
	}
	if (*text && !l->shows_secrets && secret_is(m->type->name, leaf->path))
		text = SECRET_TEXT;
	text_put_json(text, strlen(text), l->out);
}

static void put_fields(struct event_lines *l, const struct moment *m)
{
	size_t n = layout_n_leaves(m->layout), n_put = 0;

	for (size_t i = 0; i < n; i++) {
		const char *key = known_key(m, layout_leaf(m->layout, i)->path);

		if (!key)
			continue;
		fprintf(l->out, ",\"%s\":", key);
		put_value(l, m, i);
	}
	for (size_t i = 0; i < n; i++) {
		const char *path = layout_leaf(m->layout, i)->path;

		if (is_said(path) || known_key(m, path))
			continue;
		fputs(n_put++ ? "," : ",\"fields\":{", l->out);
		text_put_json(path, strlen(path), l->out);
		fputc(':', l->out);
		put_value(l, m, i);
	}
	fputs(n_put ? "}" : "", l->out);
}

static void put_id(FILE *out, const struct moment *m)
{
	const struct chunk_header *h = &m->chunk->header;

	fprintf(out, ",\"recordId\":\"%016" PRIx64 "%016" PRIx64 "%" PRIx64 "\"",
		(uint64_t)h->start_ns, (uint64_t)h->start_ticks, m->at - m->chunk->at);
}

static int take(void *ctx, struct moment *m)
{
	struct event_lines *l = ctx;
	int err;

	if (l->err)
		return l->err;
	moment_name(m);
	fputs("{\"eventType\":", l->out);
	text_put_json(m->type->name, strlen(m->type->name), l->out);
	put_time(l->out, "timestamp", m->time_ns);
	put_text(l->out, "profileType", event_group_name(m->row->group));
	put_text(l->out, "profileSource", "jfr");
	put_who(l, m);
	if (m->duration_ns >= 0)
		put_number(l->out, "durationNs", m->duration_ns);
	put_worth(l->out, m);
	put_text(l->out, "traceId", m->trace_id);
	put_text(l->out, "spanId", m->span_id);
	put_text(l->out, "spanName", m->span_name);
	put_text(l->out, "spanTag", m->tag);
	put_fields(l, m);
	err = put_stack(l->out, m);
	put_id(l->out, m);
	fputs("}\n", l->out);
	l->n++;
	return err ? err : ferror(l->out) ? -EIO : 0;
}

struct moment_sink event_lines_sink(struct event_lines *l)
{
	return (struct moment_sink){ .ctx = l, .take = take };
}
