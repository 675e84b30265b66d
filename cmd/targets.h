/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that -p and --tid mean, as /proc knows them. */
#ifndef CMD_TARGETS_H
#define CMD_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/options.h"

/* Looks names up and sees that every pid and tid is there. EXIT_OK and the pids in *out (to be
   freed), or EXIT_NO_TARGET after saying what is wrong; EXIT_FAILED without memory. */
int targets_find(const struct options *opt, struct pid_list *out);

bool targets_alive(const struct pid_list *pids); /* at least one */
/* CPU time a process has used so far; 0 when it is gone. */
uint64_t target_cpu_ns(pid_t pid);
/* Its command name, "" when it is gone; out has room for 16. Bytes of a target. */
const char *target_comm(pid_t pid, char *out);
bool targets_any_named(const char *comm); /* is there a process with this command name? */

#endif
