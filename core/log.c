// SPDX-License-Identifier: Apache-2.0
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scoped.h"
#include "core/text.h"

static enum log_level level = LOG_NORMAL;

void log_set_level(enum log_level new_level)
{
	level = new_level;
}

enum log_level log_get_level(void)
{
	return level;
}

/* A message may hold what a target calls itself, but its line breaks are ours. */
static void print_safe(char *text)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		SCOPED(free) char *safe = text_safe_dup(line);

		fputs(safe ? safe : "out of memory", stderr);
		fputc('\n', stderr);
	}
}

static void print(const char *fmt, va_list args)
{
	SCOPED(free) char *text = NULL;

	flockfile(stderr);
	fputs("weft: ", stderr);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	print_safe(text ? text : (char[]){ "out of memory" });
	funlockfile(stderr);
}

#define PRINT_AT(least)              \
	do {                         \
		va_list args;        \
		if (level < (least)) \
			return;      \
		va_start(args, fmt); \
		print(fmt, args);    \
		va_end(args);        \
	} while (0)

void log_error(const char *fmt, ...)
{
	PRINT_AT(LOG_QUIET);
}

void log_info(const char *fmt, ...)
{
	PRINT_AT(LOG_NORMAL);
}

void log_debug(const char *fmt, ...)
{
	PRINT_AT(LOG_VERBOSE);
}
