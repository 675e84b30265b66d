// SPDX-License-Identifier: Apache-2.0
/* Lines: a template, a path, and then what a recording says, by the first letter of each. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(struct workload *w, char *line)
{
	char *value = strchr(line, '=');

	if (*line == 'j')
		workload_java_arguments(w, line + 1);
	else if (*line == 'd')
		workload_jvm_arguments(w, line + 1);
	if (!*line || !value)
		return;
	*value++ = 0;
	if (*line == 'p')
		workload_property(w, line + 1, value);
	else if (*line == 'e')
		workload_environment(w, line + 1, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *pattern, *path, *line;
	struct workload w = { 0 };

	memcpy(text, data, size);
	text[size] = 0;
	pattern = strsep(&rest, "\n");
	path = rest ? strsep(&rest, "\n") : pattern;
	workload_template(&w, pattern, path);
	workload_path(&w, path);
	while ((line = strsep(&rest, "\n")))
		add(&w, line);
	workload_finish(&w);
	for (size_t i = 0; i < WORKLOAD_N_FIELDS; i++)
		if (strlen(workload_get(&w, i)) >= WORKLOAD_NAME_MAX)
			abort();
	free(text);
	return 0;
}
