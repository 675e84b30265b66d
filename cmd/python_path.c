// SPDX-License-Identifier: Apache-2.0
#include "cmd/python_path.h"

#include <string.h>

/* Behind the last of these folders; NULL: there is none. */
static const char *behind_last(const char *path, const char *folder)
{
	const char *found = NULL;

	while ((path = strstr(path, folder))) {
		path += strlen(folder);
		found = path;
	}
	return found && *found ? found : NULL;
}

/* Behind "/lib/python3.12/" ("/lib64/", "python3.13t"). */
static const char *behind_library(const char *path)
{
	const char *lib = strstr(path, "/lib64/python");
	const char *version;

	if (!lib)
		lib = strstr(path, "/lib/python");
	if (!lib)
		return NULL;
	version = strchr(lib + 1, '/') + sizeof("/python") - 1;
	version += strspn(version, "0123456789.td");
	return version[-1] != 'n' && *version == '/' && version[1] ? version + 1 : NULL;
}

const char *python_path_short(const char *path)
{
	const char *rest = behind_last(path, "/site-packages/");

	if (!rest)
		rest = behind_last(path, "/dist-packages/");
	if (!rest)
		rest = behind_library(path);
	return rest ? rest : path;
}
