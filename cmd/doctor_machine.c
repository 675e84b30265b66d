// SPDX-License-Identifier: Apache-2.0
/* What the kernel can do for weft. */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/cpus.h"
#include "bpf/kernel_features.h"
#include "bpf/memory_plan.h"
#include "cmd/doctor.h"
#include "cmd/show.h"
#include "core/scoped.h"
#include "core/text.h"

#define FIRST_KERNEL 5010 /* the floor that the kernel half is written for */
#define NO_MEMLOCK 5011	  /* from here on BPF memory is charged to the cgroup */
#define MAX_RESOLUTION_NS 500000
#define SLOW_SAMPLE_RATE 2000 /* ticks of -F 1000 come at up to 1.3 times that */

static FILE *machine_open(const struct machine *m, const char *path)
{
	SCOPED(free) char *full = NULL;

	return asprintf(&full, "%s%s", m->root, path) < 0 ? NULL : fopen(full, "re");
}

bool machine_has(const struct machine *m, const char *path)
{
	SCOPED(free) char *full = NULL;

	return asprintf(&full, "%s%s", m->root, path) >= 0 && !access(full, F_OK);
}

bool machine_read(const struct machine *m, const char *path, char *out, size_t size)
{
	SCOPED(fclose) FILE *f = machine_open(m, path);
	size_t len = f ? fread(out, 1, size - 1, f) : 0;

	out[len] = 0;
	out[strcspn(out, "\n")] = 0;
	return f;
}

long machine_number(const struct machine *m, const char *path, long fallback)
{
	char text[64], *end;
	long n;

	if (!machine_read(m, path, text, sizeof(text)))
		return fallback;
	n = strtol(text, &end, 10);
	return end == text ? fallback : n;
}

bool machine_field(const struct machine *m, const char *path, const char *key, char *out,
		   size_t size)
{
	SCOPED(fclose) FILE *f = machine_open(m, path);
	SCOPED(free) char *line = NULL;
	size_t cap = 0, len = strlen(key);

	while (f && getline(&line, &cap, f) > 0) {
		const char *value = line + len;

		if (strncmp(line, key, len) || *value != ':')
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
		return true;
	}
	return false;
}

bool machine_may(const struct machine *m, int capability)
{
	return m->caps >> capability & 1;
}

static void check_kernel(struct machine *m, struct finding *f)
{
	char release[128], safe[128];
	unsigned int major = 0, minor = 0;

	machine_read(m, "/proc/sys/kernel/osrelease", release, sizeof(release));
	text_safe(release, safe, sizeof(safe));
	sscanf(release, "%u.%u", &major, &minor);
	m->kernel = major * 1000 + minor;
	if (!m->kernel)
		finding_set(f, FINDING_NO, "mount /proc", "its version cannot be read");
	else if (m->kernel < FIRST_KERNEL)
		finding_set(f, FINDING_NO, "run Linux 5.10 or newer", "%s is too old", safe);
	else
		finding_set(f, FINDING_OK, "", "%s", safe);
}

static void check_btf(struct machine *m, struct finding *f)
{
	if (machine_has(m, "/sys/kernel/btf/vmlinux"))
		finding_set(f, FINDING_OK, "", "/sys/kernel/btf/vmlinux");
	else
		finding_set(
			f, FINDING_NO, "a kernel with CONFIG_DEBUG_INFO_BTF, and /sys mounted",
			"no /sys/kernel/btf/vmlinux: weft cannot fit its programs to this kernel");
}

/* Makes the smallest map there is: the errno, or 0. */
static int try_bpf(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void check_bpf(struct machine *m, struct finding *f)
{
	int err = m->is_real ? try_bpf() : 0;

	if (!machine_has(m, "/proc/sys/kernel/unprivileged_bpf_disabled") || err == ENOSYS)
		finding_set(f, FINDING_NO, "a kernel with CONFIG_BPF_SYSCALL",
			    "this kernel has no bpf() system call");
	else if (err == EPERM)
		finding_set(f, FINDING_NO,
			    "CAP_BPF; in a container also a seccomp profile that allows bpf()",
			    "bpf() is not permitted");
	else if (err)
		finding_set(f, FINDING_NO, "", "bpf() fails: %s", strerror(err));
	else
		finding_set(f, FINDING_OK, "", "bpf() works");
}

/* What older kernels do not have is done without. */
static void check_features(struct machine *m, struct finding *f)
{
	struct kernel_features features;
	char missing[KERNEL_FEATURES_MISSING_MAX];

	if (!m->is_real || try_bpf()) {
		finding_set(f, FINDING_OK, "", "cannot be asked for");
		return;
	}
	kernel_features_probe(&features);
	kernel_features_missing(&features, missing);
	finding_set(f, FINDING_OK, "", "%s", *missing ? missing : "all that weft uses");
}

static void check_jit(struct machine *m, struct finding *f)
{
	long jit = machine_number(m, "/proc/sys/net/core/bpf_jit_enable", -1);

	if (jit > 0)
		finding_set(f, FINDING_OK, "", "on");
	else if (jit < 0)
		finding_set(f, FINDING_OK, "", "cannot be seen from this network namespace");
	else
		finding_set(f, FINDING_PART, "sysctl net.core.bpf_jit_enable=1",
			    "off: BPF programs are interpreted, a sample costs several times more");
}

/* The errno with which the kernel refuses an event, or 0. */
static int try_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_freq = 1,
		.freq = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* What the kernel rounds the times of its timers to: 1 ns, or its tick. */
static long timer_resolution_ns(void)
{
	struct timespec t = { 0 };

	clock_getres(CLOCK_MONOTONIC, &t);
	return t.tv_nsec;
}

static void check_perf_events(struct machine *m, struct finding *f)
{
	long rate = machine_number(m, "/proc/sys/kernel/perf_event_max_sample_rate", 100000);
	long paranoid = machine_number(m, "/proc/sys/kernel/perf_event_paranoid", 2);
	int err = m->is_real ? try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) : 0;
	long resolution_ns = m->is_real ? timer_resolution_ns() : 1;

	if (!machine_has(m, "/proc/sys/kernel/perf_event_paranoid") || err == ENOSYS)
		finding_set(f, FINDING_NO,
			    "a kernel with CONFIG_PERF_EVENTS; in a container a seccomp profile "
			    "that allows perf_event_open()",
			    "there is no perf_event_open()");
	else if ((err == EACCES || err == EPERM) && machine_may(m, CAP_PERFMON) && paranoid > 2)
		finding_set(f, FINDING_NO,
			    "sysctl kernel.perf_event_paranoid=2; in a container also a seccomp "
			    "profile that allows it",
			    "perf_event_open() is not permitted: of %ld some distributions' older "
			    "kernels make root only",
			    paranoid);
	else if (err == EACCES || err == EPERM)
		finding_set(f, FINDING_NO,
			    "CAP_PERFMON; in a container also a seccomp profile that allows it",
			    "perf_event_open() is not permitted");
	else if (err)
		finding_set(f, FINDING_NO, "", "perf_event_open() fails: %s", strerror(err));
	else if (resolution_ns > MAX_RESOLUTION_NS)
		finding_set(f, FINDING_PART, "",
			    "no high-resolution timers: a tick every %ld ms at most, so times come "
			    "out too small",
			    resolution_ns / 1000000);
	else if (rate < SLOW_SAMPLE_RATE)
		finding_set(f, FINDING_PART, "sysctl kernel.perf_event_max_sample_rate=100000",
			    "limited to %ld ticks a second", rate);
	else
		finding_set(f, FINDING_OK, "", "cpu-clock works");
}

/* Hybrid machines have a counter for each kind of core. */
static void check_cycles(struct machine *m, struct finding *f)
{
	bool has = machine_has(m, "/sys/bus/event_source/devices/cpu") ||
		   machine_has(m, "/sys/bus/event_source/devices/cpu_core");
	int err = has ? 0 : ENOENT;

	if (m->is_real)
		err = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (err == EACCES || err == EPERM)
		finding_set(f, FINDING_OK, "", "not permitted to look; `-e cpu` does without");
	else if (err)
		finding_set(f, FINDING_OK, "", "none (virtual machine?); `-e cpu` does without");
	else
		finding_set(f, FINDING_OK, "", "there; `-e cpu` does without");
}

static void check_clock(struct machine *m, struct finding *f)
{
	static const char *const slow[] = { "hpet", "acpi_pm", "refined-jiffies", "jiffies" };
	char clock[64] = "", safe[64];

	machine_read(m, "/sys/devices/system/clocksource/clocksource0/current_clocksource", clock,
		     sizeof(clock));
	text_safe(clock, safe, sizeof(safe));
	finding_set(f, FINDING_OK, "", "%s", *safe ? safe : "unknown");
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
		if (!strcmp(clock, slow[i]))
			finding_set(f, FINDING_PART, "", "%s is slow to read: a sample costs more",
				    safe);
}

static void check_lockdown(struct machine *m, struct finding *f)
{
	char mode[128] = "";

	machine_read(m, "/sys/kernel/security/lockdown", mode, sizeof(mode));
	if (strstr(mode, "[confidentiality]"))
		finding_set(f, FINDING_NO, "boot with lockdown=integrity or less",
			    "confidentiality: BPF programs may not read kernel memory");
	else
		finding_set(f, FINDING_OK, "", "%s",
			    strstr(mode, "[integrity]") ? "integrity, which is fine" : "none");
}

static void check_tracefs(struct machine *m, struct finding *f)
{
	bool has = machine_has(m, "/sys/kernel/tracing/events") ||
		   machine_has(m, "/sys/kernel/debug/tracing/events");

	finding_set(f, FINDING_OK, "", has ? "mounted" : "not mounted; weft does not need it");
}

/* "Max locked memory  8388608  8388608  bytes" */
static void check_memlock(struct machine *m, struct finding *f)
{
	SCOPED(fclose) FILE *limits = machine_open(m, "/proc/self/limits");
	char line[256];
	unsigned long limit = 0;

	if (m->kernel >= NO_MEMLOCK || machine_may(m, CAP_SYS_RESOURCE)) {
		finding_set(f, FINDING_OK, "",
			    m->kernel >= NO_MEMLOCK ? "not limited by this kernel"
						    : "CAP_SYS_RESOURCE lifts it");
		return;
	}
	while (limits && fgets(line, sizeof(line), limits))
		if (sscanf(line, "Max locked memory %lu", &limit) == 1 ||
		    !strncmp(line, "Max locked memory         unlimited", 35))
			break;
	if (limit && limit < 64 << 20)
		finding_set(f, FINDING_NO, "ulimit -l unlimited, or CAP_SYS_RESOURCE",
			    "%lu KiB: kernels before 5.11 count BPF maps against it", limit >> 10);
	else
		finding_set(f, FINDING_OK, "", "enough");
}

/* How many a list of CPUs has; 0: it cannot be seen. */
static int count_cpus(const struct machine *m, const char *path)
{
	char list[4096];
	int n = machine_read(m, path, list, sizeof(list)) ? cpus_parse(list, NULL, 0) : 0;

	return n > 0 ? n : 0;
}

static void check_memory(struct machine *m, struct finding *f)
{
	int n_possible = count_cpus(m, "/sys/devices/system/cpu/possible");
	int n_online = count_cpus(m, "/sys/devices/system/cpu/online");

	if (!n_possible || !n_online)
		finding_set(f, FINDING_OK, "", "the number of CPUs cannot be seen");
	else
		finding_set(f, FINDING_OK, "",
			    "%" PRIu64 " MiB by default, %" PRIu64 " MiB at least, for %d CPUs",
			    memory_default(n_possible, n_online) >> 20,
			    memory_least(n_possible, n_online) >> 20, n_online);
}

static uint64_t effective_capabilities(const struct machine *m)
{
	char text[64] = "0";

	machine_field(m, "/proc/self/status", "CapEff", text, sizeof(text));
	return strtoull(text, NULL, 16);
}

void doctor_check_machine(struct findings *all, const char *root)
{
	struct machine m = { .root = root ? root : "", .is_real = !root };
	static const struct {
		const char *name;
		void (*check)(struct machine *m, struct finding *f);
	} checks[] = {
		{ "kernel", check_kernel }, /* the first: others look at its version */
		{ "BTF", check_btf },
		{ "bpf()", check_bpf },
		{ "BPF features", check_features },
		{ "BPF JIT", check_jit },
		{ "perf events", check_perf_events },
		{ "hardware cycles", check_cycles },
		{ "lockdown", check_lockdown },
		{ "memlock", check_memlock },
		{ "memory budget", check_memory },
		{ "clock source", check_clock },
		{ "tracefs", check_tracefs },
	};

	m.caps = effective_capabilities(&m);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i].check(&m, findings_add(all, checks[i].name));
	doctor_check_privileges(all, &m);
}
