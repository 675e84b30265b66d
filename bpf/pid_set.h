/* SPDX-License-Identifier: Apache-2.0 */
/* A set of process ids. */
#ifndef BPF_PID_SET_H
#define BPF_PID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pid_set {
	pid_t *slots;	   /* 0 is free */
	size_t n_slots, n; /* n_slots: a power of two, or 0 */
};

bool pid_set_has(const struct pid_set *s, pid_t pid);
int pid_set_add(struct pid_set *s, pid_t pid); /* 0 or -ENOMEM; pids above 0 only */
void pid_set_remove(struct pid_set *s, pid_t pid);
void pid_set_deinit(struct pid_set *s);

#endif
