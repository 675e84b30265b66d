// SPDX-License-Identifier: Apache-2.0
/* The text of /proc/PID: the first byte chooses the parser. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/maps_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	char id[CONTAINER_ID_SIZE];
	struct maps_line line;
	struct proc_stat st;
	struct proc_status status;

	if (!size)
		return 0;
	switch (data[0] & 3) {
	case 0:
		if (!maps_line_parse(text, size - 1, &line) &&
		    (line.start >= line.end || strlen(line.name) >= sizeof(line.name)))
			abort();
		break;
	case 1:
		proc_stat_parse(text, size - 1, &st);
		break;
	case 2:
		proc_status_parse(text, size - 1, &status);
		break;
	default:
		if (proc_cgroup_parse(text, size - 1, id) && strlen(id) != CONTAINER_ID_SIZE - 1)
			abort();
	}
	return 0;
}
