// SPDX-License-Identifier: Apache-2.0
#include "cmd/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "core/hurry.h"
#include "core/scoped.h"

/* Waits for its byte and becomes the command. */
__attribute__((noreturn)) static void become(char **command, int out, int go, int failed)
{
	char byte;
	int err;

	interrupt_restore();
	if (out != STDOUT_FILENO && dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	if (read(go, &byte, 1) != 1)
		_exit(0);
	execvp(command[0], command);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(1);
	_exit(err == ENOENT ? 127 : 126);
}

int child_start(struct child *c, char **command, int out)
{
	SCOPED(close) int go_read = -1;
	SCOPED(close) int failed_write = -1;
	int go[2], failed[2];

	*c = (struct child){ .go = -1, .failed = -1 };
	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	go_read = go[0];
	c->go = go[1];
	if (pipe2(failed, O_CLOEXEC) < 0)
		return -errno;
	c->failed = failed[0];
	failed_write = failed[1];
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (!c->pid) {
		close(c->go); /* else it would wait for itself */
		become(command, out, go_read, failed_write);
	}
	return 0;
}

int child_go(struct child *c)
{
	int err = 0;
	ssize_t n;

	if (write(c->go, "", 1) != 1)
		return -errno;
	do {
		n = read(c->failed, &err, sizeof(err)); /* ends with exec */
	} while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? -err : 0;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static bool reap(struct child *c, int flags)
{
	struct rusage used;

	if (c->has_ended || !c->pid)
		return true;
	if (wait4(c->pid, &c->wait_status, flags, &used) != c->pid)
		return false;
	c->has_ended = true;
	c->cpu_ns = ns_of(&used.ru_utime) + ns_of(&used.ru_stime);
	return true;
}

bool child_has_ended(struct child *c)
{
	return reap(c, WNOHANG);
}

bool child_wait(struct child *c, bool asks)
{
	const struct timespec moment = { .tv_nsec = 20000000 };

	if (!asks)
		return reap(c, 0);
	if (!child_has_ended(c))
		kill(c->pid, SIGTERM);
	for (int i = 0; i < CHILD_PATIENCE_S * 50 && !child_has_ended(c) && !hurry_is_on(); i++)
		nanosleep(&moment, NULL);
	return child_has_ended(c);
}

int child_exit_status(const struct child *c)
{
	return WIFSIGNALED(c->wait_status) ? 128 + WTERMSIG(c->wait_status)
					   : WEXITSTATUS(c->wait_status);
}

void child_release(struct child *c)
{
	if (c->go >= 0)
		close(c->go);
	if (c->failed >= 0)
		close(c->failed);
	c->go = c->failed = -1;
}
