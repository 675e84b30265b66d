// SPDX-License-Identifier: Apache-2.0
#include "bpf/wakeup.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"

/* Between two looks into the buffers: a storm of events must not mean a storm of wake-ups. */
#define MIN_WAIT_NS 1000000

int wakeup_open(struct wakeup *w)
{
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return w->epoll_fd < 0 ? -errno : 0;
}

void wakeup_close(struct wakeup *w)
{
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	w->epoll_fd = -1;
}

int wakeup_add(struct wakeup *w, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

void wakeup_wait(struct wakeup *w, int timeout_ms)
{
	struct epoll_event events[8];
	uint64_t since = clock_ns(CLOCK_MONOTONIC) - w->last_ns;

	if (since < MIN_WAIT_NS)
		usleep((useconds_t)((MIN_WAIT_NS - since) / 1000));
	epoll_wait(w->epoll_fd, events, 8, timeout_ms);
	w->last_ns = clock_ns(CLOCK_MONOTONIC);
}
