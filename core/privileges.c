// SPDX-License-Identifier: Apache-2.0
#include "core/privileges.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <unistd.h>

int privileges_drop(void)
{
	cap_t none;
	int err;

	if (!geteuid())
		return 0;
	none = cap_init();
	if (!none)
		return -ENOMEM;
	err = cap_set_proc(none) < 0 ? -errno : 0;
	cap_free(none);
	return err;
}

bool privileges_any(void)
{
	cap_t have, none;
	bool is_any;

	if (!geteuid())
		return true;
	have = cap_get_proc();
	none = cap_init();
	/* Without memory to tell, what is written had better be private. */
	is_any = !have || !none || CAP_DIFFERS(cap_compare(have, none), CAP_EFFECTIVE) ||
		 CAP_DIFFERS(cap_compare(have, none), CAP_PERMITTED);
	cap_free(have);
	cap_free(none);
	return is_any;
}

const char *privileges_why_refused(void)
{
	cap_t have = cap_get_proc();
	cap_flag_value_t may = CAP_CLEAR;

	if (have)
		cap_get_flag(have, CAP_SYS_PTRACE, CAP_EFFECTIVE, &may);
	cap_free(have);
	return may == CAP_SET ? "weft has CAP_SYS_PTRACE, but a security module or an outer user "
				"namespace protects it"
			      : "CAP_SYS_PTRACE is missing";
}

/* A user or group id that sudo left in the environment. */
static bool id_of(const char *name, unsigned int *id)
{
	const char *text = secure_getenv(name);
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*id = (unsigned int)value;
	return true;
}

void privileges_hand_over(int fd)
{
	unsigned int uid, gid;

	if (!geteuid() && id_of("SUDO_UID", &uid) && id_of("SUDO_GID", &gid) &&
	    fchown(fd, uid, gid) < 0)
		errno = 0; /* it stays root's, which is safe */
}
