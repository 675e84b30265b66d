/* SPDX-License-Identifier: Apache-2.0 */
/* Which C library a process has: they keep what is a thread's in different places. */
#ifndef RUNTIMES_LIBC_H
#define RUNTIMES_LIBC_H

#include <stdbool.h>

struct process;

/* By the program interpreter that the program asks for; false for one that is linked statically. */
bool libc_is_musl(const struct process *proc);

#endif
