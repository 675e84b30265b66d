// SPDX-License-Identifier: Apache-2.0
#include "exporter/pprof_kind.h"

#include <stdbool.h>
#include <string.h>

static bool ends_with(const struct profile *p, uint32_t string, const char *end)
{
	size_t len = profile_string_len(p, string), end_len = strlen(end);

	return len >= end_len && !strcmp(profile_get_string(p, string) + len - end_len, end);
}

enum frame_kind pprof_guess_kind(const struct profile *p, uint32_t mapping, uint32_t function)
{
	static const struct {
		const char *end;
		enum frame_kind kind;
	} files[] = {
		{ ".go", FRAME_GO },   { ".py", FRAME_PYTHON },	 { ".java", FRAME_JAVA },
		{ ".kt", FRAME_JAVA }, { ".scala", FRAME_JAVA },
	};
	const char *mapped = profile_get_string(p, profile_get_mapping(p, mapping)->filename);
	uint32_t file = profile_get_function(p, function)->filename;

	if (!strncmp(mapped, "[kernel", 7) || !strncmp(mapped, "[guest.kernel", 13))
		return FRAME_KERNEL;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (ends_with(p, file, files[i].end))
			return files[i].kind;
	return *mapped ? FRAME_NATIVE : FRAME_UNKNOWN;
}
