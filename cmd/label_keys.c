// SPDX-License-Identifier: Apache-2.0
#include "cmd/label_keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/options.h"
#include "core/profile.h"
#include "core/text.h"

#define MAX_KEYS 64 /* said at most; strings are interned, so ids tell keys apart */

struct keys {
	uint32_t ids[MAX_KEYS];
	size_t n;
};

static void add(struct keys *keys, uint32_t id)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->ids[i] == id)
			return;
	if (keys->n < MAX_KEYS)
		keys->ids[keys->n++] = id;
}

static void collect(const struct profile *p, struct keys *keys)
{
	for (uint32_t i = 1; i <= profile_n_label_sets(p); i++) {
		size_t n;
		const struct label *l = profile_get_labels(p, i, &n);

		for (size_t j = 0; j < n; j++)
			add(keys, l[j].key);
	}
}

static void check(const struct profile *p, const struct keys *keys, const char *key, size_t len)
{
	char name[64];

	for (size_t i = 0; i < keys->n; i++)
		if (profile_string_len(p, keys->ids[i]) == len &&
		    !memcmp(profile_get_string(p, keys->ids[i]), key, len))
			return;
	log_error("no sample has a label %.*s", (int)len, key);
	fputs(keys->n ? "  there are:" : "  there are no labels in this profile", stderr);
	for (size_t i = 0; i < keys->n; i++)
		fprintf(stderr, " %s",
			text_safe(profile_get_string(p, keys->ids[i]), name, sizeof(name)));
	fputc('\n', stderr);
}

void label_keys_check(const struct profile *p, const struct options *opt)
{
	struct keys keys = { 0 };

	if (!opt->by && !opt->labels.n)
		return;
	collect(p, &keys);
	if (keys.n == MAX_KEYS)
		return; /* there may be more */
	if (opt->by)
		check(p, &keys, opt->by, strlen(opt->by));
	for (size_t i = 0; i < opt->labels.n; i++)
		check(p, &keys, opt->labels.items[i], strcspn(opt->labels.items[i], "="));
}
