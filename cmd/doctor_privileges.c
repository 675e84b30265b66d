// SPDX-License-Identifier: Apache-2.0
/* What weft may do: capabilities, and the sysctls that stand in its way. */
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/kernel_half.h"
#include "cmd/capabilities.h"
#include "cmd/doctor.h"
#include "cmd/show.h"
#include "core/scoped.h"

#define SETCAP                                                                \
	"sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search," \
	"cap_checkpoint_restore,cap_syslog=ep $(command -v weft)"

static void check_capabilities(const struct machine *m, struct findings *all)
{
	bool has_all = true;
	size_t n;
	const struct capability *used = capabilities_used(&n);

	for (size_t i = 0; i < n; i++) {
		if (capability_is_in(&used[i], m->caps))
			continue;
		finding_set(findings_add(all, "capabilities"),
			    used[i].is_must ? FINDING_NO : FINDING_PART, has_all ? SETCAP : "",
			    "%s is missing: %s", used[i].name, used[i].without);
		has_all = false; /* the fix is the same for all of them */
	}
	if (has_all)
		finding_set(findings_add(all, "capabilities"), FINDING_OK, "",
			    "all six that weft uses");
}

/* Capabilities count for the whole machine only in the first user namespace. */
static void check_user_namespace(const struct machine *m, struct findings *all)
{
	unsigned int inside = 1, outside = 1, count = 0;
	char map[128];

	if (!machine_read(m, "/proc/self/uid_map", map, sizeof(map)))
		return;
	if (sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 &&
	    (inside || outside || count != 4294967295U))
		finding_set(findings_add(all, "user namespace"), FINDING_NO,
			    "run weft outside of it, or the container without one",
			    "this is not the first one: capabilities do not reach the machine");
}

static void check_pid_namespace(const struct machine *m, struct findings *all)
{
	char pids[128];
	bool is_inside = machine_field(m, "/proc/self/status", "NSpid", pids, sizeof(pids)) &&
			 strpbrk(pids, " \t");

	/* A /proc of the namespace itself shows no other numbers. */
	if (is_inside || (m->is_real && !kernel_half_has_pids()))
		finding_set(findings_add(all, "pid namespace"), FINDING_NO,
			    "run weft on the host, or share its pids (docker --pid=host, "
			    "kubernetes hostPID)",
			    "the pids in here are not the machine's, which samples have");
}

static void check_paranoid(const struct machine *m, struct findings *all)
{
	long level = machine_number(m, "/proc/sys/kernel/perf_event_paranoid", -2);

	if (level == -2)
		return; /* said by the perf events check */
	if (level <= -1 || machine_may(m, CAP_PERFMON) || machine_may(m, CAP_SYS_ADMIN))
		finding_set(findings_add(all, "perf_event_paranoid"), FINDING_OK, "", "%ld%s",
			    level, level > -1 ? ", which CAP_PERFMON overrides" : "");
	else
		finding_set(findings_add(all, "perf_event_paranoid"), FINDING_NO,
			    "CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1",
			    "%ld: sampling the machine is not permitted without CAP_PERFMON",
			    level);
}

static void check_unprivileged_bpf(const struct machine *m, struct findings *all)
{
	long level = machine_number(m, "/proc/sys/kernel/unprivileged_bpf_disabled", -1);

	if (level < 0)
		return; /* said by the bpf() check */
	finding_set(findings_add(all, "unprivileged BPF"), FINDING_OK, "",
		    level ? "off, which does not matter with CAP_BPF"
			  : "on; weft needs CAP_BPF all the same");
}

static void check_kallsyms(const struct machine *m, struct findings *all)
{
	long level = machine_number(m, "/proc/sys/kernel/kptr_restrict", 0);
	struct finding *f = findings_add(all, "kernel symbols");

	if (!machine_has(m, "/proc/kallsyms"))
		finding_set(f, FINDING_PART, "a kernel with CONFIG_KALLSYMS",
			    "no /proc/kallsyms: kernel functions have no names");
	else if (level >= 2)
		finding_set(f, FINDING_PART, "sysctl kernel.kptr_restrict=1",
			    "kptr_restrict is %ld: kernel functions have no names", level);
	else if (!machine_may(m, CAP_SYSLOG) &&
		 (level == 1 || machine_number(m, "/proc/sys/kernel/perf_event_paranoid", 2) > 1))
		finding_set(f, FINDING_PART, "CAP_SYSLOG",
			    "kptr_restrict is %ld and CAP_SYSLOG is missing: kernel functions have "
			    "no names",
			    level);
	else
		finding_set(f, FINDING_OK, "", "/proc/kallsyms, kptr_restrict is %ld", level);
}

static void check_yama(const struct machine *m, struct findings *all)
{
	long scope = machine_number(m, "/proc/sys/kernel/yama/ptrace_scope", 0);
	struct finding *f = findings_add(all, "ptrace_scope");

	if (scope >= 3)
		finding_set(f, FINDING_PART, "it can only be lowered by a boot with less",
			    "%ld: no one may read the memory of other processes", scope);
	else if (scope && !machine_may(m, CAP_SYS_PTRACE))
		finding_set(f, FINDING_PART, "CAP_SYS_PTRACE",
			    "%ld: memory of other processes cannot be read", scope);
	else
		finding_set(f, FINDING_OK, "", "%ld%s", scope,
			    scope ? ", which CAP_SYS_PTRACE overrides" : "");
}

static void check_debug_files(const struct machine *m, struct findings *all)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	bool has = machine_has(m, "/usr/lib/debug/.build-id");

	finding_set(findings_add(all, "debug files"), FINDING_OK, "", "%s; %s",
		    has ? "/usr/lib/debug has some" : "none in /usr/lib/debug",
		    servers && *servers ? "--debuginfod asks the servers in DEBUGINFOD_URLS"
					: "DEBUGINFOD_URLS is not set");
}

void doctor_check_privileges(struct findings *all, const struct machine *m)
{
	static const struct {
		void (*check)(const struct machine *m, struct findings *all);
	} checks[] = {
		{ check_capabilities }, { check_user_namespace },   { check_pid_namespace },
		{ check_paranoid },	{ check_unprivileged_bpf }, { check_kallsyms },
		{ check_yama },		{ check_debug_files },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i].check(m, all);
}
