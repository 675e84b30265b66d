/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for records of the kernel's, but not too eagerly. */
#ifndef BPF_WAKEUP_H
#define BPF_WAKEUP_H

#include <stdint.h>

struct wakeup {
	int epoll_fd; /* what is waited for is added to it; -1: not open */
	uint64_t last_ns;
};

int wakeup_open(struct wakeup *w); /* 0 or -errno */
void wakeup_close(struct wakeup *w);
int wakeup_add(struct wakeup *w, int fd); /* 0 or -errno */
/* Until there is something to read, a signal comes or the time is over. */
void wakeup_wait(struct wakeup *w, int timeout_ms);

#endif
