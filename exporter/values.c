// SPDX-License-Identifier: Apache-2.0
#include "exporter/values.h"

#include <string.h>

#include "core/profile.h"

int value_index(const struct profile *p, const char *type)
{
	const struct profile_header *h = profile_get_header(p);

	for (uint32_t i = 0; i < h->n_sample_types; i++)
		if (!strcmp(profile_get_string(p, h->sample_types[i].type), type))
			return (int)i;
	return -1;
}

uint32_t value_default(const struct profile *p)
{
	const struct profile_header *h = profile_get_header(p);
	int index = value_index(p, profile_get_string(p, h->default_sample_type));

	if (h->default_sample_type && index >= 0)
		return (uint32_t)index;
	return h->n_sample_types ? h->n_sample_types - 1 : 0;
}

uint32_t value_count(const struct profile *p)
{
	int index = value_index(p, "samples");
	bool has_one_kind = profile_get_header(p)->n_sample_types <= 2;

	return index >= 0 && has_one_kind ? (uint32_t)index : value_default(p);
}

bool value_is_shown(const struct sample *s, uint32_t value)
{
	return s->values[value];
}

int64_t value_total(const struct profile *p, uint32_t index, uint32_t value)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < profile_n_samples(p); i++) {
		const struct sample *s = profile_get_sample(p, i);

		if (value_is_shown(s, value))
			total += (uint64_t)s->values[index];
	}
	return (int64_t)total;
}
