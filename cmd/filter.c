// SPDX-License-Identifier: Apache-2.0
#include "cmd/filter.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"
#include "core/profile.h"
#include "core/text.h"
#include "exporter/names.h"

enum match { FOCUS = 1, IGNORE = 2 };

struct filter {
	const struct profile *profile;
	const struct options *opt;
	uint8_t *matches; /* enum match bits of each location */
};

static bool is_match(const regex_t *re, const char *s)
{
	return *s && !regexec(re, s, 0, NULL, 0);
}

static bool location_matches(const struct profile *p, uint32_t location, const regex_t *re)
{
	for (size_t i = 0; i < location_n_frames(p, location); i++) {
		struct frame frame;

		location_frame(p, location, i, &frame);
		if (is_match(re, frame.name) ||
		    is_match(re, profile_get_string(p, frame.function->filename)) ||
		    is_match(re, profile_get_string(p, frame.mapping->filename)))
			return true;
	}
	return false;
}

/* The expression was checked when the options were read. */
static int mark(struct filter *f, const char *expression, uint8_t bit)
{
	regex_t re;

	if (!expression)
		return 0;
	if (regcomp(&re, expression, REG_EXTENDED | REG_NOSUB))
		return -1;
	for (uint32_t i = 1; i <= profile_n_locations(f->profile); i++)
		if (location_matches(f->profile, i, &re))
			f->matches[i] |= bit;
	regfree(&re);
	return 0;
}

struct filter *filter_new(const struct profile *p, const struct options *opt)
{
	struct filter *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->profile = p;
	f->opt = opt;
	f->matches = calloc((size_t)profile_n_locations(p) + 1, 1);
	if (!f->matches || mark(f, opt->focus, FOCUS) < 0 || mark(f, opt->ignore, IGNORE) < 0) {
		filter_free(f);
		return NULL;
	}
	return f;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	free(f->matches);
	free(f);
}

/* As --by names them, all tasks that asyncio named are one. */
static bool is_value(const char *key, const char *value, const char *wanted)
{
	if (!strcmp(key, "task") && !strcmp(wanted, "Task-*") && text_is_numbered(value, "Task-"))
		return true;
	return !strcmp(value, wanted);
}

/* wanted: "key=value". */
static bool has_label(const struct profile *p, const struct label *labels, size_t n,
		      const char *wanted)
{
	size_t key_len = strcspn(wanted, "=");
	const char *value = wanted + key_len + 1;

	for (size_t i = 0; i < n; i++) {
		const char *key = profile_get_string(p, labels[i].key);
		char number[24];

		if (strlen(key) != key_len || memcmp(key, wanted, key_len))
			continue;
		snprintf(number, sizeof(number), "%" PRId64, labels[i].num);
		if (is_value(key, labels[i].str ? profile_get_string(p, labels[i].str) : number,
			     value))
			return true;
	}
	return false;
}

bool filter_keeps(const struct filter *f, const struct sample *s)
{
	uint8_t seen = 0;
	size_t n;
	const uint32_t *stack = profile_get_stack(f->profile, s->stack, &n);
	const struct label *labels;

	for (size_t i = 0; i < n; i++)
		if (stack[i] <= profile_n_locations(f->profile))
			seen |= f->matches[stack[i]];
	if (seen & IGNORE || (f->opt->focus && !(seen & FOCUS)))
		return false;
	labels = profile_get_labels(f->profile, s->labels, &n);
	for (size_t i = 0; i < f->opt->labels.n; i++)
		if (!has_label(f->profile, labels, n, f->opt->labels.items[i]))
			return false;
	return true;
}

bool filter_is_active(const struct filter *f)
{
	return f->opt->focus || f->opt->ignore || f->opt->labels.n;
}
