// SPDX-License-Identifier: Apache-2.0
#include "cmd/verb.h"

#include <string.h>

const struct verb *const verbs[] = {
	&verb_record, &verb_dump, &verb_jfr,	    &verb_report,  &verb_symbolize,
	&verb_doctor, &verb_help, &verb_completion, &verb_version, NULL,
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (!strcmp(verbs[i]->name, name))
			return verbs[i];
	return NULL;
}

const struct verb *verb_near(const char *name)
{
	unsigned int best = NEAR_ENOUGH;
	const struct verb *near = NULL;

	for (size_t i = 0; verbs[i]; i++) {
		unsigned int edits = options_distance(name, verbs[i]->name);

		if (edits < best) {
			best = edits;
			near = verbs[i];
		}
	}
	return near;
}
