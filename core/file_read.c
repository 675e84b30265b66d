// SPDX-License-Identifier: Apache-2.0
#include "core/file_read.h"

#include <errno.h>
#include <unistd.h>

int file_read(int fd, uint64_t at, void *buf, size_t len, size_t *got)
{
	char *to = buf;

	*got = 0;
	while (*got < len) {
		ssize_t n = pread(fd, to + *got, len - *got, (off_t)(at + *got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*got += (size_t)n;
	}
	return 0;
}
