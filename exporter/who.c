// SPDX-License-Identifier: Apache-2.0
#include "exporter/who.h"

#include <limits.h>
#include <string.h>

#include "core/profile.h"
#include "core/text.h"

enum who_key { WHO_PID, WHO_TID, WHO_PROCESS, WHO_THREAD, WHO_CONTAINER, WHO_OTHER };

static enum who_key key_of(const struct profile *p, const struct label *l)
{
	static const char *const keys[] = { "pid", "tid", "process", "thread", "container" };
	const char *key = profile_get_string(p, l->key);
	int i = 0;

	while (i < WHO_OTHER && strcmp(key, keys[i]))
		i++;
	return i;
}

bool who_has(const struct profile *p, const struct label *l)
{
	return key_of(p, l) != WHO_OTHER;
}

struct who who_of(const struct profile *p, uint32_t labels)
{
	size_t n;
	const struct label *l = profile_get_labels(p, labels, &n);
	struct who who = { 0 };

	for (size_t i = 0; i < n; i++) {
		switch (key_of(p, &l[i])) {
		case WHO_PID:
			who.pid = l[i].num;
			break;
		case WHO_TID:
			who.tid = l[i].num;
			break;
		case WHO_PROCESS:
			who.process = l[i].str;
			break;
		case WHO_THREAD:
			who.thread = l[i].str;
			break;
		case WHO_CONTAINER:
			who.container = l[i].str;
			break;
		case WHO_OTHER:
			break;
		}
	}
	return who;
}

bool mapping_is_program(const struct profile *p, uint32_t mapping)
{
	uint32_t filename = profile_get_mapping(p, mapping)->filename;
	const char *path = profile_get_string(p, filename), *name;

	if (profile_string_len(p, filename) > PATH_MAX)
		return false;
	name = path_basename(path);
	return *name && *name != '[' && !strstr(name, ".so") && strncmp(path, "//", 2);
}

uint32_t stack_program(const struct profile *p, uint32_t stack)
{
	size_t depth;
	const uint32_t *locations = profile_get_stack(p, stack, &depth);

	while (depth--) {
		uint32_t mapping = profile_get_location(p, locations[depth]).mapping;

		if (mapping_is_program(p, mapping))
			return mapping;
	}
	return 0;
}
