// SPDX-License-Identifier: Apache-2.0
#include "core/mem_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"

#define READER_NICE (-15) /* as live sampling has; where it is allowed */

/* A message without a descriptor asks for bytes, as many questions as are in it; one with it hands
   it over. */
struct question {
	uint64_t addr, len;
};

/* The bytes of all are in the shared memory then, one after the other; what they are where there is
   an error says nothing. */
struct answer {
	uint64_t took_ns;
	int32_t errs[MEM_READER_PLACES];
};

/* How often a reader that is not stuck, but has to wait for a CPU, is given its time again. */
#define MAX_PATIENCE 40

/* All bytes, or why not. An address space that ended reads as an empty file, everywhere. */
static int read_fully(int fd, uint64_t addr, uint8_t *to, size_t len)
{
	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)addr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EIO ? -EFAULT : -errno;
		if (n == 0)
			return -ESRCH;
		to += n;
		addr += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* The descriptor in a message, -1: none. */
static int descriptor_in(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* All that is asked for into data. */
static void read_all(int mem, const struct question *qs, size_t n, uint8_t *data, struct answer *a)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (qs[i].len > MEM_READER_MAX - used)
			_exit(1);
		a->errs[i] = read_fully(mem, qs[i].addr, data + used, qs[i].len);
		used += qs[i].len;
	}
	a->took_ns = clock_ns(CLOCK_MONOTONIC) - start;
}

/* Calls nothing that could find a lock held in the program it was forked from. */
static void serve(int socket, uint8_t *data)
{
	int mem = -1;

	for (;;) {
		struct question qs[MEM_READER_PLACES];
		struct iovec iov = { qs, sizeof(qs) };
		union control control;
		struct msghdr m = { .msg_iov = &iov,
				    .msg_iovlen = 1,
				    .msg_control = &control,
				    .msg_controllen = sizeof(control) };
		struct answer a = { 0 };
		ssize_t n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
		int fd = n > 0 ? descriptor_in(&m) : -1;

		if (n <= 0)
			_exit(0);
		if (fd >= 0) {
			if (mem >= 0)
				close(mem);
			mem = fd;
			continue;
		}
		read_all(mem, qs, (size_t)n / sizeof(*qs), data, &a);
		if (write(socket, &a, sizeof(a)) < 0)
			_exit(0);
	}
}

/* Nothing of the program it was forked from is kept, and the terminal's ^C is not for it. */
static void become_reader(int socket, uint8_t *data, pid_t parent)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "weft-reader");
	/* Every answer is waited for. It costs what it costs either way. */
	setpriority(PRIO_PROCESS, 0, READER_NICE);
	if (getppid() != parent || dup2(socket, 0) < 0 || close_range(1, ~0U, 0) < 0 ||
	    chdir("/") < 0)
		_exit(1);
	serve(0, data);
}

int mem_reader_start(struct mem_reader *r, uint64_t timeout_ns)
{
	struct timeval timeout = { (time_t)(timeout_ns / NS_PER_S),
				   (suseconds_t)(timeout_ns % NS_PER_S / 1000) };
	pid_t parent = getpid();
	void *data;
	int ends[2];

	data = mmap(NULL, MEM_READER_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (data == MAP_FAILED)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		munmap(data, MEM_READER_MAX);
		return -EMFILE;
	}
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	r->timeout_ns = timeout_ns;
	r->pid = fork();
	if (r->pid == 0)
		become_reader(ends[1], data, parent);
	close(ends[1]);
	r->fd = ends[0];
	r->data = data;
	if (r->pid > 0)
		return 0;
	close(r->fd);
	munmap(data, MEM_READER_MAX);
	*r = (struct mem_reader){ 0 };
	return -EAGAIN;
}

int mem_reader_open(struct mem_reader *r, int mem_fd)
{
	struct question none = { 0 };
	struct iovec iov = { &none, sizeof(none) };
	union control control = { 0 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(mem_fd));
	memcpy(CMSG_DATA(c), &mem_fd, sizeof(mem_fd));
	return sendmsg(r->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -EPIPE : 0;
}

/* Could it go on if it only had a CPU? */
static bool is_ready(pid_t pid)
{
	char path[32], text[256] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		*text = '\0';
	if (fd >= 0)
		close(fd);
	state = strrchr(text, ')');
	return state && !strncmp(state, ") R", 3);
}

/* The length of the answer. A signal begins the timeout anew, but only before the time is up. */
static ssize_t receive(struct mem_reader *r, struct answer *a)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int patience = MAX_PATIENCE;
	ssize_t n;

	for (;;) {
		n = read(r->fd, a, sizeof(*a));
		if (n >= 0)
			return n;
		if (errno == EAGAIN && (!patience-- || !is_ready(r->pid)))
			break;
		if (errno == EAGAIN) {
			start = clock_ns(CLOCK_MONOTONIC);
			continue;
		}
		if (errno != EINTR)
			return -EPIPE;
		if (clock_ns(CLOCK_MONOTONIC) - start >= r->timeout_ns)
			break;
	}
	/* It may have come while we looked. */
	n = recv(r->fd, a, sizeof(*a), MSG_DONTWAIT);
	return n >= 0 ? n : -ETIMEDOUT;
}

int mem_reader_read(struct mem_reader *r, struct mem_place *places, size_t n, uint64_t *took_ns)
{
	struct question qs[MEM_READER_PLACES];
	struct answer a;
	size_t used = 0;
	ssize_t got;

	for (size_t i = 0; i < n; i++)
		qs[i] = (struct question){ places[i].addr, places[i].len };
	if (send(r->fd, qs, n * sizeof(*qs), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -EPIPE;
	got = receive(r, &a);
	if (got != sizeof(a))
		return got == -ETIMEDOUT ? -ETIMEDOUT : -EPIPE;
	for (size_t i = 0; i < n; i++) {
		places[i].err = a.errs[i];
		if (!a.errs[i])
			memcpy(places[i].buf, r->data + used, places[i].len);
		used += places[i].len;
	}
	*took_ns = a.took_ns;
	return 0;
}

void mem_reader_stop(struct mem_reader *r, bool is_stuck)
{
	if (!r->pid)
		return;
	close(r->fd);
	munmap(r->data, MEM_READER_MAX);
	kill(r->pid, SIGKILL);
	while (!is_stuck && waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*r = (struct mem_reader){ 0 };
}
