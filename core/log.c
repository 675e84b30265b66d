// SPDX-License-Identifier: Apache-2.0
#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level level = LOG_NORMAL;

void log_set_level(enum log_level new_level)
{
	level = new_level;
}

enum log_level log_get_level(void)
{
	return level;
}

static void print(const char *fmt, va_list args)
{
	flockfile(stderr);
	fputs("weft: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
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
