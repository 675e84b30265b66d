/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden files: what a format wrote must be, byte for byte, what tests/golden/NAME holds; else the
 * difference is printed. GOLDEN=update writes the files anew: a person reads the diff.
 */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/exporter.h"

/* What a profile looks like in a format, allocated. */
static inline char *exported(const char *format, const struct profile *p, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	assert_int_equal(exporter_by_name(format)->write(p, out), 0);
	fclose(out);
	return text;
}

static inline void assert_golden(const char *name, const char *text)
{
	const char *update = getenv("GOLDEN");
	char command[256], path[128];
	FILE *diff;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	snprintf(command, sizeof(command), "diff -u %s - >&2", path);
	if (update && !strcmp(update, "update"))
		snprintf(command, sizeof(command), "cat >%s", path);
	diff = popen(command, "w");
	assert_non_null(diff);
	fputs(text, diff);
	assert_int_equal(pclose(diff), 0);
}

#endif
