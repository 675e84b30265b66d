/* SPDX-License-Identifier: Apache-2.0 */
/* What a verb prints to stdout. */
#ifndef TESTS_UNIT_CAPTURE_H
#define TESTS_UNIT_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/verb.h"

/* Runs the verb; its output is to be freed. */
static inline char *capture(const struct verb *v, const struct options *opt, int *status)
{
	FILE *to = tmpfile();
	int saved = dup(STDOUT_FILENO);
	ssize_t got;
	char *text;
	long len;

	fflush(stdout);
	dup2(fileno(to), STDOUT_FILENO);
	*status = v->run(opt);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	len = lseek(fileno(to), 0, SEEK_END);
	text = calloc((size_t)len + 1, 1);
	got = pread(fileno(to), text, (size_t)len, 0);
	fclose(to);
	if (got != len)
		abort();
	return text;
}

#endif
