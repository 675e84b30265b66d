// SPDX-License-Identifier: Apache-2.0
#include "core/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

/* The decimal number s begins with; *rest is what follows it. */
static int parse_decimal(const char *s, double *value, const char **rest)
{
	size_t digits = strspn(s, "0123456789.");
	char *end;

	if (!digits || digits > 18)
		return -EINVAL;
	*value = strtod(s, &end);
	*rest = s + digits;
	return end == *rest ? 0 : -EINVAL;
}

static int parse_scaled(const char *s, const struct unit *units, double max, uint64_t *out)
{
	const char *rest;
	double value;

	if (parse_decimal(s, &value, &rest) < 0)
		return -EINVAL;
	for (; units->name; units++) {
		if (strcmp(rest, units->name))
			continue;
		value *= units->factor;
		if (value < 1 || value > max)
			return -EINVAL;
		*out = (uint64_t)value;
		return 0;
	}
	return -EINVAL;
}

int parse_duration(const char *s, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "", 1e9 },   { "s", 1e9 },	{ "ms", 1e6 }, { "us", 1e3 },
		{ "m", 60e9 }, { "h", 3600e9 }, { NULL, 0 },
	};

	return parse_scaled(s, units, 366 * 86400e9, ns);
}

int parse_size(const char *s, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 },	   { "B", 1 },	    { "K", 0x1p10 }, { "KB", 0x1p10 },
		{ "KiB", 0x1p10 }, { "k", 0x1p10 }, { "M", 0x1p20 }, { "MB", 0x1p20 },
		{ "MiB", 0x1p20 }, { "m", 0x1p20 }, { "G", 0x1p30 }, { "GB", 0x1p30 },
		{ "GiB", 0x1p30 }, { "g", 0x1p30 }, { NULL, 0 },
	};

	return parse_scaled(s, units, 0x1p50, bytes);
}

int parse_percent(const char *s, double *percent)
{
	const char *rest;
	double value;

	if (parse_decimal(s, &value, &rest) < 0 || (*rest && strcmp(rest, "%")) || value > 100)
		return -EINVAL;
	*percent = value;
	return 0;
}

int parse_count(const char *s, unsigned int min, unsigned int max, unsigned int *n)
{
	size_t digits = strspn(s, "0123456789");
	unsigned long value;

	if (!digits || s[digits] || digits > 10)
		return -EINVAL;
	value = strtoul(s, NULL, 10);
	if (value < min || value > max)
		return -EINVAL;
	*n = (unsigned int)value;
	return 0;
}
