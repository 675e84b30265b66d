// SPDX-License-Identifier: Apache-2.0
/* Core files as target memory: load, read at both ends of the address space, free. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("core", MFD_CLOEXEC), err = 0;
	char path[64];
	uint8_t out[256];
	struct mem *m;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		m = mem_core(path, &err);
		if (m) {
			mem_read(m, 0x5000, out, sizeof(out));
			mem_read(m, UINT64_MAX - 8, out, 16);
			mem_free(m);
		}
	}
	close(fd);
	return 0;
}
