// SPDX-License-Identifier: Apache-2.0
#include "exporter/pprof_comment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "core/scoped.h"

#define COUNTS "weft.count: "
#define HOST "weft.host: "

/* Caps for files of others: each count is looked for among the ones before it. */
#define MAX_COUNTS 1000
#define MAX_COUNTS_LEN (16 * 1024)

char *pprof_comment_counts(const struct profile *p)
{
	uint32_t n = profile_n_counts(p);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t count;
		const char *name = profile_get_count(p, i, &count);

		/* The first says that there are counts, if need be that all are 0. */
		if (i && !count)
			continue;
		fprintf(out, "%s%s %" PRIu64, i ? ", " : COUNTS, name, count);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *pprof_comment_host(const struct profile *p)
{
	uint32_t hostname = profile_get_header(p)->hostname;
	char *text;

	if (!hostname)
		return strdup("");
	return asprintf(&text, HOST "%s", profile_get_string(p, hostname)) < 0 ? NULL : text;
}

static bool read_counts(char *text, struct profile *p)
{
	char *save, *item;

	for (item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		char *name = item + strspn(item, " "), *number = strrchr(name, ' ');

		if (!number || number[1] < '0' || number[1] > '9' ||
		    profile_n_counts(p) >= MAX_COUNTS)
			return false;
		*number++ = 0;
		profile_count(p, name, strtoull(number, NULL, 10));
	}
	return true;
}

bool pprof_comment_read(const char *text, struct profile *p)
{
	if (!strncmp(text, COUNTS, strlen(COUNTS)) &&
	    strnlen(text, MAX_COUNTS_LEN) < MAX_COUNTS_LEN) {
		SCOPED(free) char *copy = strdup(text + strlen(COUNTS));

		return copy && read_counts(copy, p);
	}
	if (!strncmp(text, HOST, strlen(HOST))) {
		profile_header(p)->hostname = profile_string(p, text + strlen(HOST));
		return true;
	}
	return false;
}
