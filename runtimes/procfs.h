/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what /proc says about a live process. 0, or -ESRCH when it is gone, -EPERM,
   -EBADMSG. */
#ifndef RUNTIMES_PROCFS_H
#define RUNTIMES_PROCFS_H

#include "runtimes/maps_line.h"

int procfs_stat(pid_t pid, struct proc_stat *out);
int procfs_status(pid_t pid, struct proc_status *out);
/* Calls fn for each process there is, in no order; for none where there is no /proc. */
void procfs_each(void *ctx, void (*fn)(void *ctx, pid_t pid));
/* The process a thread belongs to; 0 when there is no such thread. */
pid_t procfs_process(pid_t tid);
/* id is "" when it runs in no container. */
int procfs_container(pid_t pid, char id[CONTAINER_ID_SIZE]);
/* Calls fn for each executable mapping until it fails; the first thread that still has an address
   space answers for a process whose main thread ended. -E2BIG: more lines than anyone should have.
 */
int procfs_maps(pid_t pid, int (*fn)(void *ctx, const struct maps_line *line), void *ctx);

#endif
