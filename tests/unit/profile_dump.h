/* SPDX-License-Identifier: Apache-2.0 */
/* A whole profile as text, without the ids that two equal profiles may disagree on. */
#ifndef TESTS_UNIT_PROFILE_DUMP_H
#define TESTS_UNIT_PROFILE_DUMP_H

#include <inttypes.h>
#include <stdio.h>

#include "core/profile.h"

static inline void dump_header(const struct profile *p, FILE *out)
{
	const struct profile_header *h = profile_get_header(p);

	for (uint32_t i = 0; i < h->n_sample_types; i++)
		fprintf(out, "type %s/%s\n", profile_get_string(p, h->sample_types[i].type),
			profile_get_string(p, h->sample_types[i].unit));
	fprintf(out, "default %s\n", profile_get_string(p, h->default_sample_type));
	fprintf(out, "period %" PRId64 " %s/%s\n", h->period,
		profile_get_string(p, h->period_type.type),
		profile_get_string(p, h->period_type.unit));
	fprintf(out, "time %" PRId64 " duration %" PRId64 "\n", h->time_ns, h->duration_ns);
	fprintf(out, "host %s\n", profile_get_string(p, h->hostname));
	for (uint32_t i = 0; i < profile_n_comments(p); i++)
		fprintf(out, "comment %s\n", profile_get_comment(p, i));
	for (uint32_t i = 0; i < profile_n_counts(p); i++) {
		uint64_t n;
		const char *name = profile_get_count(p, i, &n);

		fprintf(out, "count %s %" PRIu64 "\n", name, n);
	}
}

static inline void dump_location(const struct profile *p, uint32_t id, FILE *out)
{
	struct location l = profile_get_location(p, id);
	const struct profile_mapping *m = profile_get_mapping(p, l.mapping);
	size_t n;
	const struct line *lines = profile_get_lines(p, id, &n);

	fprintf(out, "  0x%" PRIx64 " %s%s%s%s%s", l.address, frame_kind_name(l.kind),
		l.flags & LOCATION_GUESSED ? " guessed" : "",
		l.flags & LOCATION_FOLDED ? " folded" : "",
		l.flags & LOCATION_UNSYMBOLIZED ? " unsymbolized" : "",
		l.flags & LOCATION_UNNAMED ? " unnamed" : "");
	if (l.tag)
		fprintf(out, " tag %u", l.tag);
	if (l.mapping)
		fprintf(out, " in %s 0x%" PRIx64 "-0x%" PRIx64 "+0x%" PRIx64 " id %s",
			profile_get_string(p, m->filename), m->start, m->limit, m->offset,
			profile_get_string(p, m->build_id));
	fputc('\n', out);
	for (size_t i = 0; i < n; i++) {
		const struct function *f = profile_get_function(p, lines[i].function);

		fprintf(out, "    %s (%s) %s:%u:%u from %u\n", profile_get_string(p, f->name),
			profile_get_string(p, f->system_name), profile_get_string(p, f->filename),
			lines[i].line, lines[i].column, f->start_line);
	}
}

static inline void dump_sample(const struct profile *p, const struct sample *s, FILE *out)
{
	size_t n_labels, depth;
	const struct label *labels = profile_get_labels(p, s->labels, &n_labels);
	const uint32_t *stack = profile_get_stack(p, s->stack, &depth);

	fprintf(out, "sample");
	for (uint32_t i = 0; i < profile_get_header(p)->n_sample_types; i++)
		fprintf(out, " %" PRId64, s->values[i]);
	fprintf(out, " at %" PRIu64 "\n", s->time_ns);
	for (size_t i = 0; i < n_labels; i++) {
		fprintf(out, "  %s=", profile_get_string(p, labels[i].key));
		if (labels[i].str)
			fprintf(out, "%s\n", profile_get_string(p, labels[i].str));
		else
			fprintf(out, "%" PRId64 "%s\n", labels[i].num,
				profile_get_string(p, labels[i].num_unit));
	}
	for (size_t i = 0; i < depth; i++)
		dump_location(p, stack[i], out);
}

/* Allocated. */
static inline char *profile_dump(const struct profile *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	dump_header(p, out);
	for (uint32_t i = 0; i < profile_n_samples(p); i++)
		dump_sample(p, profile_get_sample(p, i), out);
	fclose(out);
	return text;
}

#endif
