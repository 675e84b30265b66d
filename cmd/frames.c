// SPDX-License-Identifier: Apache-2.0
#include "cmd/frames.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/selection.h"
#include "core/intern.h"
#include "core/profile.h"
#include "exporter/names.h"
#include "exporter/twins.h"

struct frames {
	const struct profile *profile;
	struct intern *names;
	uint32_t *ids; /* name ids of all locations, one location after the other */
	size_t *first; /* first[location] is where its ids begin; first[location + 1] their end */
	size_t longest;
	uint32_t
		no_frame; /* what is shown for a stack of which --only leaves nothing; 0: nothing */
};

static size_t count_ids(const struct profile *p)
{
	size_t n = 0;

	for (uint32_t i = 1; i <= profile_n_locations(p); i++)
		n += location_n_frames(p, i);
	return n;
}

static int name_locations(struct frames *f, const struct twins *twins, enum frame_kind only)
{
	const struct profile *p = f->profile;
	size_t n = 0;

	for (uint32_t i = 1; i <= profile_n_locations(p); i++) {
		struct location l = profile_get_location(p, i);
		size_t n_frames = selection_keeps_frame(&l, only) ? location_n_frames(p, i) : 0;

		f->first[i] = n;
		for (size_t j = 0; j < n_frames; j++) {
			struct frame frame;
			const char *name;

			location_frame(p, i, j, &frame);
			name = twins_name(twins, p, &frame);
			f->ids[n] = intern_add(f->names, name, strlen(name));
			if (!f->ids[n++])
				return -1;
		}
	}
	f->first[profile_n_locations(p) + 1] = n;
	return 0;
}

static int name_all(struct frames *f, enum frame_kind only)
{
	struct twins twins;
	int err = twins_find(&twins, f->profile);

	if (!err)
		err = name_locations(f, &twins, only);
	twins_deinit(&twins);
	return err;
}

static size_t n_names(const struct frames *f, uint32_t location)
{
	if (!location || location > profile_n_locations(f->profile))
		return 0;
	return f->first[location + 1] - f->first[location];
}

static size_t find_longest(const struct frames *f)
{
	size_t longest = 1;

	for (uint32_t i = 1; i <= profile_n_stacks(f->profile); i++) {
		size_t n, len = 0;
		const uint32_t *stack = profile_get_stack(f->profile, i, &n);

		for (size_t j = 0; j < n; j++)
			len += n_names(f, stack[j]);
		if (len > longest)
			longest = len;
	}
	return longest;
}

static int name_nothing(struct frames *f, const char *only)
{
	char text[32];

	if (!only)
		return 0;
	selection_no_frame(only, text);
	f->no_frame = intern_add(f->names, text, strlen(text));
	return f->no_frame ? 0 : -1;
}

struct frames *frames_new(const struct profile *p, const char *only)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->profile = p;
	f->names = intern_new();
	f->ids = calloc(count_ids(p) + 1, sizeof(*f->ids));
	f->first = calloc((size_t)profile_n_locations(p) + 2, sizeof(*f->first));
	if (!f->names || !f->ids || !f->first || name_all(f, selection_kind(only)) < 0 ||
	    name_nothing(f, only) < 0) {
		frames_free(f);
		return NULL;
	}
	f->longest = find_longest(f);
	return f;
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	intern_free(f->names);
	free(f->ids);
	free(f->first);
	free(f);
}

uint32_t frames_count(const struct frames *f)
{
	return intern_count(f->names);
}

const char *frames_name(const struct frames *f, uint32_t id)
{
	const char *name = intern_get(f->names, id, NULL);

	return name ? name : "";
}

size_t frames_longest(const struct frames *f)
{
	return f->longest;
}

size_t frames_of_stack(const struct frames *f, uint32_t stack, uint32_t *out)
{
	size_t n, len = 0;
	const uint32_t *locations = profile_get_stack(f->profile, stack, &n);

	for (size_t i = 0; i < n; i++) {
		size_t more = n_names(f, locations[i]);

		memcpy(out + len, f->ids + (more ? f->first[locations[i]] : 0),
		       more * sizeof(*out));
		len += more;
	}
	if (!len && f->no_frame)
		out[len++] = f->no_frame;
	return len;
}
