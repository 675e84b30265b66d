// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/options.h"

/* ".25" in nanoseconds; *end is behind it. */
static int64_t fraction(const char *text, const char **end)
{
	int64_t ns = 0, digit = NS_PER_S / 10;

	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, digit /= 10)
			ns += (*text - '0') * digit;
	*end = text;
	return ns;
}

static bool parse_date(const char *text, int64_t *ns)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					       "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, formats[i], &tm);
		int64_t part = end ? fraction(end, &end) : 0;
		bool is_utc = end && *end == 'Z' && !end[1];

		if (!end || (*end && !is_utc))
			continue;
		*ns = (int64_t)(is_utc ? timegm(&tm) : mktime(&tm)) * (int64_t)NS_PER_S + part;
		return true;
	}
	return false;
}

bool jfr_time_parse(const char *text, int64_t *ns, bool *is_from_start)
{
	uint64_t length;

	*is_from_start = !strchr(text, ':');
	if (!*is_from_start)
		return parse_date(text, ns);
	if (!strcmp(text, "0") || !strcmp(text, "0s"))
		length = 0; /* the start itself; elsewhere a duration of nothing makes no sense */
	else if (parse_duration(text, &length) || length > INT64_MAX / 2)
		return false;
	*ns = (int64_t)length;
	return true;
}

int jfr_time_set(const char *text, int64_t start_ns, int64_t *ns)
{
	bool is_from_start;

	if (!text)
		return 0;
	if (!jfr_time_parse(text, ns, &is_from_start))
		return -EINVAL;
	if (is_from_start)
		*ns += start_ns;
	return is_from_start && !start_ns;
}
