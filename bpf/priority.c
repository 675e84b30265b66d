// SPDX-License-Identifier: Apache-2.0
#include "bpf/priority.h"

#include <sys/resource.h>

#define LIVE_NICE (-15)

void priority_raise(struct priority *p)
{
	p->nice = getpriority(PRIO_PROCESS, 0);
	p->is_raised = p->nice > LIVE_NICE && setpriority(PRIO_PROCESS, 0, LIVE_NICE) == 0;
}

void priority_restore(struct priority *p)
{
	if (p->is_raised)
		setpriority(PRIO_PROCESS, 0, p->nice);
	p->is_raised = false;
}
