// SPDX-License-Identifier: Apache-2.0
#include "exporter/pprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/intern.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "exporter/exporter.h"
#include "exporter/gzip.h"
#include "exporter/pprof_comment.h"
#include "exporter/protobuf.h"
#include "exporter/who.h"

#define FLUSH_SIZE (64 * 1024)

/*
 * String, function and location ids are the profile's own; strings that only pprof needs follow
 * behind the profile's. The mapping of the main program is moved to the front.
 */
struct writer {
	const struct profile *p;
	struct gzip *gzip;
	struct protobuf top, message, part; /* a message goes into top, a part into a message */
	struct intern *extra;
	uint32_t main_mapping;
	uint64_t *packed;
	size_t cap_packed;
	int err;
};

SCOPED_DEFINE(struct gzip, gzip_free)
SCOPED_DEFINE(struct intern, intern_free)

static void fail(struct writer *w, int err)
{
	if (!w->err)
		w->err = err;
}

/* Puts the finished message into the output. */
static void put_top(struct writer *w, uint32_t field)
{
	protobuf_put_message(&w->top, field, &w->message);
	protobuf_clear(&w->message);
	if (w->top.len < FLUSH_SIZE || w->err)
		return;
	fail(w, gzip_write(w->gzip, w->top.bytes, w->top.len));
	protobuf_clear(&w->top);
}

static uint32_t extra_string(struct writer *w, const char *s)
{
	uint32_t id = intern_add(w->extra, s, strlen(s));

	if (!id)
		fail(w, -ENOMEM);
	return profile_n_strings(w->p) + id;
}

/* n numbers to be packed. */
static uint64_t *packed(struct writer *w, size_t n)
{
	uint64_t *grown;

	if (n <= w->cap_packed)
		return w->packed;
	grown = realloc(w->packed, n * sizeof(*grown));
	if (!grown) {
		fail(w, -ENOMEM);
		return NULL;
	}
	w->packed = grown;
	w->cap_packed = n;
	return grown;
}

/* Frames without a mapping get an empty one, the last: some readers take it that each has one. */
static uint32_t mapping_id(const struct writer *w, uint32_t id)
{
	if (!id)
		return profile_n_mappings(w->p) + 1;
	if (id == w->main_mapping)
		return 1;
	return id < w->main_mapping ? id + 1 : id;
}

static void put_value_type(struct protobuf *pb, const struct value_type *t)
{
	protobuf_put_uint(pb, PPROF_VALUE_TYPE_TYPE, t->type);
	protobuf_put_uint(pb, PPROF_VALUE_TYPE_UNIT, t->unit);
}

static void put_label(struct protobuf *pb, const struct label *l)
{
	protobuf_put_uint(pb, PPROF_LABEL_KEY, l->key);
	protobuf_put_uint(pb, PPROF_LABEL_STR, l->str);
	if (l->str)
		return;
	protobuf_put_int(pb, PPROF_LABEL_NUM, l->num);
	protobuf_put_uint(pb, PPROF_LABEL_NUM_UNIT, l->num_unit);
}

static void put_sample(struct writer *w, const struct sample *s, uint32_t n_values)
{
	size_t n_locations, n_labels;
	const uint32_t *locations = profile_get_stack(w->p, s->stack, &n_locations);
	const struct label *labels = profile_get_labels(w->p, s->labels, &n_labels);
	uint64_t *numbers = packed(w, n_locations + n_values);

	if (!numbers)
		return;
	for (size_t i = 0; i < n_locations; i++)
		numbers[i] = locations[i];
	protobuf_put_packed(&w->message, PPROF_SAMPLE_LOCATION_ID, numbers, n_locations);
	for (uint32_t i = 0; i < n_values; i++)
		numbers[i] = (uint64_t)s->values[i];
	protobuf_put_packed(&w->message, PPROF_SAMPLE_VALUE, numbers, n_values);
	for (size_t i = 0; i < n_labels; i++) {
		put_label(&w->part, &labels[i]);
		protobuf_put_message(&w->message, PPROF_SAMPLE_LABEL, &w->part);
		protobuf_clear(&w->part);
	}
	protobuf_put_uint(&w->message, PPROF_SAMPLE_WEFT_TIME, s->time_ns);
	put_top(w, PPROF_SAMPLE);
}

/* What is true of all locations of a mapping; pprof's consumers symbolize only where it is not. */
struct mapping_facts {
	bool is_used, lacks_functions, lacks_filenames, lacks_lines, has_inlines;
};

static void learn_location(const struct profile *p, uint32_t id, struct mapping_facts *facts)
{
	size_t n;
	const struct line *lines = profile_get_lines(p, id, &n);

	facts->is_used = true;
	facts->has_inlines |= n > 1;
	if (!n || profile_get_location(p, id).flags & LOCATION_UNNAMED)
		facts->lacks_functions = true;
	for (size_t i = 0; i < n; i++) {
		const struct function *f = profile_get_function(p, lines[i].function);

		facts->lacks_functions |= !f->name && !f->system_name;
		facts->lacks_filenames |= !f->filename;
		facts->lacks_lines |= !lines[i].line;
	}
}

/* Others look for files by it, and pprof(1) takes its first characters without counting them. */
static bool is_build_id(const char *s)
{
	size_t len = strlen(s);

	return len >= 4 &&
	       strspn(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_-") ==
		       len;
}

static void put_mapping(struct writer *w, uint32_t id, const struct mapping_facts *facts)
{
	const struct profile_mapping *m = profile_get_mapping(w->p, id);
	bool has_functions = facts->is_used && !facts->lacks_functions;
	struct protobuf *pb = &w->message;

	protobuf_put_uint(pb, PPROF_MAPPING_ID, mapping_id(w, id));
	protobuf_put_uint(pb, PPROF_MAPPING_START, m->start);
	protobuf_put_uint(pb, PPROF_MAPPING_LIMIT, m->limit);
	protobuf_put_uint(pb, PPROF_MAPPING_OFFSET, m->offset);
	protobuf_put_uint(pb, PPROF_MAPPING_FILENAME, m->filename);
	if (is_build_id(profile_get_string(w->p, m->build_id)))
		protobuf_put_uint(pb, PPROF_MAPPING_BUILD_ID, m->build_id);
	protobuf_put_uint(pb, PPROF_MAPPING_HAS_FUNCTIONS, has_functions);
	protobuf_put_uint(pb, PPROF_MAPPING_HAS_FILENAMES,
			  has_functions && !facts->lacks_filenames);
	protobuf_put_uint(pb, PPROF_MAPPING_HAS_LINES, has_functions && !facts->lacks_lines);
	protobuf_put_uint(pb, PPROF_MAPPING_HAS_INLINES, has_functions && facts->has_inlines);
	put_top(w, PPROF_MAPPING);
}

static void put_mappings(struct writer *w)
{
	uint32_t n = profile_n_mappings(w->p);
	SCOPED(free) struct mapping_facts *facts = calloc((size_t)n + 1, sizeof(*facts));

	if (!facts) {
		fail(w, -ENOMEM);
		return;
	}
	for (uint32_t id = 1; id <= profile_n_locations(w->p); id++) {
		uint32_t mapping = profile_get_location(w->p, id).mapping;

		if (mapping <= n)
			learn_location(w->p, id, &facts[mapping]);
	}
	if (n)
		put_mapping(w, w->main_mapping, &facts[w->main_mapping]);
	for (uint32_t id = 1; id <= n; id++)
		if (id != w->main_mapping)
			put_mapping(w, id, &facts[id]);
	if (facts[0].is_used)
		put_mapping(w, 0, &facts[0]);
}

static void put_location(struct writer *w, uint32_t id)
{
	struct location l = profile_get_location(w->p, id);
	struct protobuf *pb = &w->message;
	size_t n;
	const struct line *lines = profile_get_lines(w->p, id, &n);

	protobuf_put_uint(pb, PPROF_LOCATION_ID, id);
	protobuf_put_uint(pb, PPROF_LOCATION_MAPPING, mapping_id(w, l.mapping));
	protobuf_put_uint(pb, PPROF_LOCATION_ADDRESS, l.address);
	for (size_t i = 0; i < n; i++) {
		protobuf_put_uint(&w->part, PPROF_LINE_FUNCTION, lines[i].function);
		protobuf_put_uint(&w->part, PPROF_LINE_LINE, lines[i].line);
		protobuf_put_uint(&w->part, PPROF_LINE_COLUMN, lines[i].column);
		protobuf_put_message(pb, PPROF_LOCATION_LINE, &w->part);
		protobuf_clear(&w->part);
	}
	protobuf_put_uint(pb, PPROF_LOCATION_IS_FOLDED, !!(l.flags & LOCATION_FOLDED));
	protobuf_put_uint(pb, PPROF_LOCATION_WEFT_KIND, extra_string(w, frame_kind_name(l.kind)));
	protobuf_put_uint(pb, PPROF_LOCATION_WEFT_GUESSED, !!(l.flags & LOCATION_GUESSED));
	protobuf_put_uint(pb, PPROF_LOCATION_WEFT_UNSYMBOLIZED,
			  !!(l.flags & LOCATION_UNSYMBOLIZED));
	protobuf_put_uint(pb, PPROF_LOCATION_WEFT_TAG, l.tag);
	protobuf_put_uint(pb, PPROF_LOCATION_WEFT_UNNAMED, !!(l.flags & LOCATION_UNNAMED));
	put_top(w, PPROF_LOCATION);
}

static void put_function(struct writer *w, uint32_t id)
{
	const struct function *f = profile_get_function(w->p, id);
	struct protobuf *pb = &w->message;

	protobuf_put_uint(pb, PPROF_FUNCTION_ID, id);
	protobuf_put_uint(pb, PPROF_FUNCTION_NAME, f->name ? f->name : f->system_name);
	protobuf_put_uint(pb, PPROF_FUNCTION_SYSTEM_NAME,
			  f->system_name ? f->system_name : f->name);
	protobuf_put_uint(pb, PPROF_FUNCTION_FILENAME, f->filename);
	protobuf_put_uint(pb, PPROF_FUNCTION_START_LINE, f->start_line);
	put_top(w, PPROF_FUNCTION);
}

/* One invalid name would make a server refuse the whole profile. */
static void put_string(struct writer *w, const char *s, size_t len)
{
	SCOPED(free) char *fixed = NULL;
	FILE *out;

	if (!text_is_utf8(s, len)) {
		out = open_memstream(&fixed, &len);
		if (!out) {
			fail(w, -ENOMEM);
			return;
		}
		text_put_utf8(s, strlen(s), out);
		if (fclose(out))
			fail(w, -ENOMEM);
		s = fixed;
	}
	protobuf_put_bytes(&w->top, PPROF_STRING_TABLE, s, len);
}

static void put_strings(struct writer *w)
{
	protobuf_put_bytes(&w->top, PPROF_STRING_TABLE, "", 0);
	for (uint32_t id = 1; id <= profile_n_strings(w->p); id++)
		put_string(w, profile_get_string(w->p, id), profile_string_len(w->p, id));
	for (uint32_t id = 1; id <= intern_count(w->extra); id++) {
		size_t len;
		const char *s = intern_get(w->extra, id, &len);

		put_string(w, s, len);
	}
}

static void put_comments(struct writer *w)
{
	uint32_t n_comments = profile_n_comments(w->p), n = 0;
	SCOPED(free) char *counts = pprof_comment_counts(w->p);
	SCOPED(free) char *host = pprof_comment_host(w->p);
	uint64_t *ids = packed(w, (size_t)n_comments + 2);

	if (!ids || !counts || !host) {
		fail(w, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < n_comments; i++)
		ids[n++] = extra_string(w, profile_get_comment(w->p, i));
	if (*counts)
		ids[n++] = extra_string(w, counts);
	if (*host)
		ids[n++] = extra_string(w, host);
	protobuf_put_packed(&w->top, PPROF_COMMENT, ids, n);
}

static void put_header(struct writer *w, const struct profile_header *h)
{
	uint32_t last = h->n_sample_types ? h->sample_types[h->n_sample_types - 1].type : 0;

	protobuf_put_int(&w->top, PPROF_TIME_NANOS, h->time_ns);
	protobuf_put_int(&w->top, PPROF_DURATION_NANOS, h->duration_ns);
	if (h->period_type.type) {
		put_value_type(&w->message, &h->period_type);
		put_top(w, PPROF_PERIOD_TYPE);
	}
	protobuf_put_int(&w->top, PPROF_PERIOD, h->period);
	protobuf_put_uint(&w->top, PPROF_DEFAULT_SAMPLE_TYPE,
			  h->default_sample_type ? h->default_sample_type : last);
	put_comments(w);
}

/* The program that most samples ran in: pprof takes its title from the first mapping. */
static uint32_t find_main_mapping(struct writer *w)
{
	uint32_t n = profile_n_mappings(w->p), best = n ? 1 : 0;
	SCOPED(free) double *weights = calloc((size_t)n + 1, sizeof(*weights));

	if (!weights) {
		fail(w, -ENOMEM);
		return best;
	}
	for (uint32_t i = 0; i < profile_n_samples(w->p); i++) {
		const struct sample *s = profile_get_sample(w->p, i);

		weights[stack_program(w->p, s->stack)] += (double)s->values[0];
	}
	for (uint32_t id = 1; id <= n; id++)
		if (weights[id] > weights[best])
			best = id;
	return best;
}

static void put_profile(struct writer *w)
{
	const struct profile_header *h = profile_get_header(w->p);

	for (uint32_t i = 0; i < h->n_sample_types; i++) {
		put_value_type(&w->message, &h->sample_types[i]);
		put_top(w, PPROF_SAMPLE_TYPE);
	}
	for (uint32_t i = 0; i < profile_n_samples(w->p) && !w->err; i++)
		put_sample(w, profile_get_sample(w->p, i), h->n_sample_types);
	put_mappings(w);
	for (uint32_t id = 1; id <= profile_n_locations(w->p) && !w->err; id++)
		put_location(w, id);
	for (uint32_t id = 1; id <= profile_n_functions(w->p) && !w->err; id++)
		put_function(w, id);
	put_header(w, h);
	put_strings(w);
	fail(w, protobuf_error(&w->message));
	fail(w, protobuf_error(&w->part));
	fail(w, protobuf_error(&w->top));
	if (!w->err)
		fail(w, gzip_write(w->gzip, w->top.bytes, w->top.len));
	if (!w->err)
		fail(w, gzip_finish(w->gzip));
}

static int pprof_write(const struct profile *p, FILE *out)
{
	SCOPED(gzip_free) struct gzip *gzip = gzip_new(out);
	SCOPED(intern_free) struct intern *extra = intern_new();
	struct writer w = { .p = p, .gzip = gzip, .extra = extra };

	if (!gzip || !extra)
		return -ENOMEM;
	protobuf_init(&w.top);
	protobuf_init(&w.message);
	protobuf_init(&w.part);
	w.main_mapping = find_main_mapping(&w);
	put_profile(&w);
	protobuf_deinit(&w.top);
	protobuf_deinit(&w.message);
	protobuf_deinit(&w.part);
	free(w.packed);
	return w.err;
}

const struct exporter_ops exporter_pprof = {
	.name = "pprof",
	.extension = ".pb.gz",
	.help = "gzipped profile.proto, for go tool pprof and profile servers",
	.write = pprof_write,
};
