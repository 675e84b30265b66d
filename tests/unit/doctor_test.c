// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/capture.h"

struct file {
	const char *path, *text;
};

/* A machine on which nothing is wrong. */
static const struct file healthy[] = {
	{ "/proc/sys/kernel/osrelease", "6.1.0-test\n" },
	{ "/proc/sys/kernel/perf_event_paranoid", "3\n" },
	{ "/proc/sys/kernel/perf_event_max_sample_rate", "100000\n" },
	{ "/proc/sys/kernel/unprivileged_bpf_disabled", "2\n" },
	{ "/proc/sys/kernel/kptr_restrict", "1\n" },
	{ "/proc/sys/kernel/yama/ptrace_scope", "1\n" },
	{ "/proc/sys/net/core/bpf_jit_enable", "1\n" },
	{ "/proc/kallsyms", "ffffffff81000000 T _stext\n" },
	{ "/proc/self/status", "Name:\tweft\nNSpid:\t42\nCapEff:\t000001ffffffffff\n" },
	{ "/proc/self/uid_map", "         0          0 4294967295\n" },
	{ "/proc/self/limits",
	  "Limit                     Soft Limit           Hard Limit           Units\n"
	  "Max locked memory         65536                65536                bytes\n" },
	{ "/sys/kernel/btf/vmlinux", "\x9f\xeb\x01" },
	{ "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n" },
	{ "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n" },
};

static void put_file(const char *root, const struct file *file)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file->path);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(path, 0700);
	}
	if (!file->text) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(file->text, f);
	fclose(f);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* What doctor says of the healthy machine with these faults put in. */
static char *doctor_on(const struct file *faults, size_t n, bool json, int *status)
{
	char root[] = "/tmp/weft-doctor-XXXXXX";
	struct options opt;
	char *text;

	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++)
		put_file(root, &healthy[i]);
	for (size_t i = 0; i < n; i++)
		put_file(root, &faults[i]);
	options_init(&opt);
	opt.sysroot = root;
	opt.json = json;
	text = capture(&verb_doctor, &opt, status);
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return text;
}

static void a_healthy_machine_can_be_profiled(void **state)
{
	int status;
	char *text = doctor_on(NULL, 0, false, &status);

	(void)state;
	assert_int_equal(status, EXIT_OK);
	assert_null(strstr(text, "part  "));
	assert_null(strstr(text, "NO  "));
	assert_non_null(strstr(text, "weft can profile this machine\n"));
	free(text);
}

#define CAPS(hex) "Name:\tweft\nNSpid:\t42\nCapEff:\t" hex "\n"

static const struct {
	struct file faults[2];
	int status;
	const char *line;
} faulty[] = {
	{ { { "/proc/sys/kernel/osrelease", "4.19.0-27-amd64\n" } },
	  EXIT_PRIVILEGE,
	  "NO    kernel               4.19.0-27-amd64 is too old\n      → run Linux 5.10 or "
	  "newer\n" },
	{ { { "/sys/kernel/btf/vmlinux", NULL } },
	  EXIT_PRIVILEGE,
	  "NO    BTF                  no /sys/kernel/btf/vmlinux: weft cannot fit its programs to "
	  "this "
	  "kernel\n" },
	{ { { "/proc/sys/kernel/unprivileged_bpf_disabled", NULL } },
	  EXIT_PRIVILEGE,
	  "NO    bpf()                this kernel has no bpf() system call\n" },
	{ { { "/proc/sys/net/core/bpf_jit_enable", "0\n" } },
	  EXIT_FAILED,
	  "part  BPF JIT              off: BPF programs are interpreted, a sample costs several "
	  "times "
	  "more\n      → sysctl net.core.bpf_jit_enable=1\n" },
	{ { { "/proc/sys/kernel/perf_event_paranoid", NULL } },
	  EXIT_PRIVILEGE,
	  "NO    perf events          there is no perf_event_open()\n" },
	{ { { "/proc/sys/kernel/perf_event_max_sample_rate", "500\n" } },
	  EXIT_FAILED,
	  "part  perf events          limited to 500 ticks a second\n"
	  "      → sysctl kernel.perf_event_max_sample_rate=100000\n" },
	{ { { "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n" } },
	  EXIT_PRIVILEGE,
	  "NO    lockdown             confidentiality: BPF programs may not read kernel memory\n" },
	{ { { "/proc/sys/kernel/osrelease", "5.10.0\n" },
	    { "/proc/self/status", CAPS("000001c800080004") } },
	  EXIT_PRIVILEGE,
	  "NO    memlock              64 KiB: kernels before 5.11 count BPF maps against it\n"
	  "      → ulimit -l unlimited, or CAP_SYS_RESOURCE\n" },
	{ { { "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n" } },
	  EXIT_FAILED,
	  "part  clock source         hpet is slow to read: a sample costs more\n" },
	{ { { "/proc/self/status", CAPS("0000000000000000") } },
	  EXIT_PRIVILEGE,
	  "NO    capabilities         CAP_BPF is missing: BPF programs cannot be loaded\n"
	  "      → sudo setcap cap_bpf,cap_perfmon," },
	{ { { "/proc/self/status", CAPS("000001bfffdfffff") } },
	  EXIT_PRIVILEGE,
	  "NO    perf_event_paranoid  3: sampling the machine is not permitted without "
	  "CAP_PERFMON\n" },
	{ { { "/proc/self/status", CAPS("000001fffff7ffff") } },
	  EXIT_FAILED,
	  "part  capabilities         CAP_SYS_PTRACE is missing: files and memory of other users' "
	  "processes cannot be read\n" },
	{ { { "/proc/self/status", CAPS("000001fffff7ffff") } },
	  EXIT_FAILED,
	  "part  ptrace_scope         1: memory of other processes cannot be read\n"
	  "      → CAP_SYS_PTRACE\n" },
	{ { { "/proc/self/uid_map", "         0       1000          1\n" } },
	  EXIT_PRIVILEGE,
	  "NO    user namespace       this is not the first one: capabilities do not reach the "
	  "machine\n" },
	{ { { "/proc/self/status", "NSpid:\t42\t7\nCapEff:\t000001ffffffffff\n" } },
	  EXIT_PRIVILEGE,
	  "NO    pid namespace        the pids in here are not the machine's, which samples "
	  "have\n" },
	{ { { "/proc/sys/kernel/kptr_restrict", "2\n" } },
	  EXIT_FAILED,
	  "part  kernel symbols       kptr_restrict is 2: kernel functions have no names\n"
	  "      → sysctl kernel.kptr_restrict=1\n" },
	{ { { "/proc/kallsyms", NULL } },
	  EXIT_FAILED,
	  "part  kernel symbols       no /proc/kallsyms: kernel functions have no names\n" },
	{ { { "/proc/sys/kernel/yama/ptrace_scope", "3\n" } },
	  EXIT_FAILED,
	  "part  ptrace_scope         3: no one may read the memory of other processes\n" },
	{ { { "/proc/sys/kernel/osrelease", NULL } },
	  EXIT_PRIVILEGE,
	  "NO    kernel               its version cannot be read\n" },
};

static void every_fault_has_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(faulty) / sizeof(faulty[0]); i++) {
		size_t n = faulty[i].faults[1].path ? 2 : 1;
		int status;
		char *text = doctor_on(faulty[i].faults, n, false, &status);

		if (!strstr(text, faulty[i].line))
			fail_msg("no line\n%s in\n%s", faulty[i].line, text);
		if (status != faulty[i].status)
			fail_msg("exit status %d for\n%s", status, faulty[i].line);
		assert_non_null(strstr(text, status == EXIT_FAILED
						     ? "weft can profile this machine in part\n"
						     : "weft cannot profile this machine\n"));
		free(text);
	}
}

static void a_machine_with_a_counter_can_count_cycles(void **state)
{
	static const struct {
		struct file file;
		const char *line;
	} cases[] = {
		{ { "/sys/bus/event_source/devices/cpu/type", "4\n" },
		  "ok    hardware cycles      there; `-e cpu` does without\n" },
		{ { "/sys/bus/event_source/devices/cpu_core/type", "4\n" },
		  "ok    hardware cycles      there; `-e cpu` does without\n" },
		{ { "/sys/bus/event_source/devices/software/type", "1\n" },
		  "ok    hardware cycles      none (virtual machine?); `-e cpu` does without\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		char *text = doctor_on(&cases[i].file, 1, false, &status);

		assert_int_equal(status, EXIT_OK);
		if (!strstr(text, cases[i].line))
			fail_msg("no line\n%s in\n%s", cases[i].line, text);
		free(text);
	}
}

static void the_memory_budget_fits_the_cpus(void **state)
{
	static const struct {
		const char *possible, *online, *line;
	} cases[] = {
		{ "0-1\n", "0-1\n", "48 MiB by default, 24 MiB at least, for 2 CPUs\n" },
		{ "0-127\n", "0-127\n", "92 MiB by default, 46 MiB at least, for 128 CPUs\n" },
		{ "0-239\n", "0-1,3\n", "100 MiB by default, 50 MiB at least, for 3 CPUs\n" },
		{ "nonsense\n", "0\n", "the number of CPUs cannot be seen\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct file files[] = {
			{ "/sys/devices/system/cpu/possible", cases[i].possible },
			{ "/sys/devices/system/cpu/online", cases[i].online },
		};
		char line[128];
		int status;
		char *text = doctor_on(files, 2, false, &status);

		snprintf(line, sizeof(line), "ok    memory budget        %s", cases[i].line);
		if (!strstr(text, line))
			fail_msg("no line\n%s in\n%s", line, text);
		assert_int_equal(status, EXIT_OK);
		free(text);
	}
}

static void a_kernel_name_cannot_write_to_the_terminal(void **state)
{
	static const struct file evil[] = { { "/proc/sys/kernel/osrelease", "6.1\033[2J\n" } };
	int status;
	char *text = doctor_on(evil, 1, false, &status);

	(void)state;
	assert_null(strchr(text, '\033'));
	free(text);
}

static void json_says_the_same(void **state)
{
	static const struct file fault[] = { { "/sys/kernel/btf/vmlinux", NULL } };
	int status;
	char *text = doctor_on(fault, 1, true, &status);
	json_t *document = json_loads(text, 0, NULL), *finding;
	size_t i, n_bad = 0;

	(void)state;
	assert_non_null(document);
	assert_int_equal(status, EXIT_PRIVILEGE);
	assert_string_equal(json_string_value(json_object_get(document, "result")), "no");
	json_array_foreach(json_object_get(document, "findings"), i, finding)
	{
		if (!strcmp(json_string_value(json_object_get(finding, "level")), "ok"))
			continue;
		assert_string_equal(json_string_value(json_object_get(finding, "name")), "BTF");
		n_bad++;
	}
	assert_int_equal(n_bad, 1);
	json_decref(document);
	free(text);
}

static char *doctor_of(pid_t pid, int *status)
{
	struct options opt;

	options_init(&opt);
	opt.pids.items = &pid;
	opt.pids.n = 1;
	return capture(&verb_doctor, &opt, status);
}

static void a_process_shows_its_program_and_symbols(void **state)
{
	int status;
	char *text = doctor_of(getpid(), &status), exe[512];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	(void)state;
	assert_true(len > 0);
	exe[len] = 0;
	assert_non_null(strstr(text, exe));
	assert_non_null(strstr(text, "libc.so.6: symbols from "));
	free(text);
}

static void a_process_that_is_not_there_is_no_target(void **state)
{
	int status;
	char *text = doctor_of(INT32_MAX, &status);

	(void)state;
	assert_int_equal(status, EXIT_NO_TARGET);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_machine_can_be_profiled),
		cmocka_unit_test(every_fault_has_its_line),
		cmocka_unit_test(a_machine_with_a_counter_can_count_cycles),
		cmocka_unit_test(the_memory_budget_fits_the_cpus),
		cmocka_unit_test(a_kernel_name_cannot_write_to_the_terminal),
		cmocka_unit_test(json_says_the_same),
		cmocka_unit_test(a_process_shows_its_program_and_symbols),
		cmocka_unit_test(a_process_that_is_not_there_is_no_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
