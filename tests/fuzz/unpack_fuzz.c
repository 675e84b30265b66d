// SPDX-License-Identifier: Apache-2.0
/* A file that a recording may be packed in; little comes out of it, however much it promises. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unpack_limits limits = unpack_limits_default;
	struct unpack_part part;
	struct unpack *u = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	limits.max_len = 1 << 20;
	limits.max_entries = 64;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		u = unpack_new(AT_FDCWD, path, 0, &limits);
	close(fd);
	while (u && unpack_next(u, &part)) {
		if (part.fd < 0 ? !part.err : !part.is_self && part.len > limits.max_len)
			abort();
		unpack_part_deinit(&part);
	}
	unpack_free(u);
	return 0;
}
