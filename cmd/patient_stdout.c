// SPDX-License-Identifier: Apache-2.0
#include "cmd/patient_stdout.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS 200

struct patient {
	int fd;
	bool (*is_stopped)(void);
};

static int wait_writable(const struct patient *p)
{
	struct pollfd poll_fd = { .fd = p->fd, .events = POLLOUT };

	for (;;) {
		int n = poll(&poll_fd, 1, LOOK_MS);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (p->is_stopped())
			return -EINTR;
	}
}

/* A pipe that can be written to takes PIPE_BUF without waiting. */
static ssize_t patient_write(void *cookie, const char *bytes, size_t len)
{
	const struct patient *p = (const struct patient *)cookie;
	size_t done = 0;

	while (done < len) {
		size_t part = len - done < PIPE_BUF ? len - done : PIPE_BUF;
		int err = wait_writable(p);
		ssize_t n = err ? -1 : write(p->fd, bytes + done, part);

		if (n < 0 && !err && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0) {
			errno = err ? -err : errno;
			return done ? (ssize_t)done : 0;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int patient_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *patient_open(int fd, bool (*is_stopped)(void))
{
	const cookie_io_functions_t io = { .write = patient_write, .close = patient_close };
	struct patient *p = (struct patient *)malloc(sizeof(*p));
	FILE *out;

	if (!p)
		return NULL;
	*p = (struct patient){ .fd = fd, .is_stopped = is_stopped };
	out = fopencookie(p, "w", io);
	if (!out)
		free(p);
	return out;
}
