// SPDX-License-Identifier: Apache-2.0
#include "jfr/secret.h"

#include <stddef.h>
#include <string.h>

/* Fields that are dangerous wherever they are: also in events of later JDKs and of programs. */
static const char *const anywhere[] = {
	"commandLine", "jvmArguments", "javaArguments", "jvmFlags", "message", "exceptionMessage",
};

static const struct {
	const char *event, *field;
} rows[] = {
	{ "InitialEnvironmentVariable", "value" },
	{ "InitialSystemProperty", "value" },
	{ "SecurityPropertyModification", "value" },
	{ "StringFlag", "value" }, /* -XX:OnError=... */
	{ "StringFlagChanged", "oldValue" },
	{ "StringFlagChanged", "newValue" },
	{ "ProcessStart", "command" },
	{ "UserEvent", "data" },
};

bool secret_is(const char *event, const char *field)
{
	const char *dot = strrchr(event, '.');
	const char *name = dot ? dot + 1 : event;

	for (size_t i = 0; i < sizeof(anywhere) / sizeof(anywhere[0]); i++)
		if (!strcmp(field, anywhere[i]))
			return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(field, rows[i].field) && !strcmp(name, rows[i].event))
			return true;
	return false;
}
