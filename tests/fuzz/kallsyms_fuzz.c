// SPDX-License-Identifier: Apache-2.0
/* The text of /proc/kallsyms. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolizer/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC), err;
	struct kallsyms *k = NULL;
	const char *module;
	uint64_t start;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		k = kallsyms_load(path, &err);
	for (uint64_t i = 0; k && i < 16; i++)
		kallsyms_find(k, UINT64_C(0xffffffff81000000) + i * 0x1000, &module, &start);
	kallsyms_free(k);
	close(fd);
	return 0;
}
