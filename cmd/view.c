// SPDX-License-Identifier: Apache-2.0
#include "cmd/view.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/filter.h"
#include "cmd/frames.h"
#include "core/log.h"
#include "core/options.h"
#include "core/profile.h"
#include "core/text.h"

static int no_such_type(const struct profile_header *h, const struct profile *p, const char *wanted)
{
	char name[64];

	log_error("no sample type %s in this profile", wanted);
	fputs("  it has:", stderr);
	for (uint32_t i = 0; i < h->n_sample_types; i++) {
		uint32_t type = h->sample_types[i].type;

		fprintf(stderr, " %s", text_safe(profile_get_string(p, type), name, sizeof(name)));
	}
	fputc('\n', stderr);
	return -EINVAL;
}

/* The value to show: as asked, else the profile's default, else the last, as pprof does. */
static int choose_value(const struct profile *p, const char *wanted, uint32_t *value)
{
	const struct profile_header *h = profile_get_header(p);

	for (uint32_t i = 0; i < h->n_sample_types; i++) {
		uint32_t type = h->sample_types[i].type;

		if (wanted ? !strcmp(profile_get_string(p, type), wanted)
			   : type && type == h->default_sample_type) {
			*value = i;
			return 0;
		}
	}
	if (wanted)
		return no_such_type(h, p, wanted);
	*value = h->n_sample_types ? h->n_sample_types - 1 : 0;
	return 0;
}

int view_choose(struct profile *p, const char *wanted)
{
	struct profile_header *h = profile_header(p);
	uint32_t value;
	int err = wanted ? choose_value(p, wanted, &value) : 0;

	if (wanted && !err)
		h->default_sample_type = h->sample_types[value].type;
	return err;
}

static void sum_up(struct view *v)
{
	for (uint32_t i = 0; i < profile_n_samples(v->profile); i++) {
		const struct sample *s = profile_get_sample(v->profile, i);

		v->total += s->values[v->value];
		if (filter_keeps(v->filter, s))
			v->kept += s->values[v->value];
	}
	v->scale = scale_for(v->unit, v->total);
}

int view_init(struct view *v, const struct profile *p, const struct options *opt, FILE *out)
{
	const struct profile_header *h = profile_get_header(p);
	int err;

	*v = (struct view){ .profile = p, .n_rows = opt->n_rows, .out = out };
	v->width = show_width(fileno(out));
	v->has_colours = show_colours(fileno(out));
	err = choose_value(p, opt->sample_type, &v->value);
	if (err < 0)
		return err;
	v->type = profile_get_string(p, h->sample_types[v->value].type);
	v->unit = profile_get_string(p, h->sample_types[v->value].unit);
	v->frames = frames_new(p, opt->only);
	v->filter = filter_new(p, opt);
	if (!v->frames || !v->filter)
		return -ENOMEM;
	v->stack = calloc(frames_longest(v->frames) + 1, sizeof(*v->stack));
	if (!v->stack)
		return -ENOMEM;
	sum_up(v);
	return 0;
}

void view_deinit(struct view *v)
{
	frames_free(v->frames);
	filter_free(v->filter);
	free(v->stack);
}

bool view_next(struct view *v, uint32_t *index, size_t *n, int64_t *value)
{
	while (*index < profile_n_samples(v->profile)) {
		const struct sample *s = profile_get_sample(v->profile, (*index)++);

		if (!filter_keeps(v->filter, s))
			continue;
		*n = frames_of_stack(v->frames, s->stack, v->stack);
		*value = s->values[v->value];
		return true;
	}
	return false;
}

double view_percent(const struct view *v, int64_t amount)
{
	return v->total ? 100.0 * (double)amount / (double)v->total : 0;
}

void view_amount(const struct view *v, int64_t amount)
{
	char text[32];

	fprintf(v->out, "%10s %5.1f%%", scale_print(&v->scale, amount, text, sizeof(text)),
		view_percent(v, amount));
}

void view_name(const struct view *v, int at, const char *name)
{
	int room = v->width > at + 10 ? v->width - at : v->width ? 10 : 0;
	bool is_mark = v->has_colours && *name == '[';

	fputs(is_mark ? "\033[2m" : "", v->out);
	show_name(name, room, v->out);
	fputs(is_mark ? "\033[0m\n" : "\n", v->out);
}

void view_title(const struct view *v, const char *title)
{
	fprintf(v->out, v->has_colours ? "\033[1m%s\033[0m\n" : "%s\n", title);
}

bool *view_match(const struct view *v, const char *expression)
{
	bool *matches = calloc((size_t)frames_count(v->frames) + 1, sizeof(*matches));
	regex_t re;

	if (!matches || regcomp(&re, expression, REG_EXTENDED | REG_NOSUB)) {
		free(matches);
		return NULL;
	}
	for (uint32_t i = 1; i <= frames_count(v->frames); i++)
		matches[i] = !regexec(&re, frames_name(v->frames, i), 0, NULL, 0);
	regfree(&re);
	return matches;
}
