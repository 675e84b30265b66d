/* SPDX-License-Identifier: Apache-2.0 */
/* A table of processes, a folder of its own and children for the tests of runtimes/process.h. */
#ifndef TESTS_UNIT_PROCESS_FIXTURE_H
#define TESTS_UNIT_PROCESS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtimes/process.h"
#include "symbolizer/object.h"

/* A pid no process has: above the largest pid_max. */
#define NO_PID 0x7ffffff0
#define PROCESS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

struct fixture {
	struct objects *os;
	struct processes *ps;
	char dir[40];
	int drops;
};

static inline void count_drop(void *ctx, struct process *proc)
{
	(void)proc;
	((struct fixture *)ctx)->drops++;
}

static inline int setup(void **state)
{
	static const struct object_options options;
	struct fixture *f = calloc(1, sizeof(*f));

	f->os = objects_new(&options);
	f->ps = processes_new(f->os);
	processes_on_drop(f->ps, count_drop, f);
	strcpy(f->dir, "/tmp/weft_process.XXXXXX");
	*state = f;
	return mkdtemp(f->dir) ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	processes_free(f->ps);
	objects_free(f->os);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	if (system(command))
		return -1;
	free(f);
	return 0;
}

static inline uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline void apply(struct fixture *f, struct process_event ev)
{
	if (!ev.time_ns)
		ev.time_ns = now();
	if (!ev.tid)
		ev.tid = ev.pid;
	assert_int_equal(processes_apply(f->ps, &ev), 0);
}

static inline void fork_event(struct fixture *f, uint64_t time_ns, pid_t pid, pid_t parent)
{
	apply(f, (struct process_event){
			 .type = PROCESS_FORK, .time_ns = time_ns, .pid = pid, .parent = parent });
}

static inline void exec_event(struct fixture *f, uint64_t time_ns, pid_t pid, const char *comm)
{
	apply(f, (struct process_event){
			 .type = PROCESS_EXEC, .time_ns = time_ns, .pid = pid, .name = comm });
}

static inline void exit_event(struct fixture *f, uint64_t time_ns, pid_t pid)
{
	apply(f, (struct process_event){ .type = PROCESS_EXIT, .time_ns = time_ns, .pid = pid });
}

static inline struct process *find(struct fixture *f, pid_t pid)
{
	return processes_find(f->ps, pid, 0, 0);
}

static inline void copy_file(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	assert_int_equal(system(command), 0);
}

/* A child that does what it is told and then waits to be killed. */
static inline pid_t start(void (*fn)(void *ctx), void *ctx)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		/* A test that fails must not leave anybody behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		fcntl(ready[1], F_SETFD, FD_CLOEXEC);
		fn(ctx);
		if (write(ready[1], "x", 1) < 0)
			_exit(1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	/* Also ends when exec closes it. */
	while (read(ready[0], &c, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
	return pid;
}

/* Until a child is asleep (S), or its main thread ended (Z). */
static inline void wait_for_state(pid_t pid, char wanted)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 1000 && state != wanted; i++) {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		if (fscanf(f, "%*d %*[^)]) %c", &state) != 1)
			state = 0;
		fclose(f);
		usleep(10000);
	}
	assert_int_equal(state, wanted);
}

static inline void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
