// SPDX-License-Identifier: Apache-2.0
#include "exporter/pprof_decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/profile.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "exporter/gzip.h"
#include "exporter/id_map.h"
#include "exporter/pprof.h"
#include "exporter/pprof_comment.h"
#include "exporter/pprof_kind.h"
#include "exporter/protobuf.h"

#define MAX_UNPACKED (256 << 20) /* bytes, more than any profile needs; see below */
#define MAX_COMMENTS 256	 /* one byte of input can name a long one */
#define MAX_FRAMES (1 << 28)	 /* all samples together: a location may show many */
#define NO_MAPPING UINT32_MAX	 /* the row of an empty mapping */

struct string_ref {
	const char *bytes;
	size_t len;
	uint32_t id; /* in the profile; 0 until it is used */
};

struct list { /* of fixed-size items, used again for each message */
	void *items;
	size_t n, cap;
};

struct decoder {
	struct profile *p;
	struct string_ref *strings;
	size_t n_strings, cap_strings;
	struct id_map mappings, functions, locations;
	struct list stack, values, labels, lines;
	struct pprof_report *report;
	unsigned int n_comments;
	uint64_t n_frames; /* of all samples */
	int err;
};

typedef void pass_fn(struct decoder *d, struct protobuf_field *f);

/* The first error of a message ends the decoding. */
static void end_message(struct decoder *d, const struct reader *r)
{
	if (!r->err || d->err)
		return;
	d->err = r->err;
	d->report->what = r->what;
	d->report->where = r->where;
}

static void *list_add(struct list *list, size_t size, struct reader *r)
{
	if (array_reserve(&list->items, &list->cap, list->n, size) < 0) {
		reader_fail(r, -ENOMEM, "list");
		return NULL;
	}
	return (char *)list->items + list->n++ * size;
}

static void map_id(struct id_map *map, uint64_t id, uint32_t row, struct reader *r)
{
	int err = row ? id_map_add(map, id, row) : -ENOMEM;

	if (err == -ENOMEM)
		reader_fail(r, -ENOMEM, "id");
	else if (err || !id)
		reader_fail(r, -EBADMSG, "id that is zero or used twice");
}

static uint32_t find_id(const struct id_map *map, uint64_t id, struct reader *r, const char *what)
{
	uint32_t row = id_map_find(map, id);

	if (!row)
		reader_fail(r, -EBADMSG, what);
	return row;
}

static uint32_t string_of(struct decoder *d, uint64_t index, struct reader *r)
{
	struct string_ref *s;

	if (!index)
		return 0;
	if (index >= d->n_strings) {
		reader_fail(r, -EBADMSG, "string index");
		return 0;
	}
	s = &d->strings[index];
	if (!s->id)
		s->id = profile_string_n(d->p, s->bytes, s->len);
	return s->id;
}

/* Line numbers are signed 64-bit there; what is no line number is unknown. */
static uint32_t small(uint64_t value)
{
	return value <= INT32_MAX ? (uint32_t)value : 0;
}

static void decode_string(struct decoder *d, struct protobuf_field *f)
{
	struct string_ref *s;
	struct list list = { d->strings, d->n_strings, d->cap_strings };

	if (f->number != PPROF_STRING_TABLE)
		return;
	s = list_add(&list, sizeof(*s), &f->body);
	if (s)
		*s = (struct string_ref){ (const char *)f->body.pos, reader_left(&f->body), 0 };
	d->strings = list.items;
	d->n_strings = list.n;
	d->cap_strings = list.cap;
	end_message(d, &f->body);
}

/* A message of numbers only: values[i] is field i. Other fields are skipped. */
static void decode_numbers(struct reader *r, uint64_t *values, uint32_t n)
{
	struct protobuf_field f;

	memset(values, 0, n * sizeof(*values));
	while (protobuf_next(r, &f))
		if (!f.is_bytes && f.number < n)
			values[f.number] = f.value;
}

static void decode_mapping(struct decoder *d, struct reader *r)
{
	uint64_t v[PPROF_MAPPING_HAS_INLINES + 1];
	struct profile_mapping m;
	bool is_empty;

	decode_numbers(r, v, PPROF_MAPPING_HAS_INLINES + 1);
	m = (struct profile_mapping){
		.start = v[PPROF_MAPPING_START],
		.limit = v[PPROF_MAPPING_LIMIT],
		.offset = v[PPROF_MAPPING_OFFSET],
		.filename = string_of(d, v[PPROF_MAPPING_FILENAME], r),
		.build_id = string_of(d, v[PPROF_MAPPING_BUILD_ID], r),
		.has_functions = !!v[PPROF_MAPPING_HAS_FUNCTIONS],
		.has_filenames = !!v[PPROF_MAPPING_HAS_FILENAMES],
		.has_line_numbers = !!v[PPROF_MAPPING_HAS_LINES],
		.has_inline_frames = !!v[PPROF_MAPPING_HAS_INLINES],
	};
	is_empty = !m.limit && !m.filename && !m.build_id;
	map_id(&d->mappings, v[PPROF_MAPPING_ID], is_empty ? NO_MAPPING : profile_mapping(d->p, &m),
	       r);
}

static void decode_function(struct decoder *d, struct reader *r)
{
	uint64_t v[PPROF_FUNCTION_START_LINE + 1];
	struct function fn;

	decode_numbers(r, v, PPROF_FUNCTION_START_LINE + 1);
	fn = (struct function){
		.name = string_of(d, v[PPROF_FUNCTION_NAME], r),
		.system_name = string_of(d, v[PPROF_FUNCTION_SYSTEM_NAME], r),
		.filename = string_of(d, v[PPROF_FUNCTION_FILENAME], r),
		.start_line = small(v[PPROF_FUNCTION_START_LINE]),
	};
	map_id(&d->functions, v[PPROF_FUNCTION_ID], profile_function(d->p, &fn), r);
}

static struct value_type decode_value_type(struct decoder *d, struct reader *r)
{
	uint64_t v[PPROF_VALUE_TYPE_UNIT + 1];

	decode_numbers(r, v, PPROF_VALUE_TYPE_UNIT + 1);
	return (struct value_type){ string_of(d, v[PPROF_VALUE_TYPE_TYPE], r),
				    string_of(d, v[PPROF_VALUE_TYPE_UNIT], r) };
}

static void decode_comment(struct decoder *d, uint64_t index, struct reader *r)
{
	const char *text = profile_get_string(d->p, string_of(d, index, r));

	if (d->n_comments++ >= MAX_COMMENTS)
		reader_fail(r, -EBADMSG, "number of comments");
	else if (!pprof_comment_read(text, d->p))
		profile_comment(d->p, text);
}

static void decode_comments(struct decoder *d, struct protobuf_field *f)
{
	if (!f->is_bytes)
		decode_comment(d, f->value, &f->body);
	while (!reader_at_end(&f->body))
		decode_comment(d, reader_uleb(&f->body, "comment"), &f->body);
}

static void decode_header(struct decoder *d, struct protobuf_field *f)
{
	struct profile_header *h = profile_header(d->p);
	struct value_type type;

	switch (f->number) {
	case PPROF_SAMPLE_TYPE:
		type = decode_value_type(d, &f->body);
		if (d->report->n_sample_types++ < MAX_VALUES)
			h->sample_types[h->n_sample_types++] = type;
		break;
	case PPROF_MAPPING:
		decode_mapping(d, &f->body);
		break;
	case PPROF_FUNCTION:
		decode_function(d, &f->body);
		break;
	case PPROF_TIME_NANOS:
		h->time_ns = (int64_t)f->value;
		break;
	case PPROF_DURATION_NANOS:
		h->duration_ns = (int64_t)f->value;
		break;
	case PPROF_PERIOD_TYPE:
		h->period_type = decode_value_type(d, &f->body);
		break;
	case PPROF_PERIOD:
		h->period = (int64_t)f->value;
		break;
	case PPROF_COMMENT:
		decode_comments(d, f);
		break;
	case PPROF_DEFAULT_SAMPLE_TYPE:
		h->default_sample_type = string_of(d, f->value, &f->body);
		break;
	}
	end_message(d, &f->body);
}

/* An error inside a part is one of the message around it. */
static void end_part(struct reader *parent, const struct reader *part)
{
	if (part->err)
		reader_fail(parent, part->err, part->what);
}

static void decode_line(struct decoder *d, struct reader *part, struct reader *r)
{
	struct line *line = list_add(&d->lines, sizeof(*line), r);
	uint64_t v[PPROF_LINE_COLUMN + 1], function;

	decode_numbers(part, v, PPROF_LINE_COLUMN + 1);
	end_part(r, part);
	function = v[PPROF_LINE_FUNCTION];
	if (line)
		*line = (struct line){
			.function =
				function ? find_id(&d->functions, function, r, "function id") : 0,
			.line = small(v[PPROF_LINE_LINE]),
			.column = small(v[PPROF_LINE_COLUMN]),
		};
}

/* By our own field, else by what other writers say. */
static void set_kind(const struct decoder *d, struct location *l, uint32_t kind)
{
	const struct line *lines = d->lines.items;

	if (kind) {
		l->kind = (uint16_t)frame_kind_of_name(profile_get_string(d->p, kind));
		return;
	}
	l->kind = (uint16_t)pprof_guess_kind(d->p, l->mapping, d->lines.n ? lines[0].function : 0);
	l->flags |= d->lines.n ? 0 : LOCATION_UNSYMBOLIZED;
}

static uint32_t find_mapping(const struct decoder *d, uint64_t id, struct reader *r)
{
	uint32_t row = id ? find_id(&d->mappings, id, r, "mapping id") : 0;

	return row == NO_MAPPING ? 0 : row;
}

static uint16_t location_flags(const uint64_t *v)
{
	return (uint16_t)((v[PPROF_LOCATION_IS_FOLDED] ? LOCATION_FOLDED : 0) |
			  (v[PPROF_LOCATION_WEFT_GUESSED] ? LOCATION_GUESSED : 0) |
			  (v[PPROF_LOCATION_WEFT_UNSYMBOLIZED] ? LOCATION_UNSYMBOLIZED : 0) |
			  (v[PPROF_LOCATION_WEFT_UNNAMED] ? LOCATION_UNNAMED : 0));
}

static void decode_location(struct decoder *d, struct protobuf_field *top)
{
	uint64_t v[PPROF_LOCATION_WEFT_UNNAMED + 1];
	struct reader lines = top->body, *r = &top->body;
	struct protobuf_field f;
	struct location l;

	if (top->number != PPROF_LOCATION)
		return;
	d->lines.n = 0;
	while (protobuf_next(&lines, &f))
		if (f.number == PPROF_LOCATION_LINE)
			decode_line(d, &f.body, r);
	decode_numbers(r, v, PPROF_LOCATION_WEFT_UNNAMED + 1);
	l = (struct location){
		.address = v[PPROF_LOCATION_ADDRESS],
		.mapping = find_mapping(d, v[PPROF_LOCATION_MAPPING], r),
		.flags = location_flags(v),
		.tag = (uint32_t)v[PPROF_LOCATION_WEFT_TAG],
	};
	set_kind(d, &l, string_of(d, v[PPROF_LOCATION_WEFT_KIND], r));
	map_id(&d->locations, v[PPROF_LOCATION_ID],
	       profile_location(d->p, &l, d->lines.items, d->lines.n), r);
	end_message(d, r);
}

static void decode_label(struct decoder *d, struct reader *part, struct reader *r)
{
	struct label *label = list_add(&d->labels, sizeof(*label), r);
	uint64_t v[PPROF_LABEL_NUM_UNIT + 1];

	decode_numbers(part, v, PPROF_LABEL_NUM_UNIT + 1);
	end_part(r, part);
	if (label)
		*label = (struct label){
			.key = string_of(d, v[PPROF_LABEL_KEY], r),
			.str = string_of(d, v[PPROF_LABEL_STR], r),
			.num = (int64_t)v[PPROF_LABEL_NUM],
			.num_unit = string_of(d, v[PPROF_LABEL_NUM_UNIT], r),
		};
}

static void add_to_stack(struct decoder *d, uint64_t id, struct reader *r)
{
	uint32_t *location = list_add(&d->stack, sizeof(*location), r);
	size_t n_lines;

	if (!location)
		return;
	*location = find_id(&d->locations, id, r, "location id");
	profile_get_lines(d->p, *location, &n_lines);
	d->n_frames += n_lines ? n_lines : 1;
	if (d->n_frames > MAX_FRAMES)
		reader_fail(r, -E2BIG, "shows more frames than weft reads");
}

static void add_value(struct decoder *d, uint64_t value, struct reader *r)
{
	uint64_t *item = list_add(&d->values, sizeof(*item), r);

	if (item)
		*item = value;
}

/* A repeated number, packed or not. */
static void each_number(struct decoder *d, struct protobuf_field *f, struct reader *parent,
			void (*add)(struct decoder *d, uint64_t value, struct reader *r))
{
	if (!f->is_bytes)
		add(d, f->value, parent);
	while (!reader_at_end(&f->body))
		add(d, reader_uleb(&f->body, "packed number"), &f->body);
	end_part(parent, &f->body);
}

static void add_sample(struct decoder *d, uint64_t time_ns, struct reader *r)
{
	int64_t values[MAX_VALUES] = { 0 };
	uint32_t stack, labels;

	if (d->values.n != d->report->n_sample_types)
		reader_fail(r, -EBADMSG, "number of values of a sample");
	if (r->err)
		return;
	for (size_t i = 0; i < d->values.n && i < MAX_VALUES; i++)
		values[i] = ((int64_t *)d->values.items)[i];
	stack = d->stack.n ? profile_stack(d->p, d->stack.items, d->stack.n) : 0;
	labels = profile_label_set(d->p, d->labels.items, d->labels.n);
	profile_add(d->p, stack, labels, time_ns, values);
}

static void decode_sample(struct decoder *d, struct protobuf_field *top)
{
	struct reader *r = &top->body;
	struct protobuf_field f;
	uint64_t time_ns = 0;

	if (top->number != PPROF_SAMPLE)
		return;
	d->stack.n = d->values.n = d->labels.n = 0;
	while (protobuf_next(r, &f)) {
		switch (f.number) {
		case PPROF_SAMPLE_LOCATION_ID:
			each_number(d, &f, r, add_to_stack);
			break;
		case PPROF_SAMPLE_VALUE:
			each_number(d, &f, r, add_value);
			break;
		case PPROF_SAMPLE_LABEL:
			decode_label(d, &f.body, r);
			break;
		case PPROF_SAMPLE_WEFT_TIME:
			time_ns = f.value;
			break;
		}
	}
	add_sample(d, time_ns, r);
	end_message(d, r);
}

/* What a message refers to may come after it: strings first, then what needs only them, and so on.
 */
static void decode_passes(struct decoder *d, const void *bytes, size_t len)
{
	static pass_fn *const passes[] = { decode_string, decode_header, decode_location,
					   decode_sample };
	struct protobuf_field f;

	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes) && !d->err; i++) {
		struct reader r;

		reader_init(&r, bytes, len);
		while (!d->err && protobuf_next(&r, &f))
			passes[i](d, &f);
		end_message(d, &r);
	}
}

static void decoder_deinit(struct decoder *d)
{
	struct id_map *maps[] = { &d->mappings, &d->functions, &d->locations };
	struct list *lists[] = { &d->stack, &d->values, &d->labels, &d->lines };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		id_map_deinit(maps[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		free(lists[i]->items);
	free(d->strings);
}

bool pprof_sniff(const void *head, size_t len)
{
	struct protobuf_field f, part;
	struct reader r;

	if (gzip_sniff(head, len))
		return true;
	/* Every writer begins with the sample types, but Go's for CPU time says when it was before.
	 */
	reader_init(&r, head, len);
	if (!protobuf_next(&r, &f))
		return false;
	if (f.number == PPROF_TIME_NANOS && !f.is_bytes && !protobuf_next(&r, &f))
		return false;
	if (f.number != PPROF_SAMPLE_TYPE || !f.is_bytes)
		return false;
	while (protobuf_next(&f.body, &part))
		if (part.is_bytes || part.number > PPROF_VALUE_TYPE_UNIT)
			return false;
	return !reader_error(&f.body);
}

/* Of JFR: packed with gzip they look like profiles. */
static bool is_recording(const void *bytes, size_t len)
{
	return bytes && len >= 4 && !memcmp(bytes, "FLR", 4);
}

int pprof_decode(const void *bytes, size_t len, struct profile *p, struct pprof_report *report)
{
	struct decoder d = { .p = p, .report = report };
	SCOPED(free) void *unpacked = NULL;
	int err = 0;

	*report = (struct pprof_report){ 0 };
	if (gzip_sniff(bytes, len)) {
		err = gzip_unpack(bytes, len, MAX_UNPACKED, &unpacked, &len);
		if (err) {
			report->what = err == -E2BIG ? "unpacks to more than 256 MiB" : "gzip data";
			report->where = len;
		}
		bytes = unpacked;
	}
	if (is_recording(bytes, len))
		err = -ENOTSUP;
	if (!err || err == -EBADMSG)
		decode_passes(&d, bytes, len);
	decoder_deinit(&d);
	if (err)
		return err;
	return d.err ? d.err : profile_error(p);
}
