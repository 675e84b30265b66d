// SPDX-License-Identifier: Apache-2.0
#include "jfr/workload_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/text.h"

#define MIN_ID_LEN 12 /* hexadecimal digits of a short container id */
#define DATE_LEN 10   /* "2026_11_20" */

/* How recordings are called that nobody gave a name. */
static const char *const names_of_recordings[] = {
	"hotspot-pid-", "hs_err_pid", "hs_oom_pid", "hs_soe_pid", "recording-", "flight_recording"
};

static bool is_date(const char *text, size_t len)
{
	static const char form[] = "dddd-dd-dd";

	if (len < DATE_LEN)
		return false;
	for (size_t i = 0; i < DATE_LEN; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i]) : !strchr("-_.", text[i]))
			return false;
	return true;
}

bool workload_is_name(const char *text, size_t len)
{
	size_t n_digits = 0, n_hex = 0, n_letters = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		n_digits += !!isdigit(c);
		n_hex += isxdigit(c) || c == '-';
		n_letters += isalpha(c) || c >= 0x80;
	}
	if (!n_letters || is_date(text, len))
		return false;
	if (n_hex == len && n_digits && len >= MIN_ID_LEN)
		return false;
	for (size_t i = 0; i < sizeof(names_of_recordings) / sizeof(char *); i++) {
		size_t start = strlen(names_of_recordings[i]);

		if (len >= start && !strncasecmp(text, names_of_recordings[i], start))
			return false;
	}
	return true;
}

/* What a template that nobody filled in left, or an agent that was told nothing. */
static bool is_placeholder(const char *text, size_t len)
{
	return (len >= 2 && text[0] == '$' && (text[1] == '{' || text[1] == '(')) ||
	       (len >= 15 && !strncmp(text, "unknown_service", 15));
}

void workload_set(struct workload *w, enum workload_field field, enum workload_trust trust,
		  const char *text, size_t len)
{
	struct workload_name *name = &w->names[field];
	char copy[WORKLOAD_NAME_MAX];

	while (len && isspace((unsigned char)text[0])) {
		text++;
		len--;
	}
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len || trust <= name->trust || is_placeholder(text, len))
		return;
	if (trust <= TRUST_TEMPLATE && field == WORKLOAD_SERVICE && !workload_is_name(text, len))
		return;
	if (len >= sizeof(copy))
		len = sizeof(copy) - 1;
	memcpy(copy, text, len);
	copy[len] = 0;
	text_safe(copy, name->text, sizeof(name->text));
	name->trust = (uint8_t)trust;
}
