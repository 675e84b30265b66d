/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs there are, by the kernel's lists in /sys/devices/system/cpu: "0-3,8,10-11". */
#ifndef BPF_CPUS_H
#define BPF_CPUS_H

#include <stdbool.h>

#define CPUS_MAX 65536 /* numbers in a list are below this */

struct cpus {
	int n_possible; /* their numbers are below this; at least 1 */
	int n_online;	/* at least 1 */
	bool *is_online;
};

/* Numbers of the machine's CPUs are below this; some may be offline. At least 1. */
int cpus_possible(void);
/* How many CPUs the list has; marks those below n in is_on, which may be NULL. -EBADMSG: it is no
   such list, and what is marked says nothing. */
int cpus_parse(const char *list, bool *is_on, int n);
/* Those of the machine; online: NULL, or another file with their list. What cannot be read counts
   as all of them. 0 or -ENOMEM. */
int cpus_load(struct cpus *c, const char *online);
void cpus_deinit(struct cpus *c);

#endif
