/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command after `--`: forked early, but it does not run before child_go(), so that sampling can
 * begin before its first instruction.
 */
#ifndef CMD_CHILD_H
#define CMD_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;  /* 0: there is none */
	int go;	    /* a byte written here lets it run; closed: it never will */
	int failed; /* the errno of an exec that failed comes from here */
	bool has_ended;
	int wait_status; /* as of wait(2), once it has ended */
	uint64_t cpu_ns; /* what it used with its waited-for children, once it has ended */
};

/* out: what it gets as its stdout. Signals are to it what they were to weft. 0 or a negative errno.
 */
int child_start(struct child *c, char **command, int out);
int child_go(struct child *c);	       /* 0, or the negative errno of exec */
bool child_has_ended(struct child *c); /* does not wait */
/* Waits for its end: with asks after a SIGTERM, no longer than CHILD_PATIENCE_S and not in a hurry;
   else as long as no signal is caught. False: it is still running. */
bool child_wait(struct child *c, bool asks);
/* As a shell would say it: 128+n when a signal ended it. */
int child_exit_status(const struct child *c);
/* Before child_go(): the command never runs. After it: nothing happens to it. */
void child_release(struct child *c);

#define CHILD_PATIENCE_S 5

#endif
