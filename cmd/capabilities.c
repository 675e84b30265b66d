// SPDX-License-Identifier: Apache-2.0
#include "cmd/capabilities.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/log.h"

static const struct capability used[] = {
	{ CAP_BPF, "CAP_BPF", true, "BPF programs cannot be loaded" },
	{ CAP_PERFMON, "CAP_PERFMON", true, "other processes cannot be sampled" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", false,
	  "files and memory of other users' processes cannot be read" },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", false,
	  "binaries that only their owner may read have no names" },
	{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", false,
	  "deleted binaries have no names" },
	{ CAP_SYSLOG, "CAP_SYSLOG", false, "kernel functions may have no names" },
};

#define N_USED (sizeof(used) / sizeof(used[0]))

const struct capability *capabilities_used(size_t *n)
{
	*n = N_USED;
	return used;
}

bool capability_is_in(const struct capability *c, uint64_t effective)
{
	/* CAP_SYS_ADMIN includes those that were made of it and that one must have. */
	return effective >> c->number & 1 || (c->is_must && effective >> CAP_SYS_ADMIN & 1);
}

/* Of this process; all of them where that cannot be known. */
static uint64_t effective_now(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data) < 0)
		return UINT64_MAX;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

void capabilities_say_missing(void)
{
	uint64_t effective = effective_now();
	char line[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < N_USED; i++) {
		if (used[i].is_must || capability_is_in(&used[i], effective))
			continue;
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%s%s is missing: %s",
					len ? "; " : "", used[i].name, used[i].without);
	}
	if (len)
		log_info("%s (see `weft doctor`)", line);
}
