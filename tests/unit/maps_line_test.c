// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "runtimes/maps_line.h"
#include "tests/unit/mutation.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define STAT_TAIL " 17 17 0 -1 4194304 100 0 0 0 1 2 3 4 20 0 1 0 98765 2228224 500\n"

static void lines_say_where_and_what_is_mapped(void **state)
{
	static const struct {
		const char *line, *name;
		int err;
		uint64_t start, end, pgoff, ino;
		bool is_executable;
	} cases[] = {
		{ "55d0c8a00000-55d0c8a21000 r-xp 00002000 fe:01 123                        "
		  "/usr/bin/x",
		  "/usr/bin/x", 0, 0x55d0c8a00000, 0x55d0c8a21000, 0x2000, 123, true },
		{ "7000-8000 rw-p 00000000 00:00 0 ", "", 0, 0x7000, 0x8000, 0, 0, false },
		{ "7000-8000 rwxp 00000000 00:00 0", "", 0, 0x7000, 0x8000, 0, 0, true },
		{ "7000-8000 r-xp 00000000 00:00 0    [vdso]", "[vdso]", 0, 0x7000, 0x8000, 0, 0,
		  true },
		{ "7000-8000 r-xp 0 08:01 5 /a b\\012c\\040d (deleted)", "/a b\nc\\040d (deleted)",
		  0, 0x7000, 0x8000, 0, 5, true },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]",
		  "[vsyscall]", 0, 0xffffffffff600000, 0xffffffffff601000, 0, 0, true },
		{ "", .err = -EBADMSG },
		{ "7000", .err = -EBADMSG },
		{ "8000-7000 r-xp 0 08:01 5 /a", .err = -EBADMSG },
		{ "7000-7000 r-xp 0 08:01 5 /a", .err = -EBADMSG },
		{ "7000-10000000000000000 r-xp 0 08:01 5 /a", .err = -EBADMSG },
		{ "7000-8000 r-xp 0 08:01 99999999999999999999 /a", .err = -EBADMSG },
		{ "7000-8000 r-xp 0 1ffffffff:01 9 /a", .err = -EBADMSG },
		{ "7000-8000 r-x", .err = -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct maps_line l;

		assert_int_equal(maps_line_parse(cases[i].line, strlen(cases[i].line), &l),
				 cases[i].err);
		if (cases[i].err)
			continue;
		assert_int_equal(l.start, cases[i].start);
		assert_int_equal(l.end, cases[i].end);
		assert_int_equal(l.pgoff, cases[i].pgoff);
		assert_int_equal(l.ino, cases[i].ino);
		assert_int_equal(l.is_executable, cases[i].is_executable);
		assert_string_equal(l.name, cases[i].name);
	}
}

static void device_is_as_stat_shows_it(void **state)
{
	static const char line[] = "1000-2000 r-xp 0 fe:01 7 /a";
	struct maps_line l;

	(void)state;
	assert_int_equal(maps_line_parse(line, sizeof(line) - 1, &l), 0);
	assert_int_equal(l.dev, makedev(0xfe, 1));
}

static void long_names_of_escapes_stay_in_bounds(void **state)
{
	static const char head[] = "1000-2000 r-xp 0 08:01 7 ";
	size_t n = sizeof(head) - 1, len = n + 4 * 8000;
	char *line = malloc(len);
	struct maps_line *l = malloc(sizeof(*l));

	(void)state;
	memcpy(line, head, n);
	for (size_t i = n; i < len; i += 4)
		memcpy(line + i, "\\012", 4);
	assert_int_equal(maps_line_parse(line, len, l), 0);
	assert_int_equal(strlen(l->name), MAPS_NAME_SIZE - 1);
	assert_int_equal(strspn(l->name, "\n"), MAPS_NAME_SIZE - 1);
	free(line);
	free(l);
}

static void stat_is_read_behind_any_name(void **state)
{
	static const struct {
		const char *text, *comm;
		int err;
	} cases[] = {
		{ "42 (sh) S 7" STAT_TAIL, "sh", 0 },
		{ "42 (a) R 1 (b) S 7" STAT_TAIL, "a) R 1 (b", 0 },
		{ "42 (\n) S 9) S 7" STAT_TAIL, "\n) S 9", 0 },
		{ "42 (0123456789abcdefgh) S 7" STAT_TAIL, "0123456789abcde", 0 },
		{ "42 () S 7" STAT_TAIL, "", 0 },
		{ "42 sh S 7", "", -EBADMSG },
		{ "42 (sh", "", -EBADMSG },
		{ "42 )sh(", "", -EBADMSG },
		{ "42 (sh) S 7 17 17", "", -EBADMSG },
		{ "42 (sh) S -7" STAT_TAIL, "", -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct proc_stat st;

		assert_int_equal(proc_stat_parse(cases[i].text, strlen(cases[i].text), &st),
				 cases[i].err);
		if (cases[i].err)
			continue;
		assert_string_equal(st.comm, cases[i].comm);
		assert_int_equal(st.parent, 7);
		assert_int_equal(st.state, 'S');
		assert_int_equal(st.cpu_ticks, 1 + 2);
		assert_int_equal(st.start_ticks, 98765);
		assert_false(st.is_kernel_thread);
	}
}

static void stat_tells_kernel_threads(void **state)
{
	static const char text[] = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 "
				   "0\n";
	struct proc_stat st;

	(void)state;
	assert_int_equal(proc_stat_parse(text, sizeof(text) - 1, &st), 0);
	assert_true(st.is_kernel_thread);
}

static void status_has_the_effective_user_and_the_innermost_pid(void **state)
{
	static const char good[] = "Name:\tx\\nUid:\nTgid:\t4710\nUid:\t1\t1000\t3\t4\n"
				   "NSpid:\t4711\t23\t5\nVmPeak:\t1\n";
	static const char old[] = "Name:\tx\nTgid:\t7\nUid:\t0\t0\t0\t0\n";
	static const char *const bad[] = { "Name:\tx\nTgid:\t7\nUid:\t0\n",
					   "Name:\tx\nUid:\t0\t0\t0\t0\n" };
	struct proc_status s;

	(void)state;
	assert_int_equal(proc_status_parse(good, sizeof(good) - 1, &s), 0);
	assert_int_equal(s.pid, 4710);
	assert_int_equal(s.uid, 1000);
	assert_int_equal(s.ns_pid, 5);
	assert_int_equal(proc_status_parse(old, sizeof(old) - 1, &s), 0);
	assert_int_equal(s.ns_pid, 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(proc_status_parse(bad[i], strlen(bad[i]), &s), -EBADMSG);
}

static void containers_are_found_in_every_layout(void **state)
{
	static const struct {
		const char *text, *id;
	} cases[] = {
		{ "0::/\n", NULL },
		{ "", NULL },
		{ "0::/user.slice/user-0.slice/session-1.scope\n", NULL },
		{ "0::/system.slice/docker-" ID ".scope\n", ID },
		{ "0::/docker/" ID, ID },
		{ "0::/docker/" ID "/init\n", ID },
		{ "0::/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod12345678_1234.slice/cri-containerd-" ID ".scope\n",
		  ID },
		{ "0::/kubepods/besteffort/podaaaa/" ID "\n", ID },
		{ "0::/machine.slice/libpod-" ID ".scope/container\n", ID },
		{ "0::/machine.slice/libpod-conmon-" ID ".scope\n", NULL },
		{ "0::/k.slice/crio-conmon-" ID ".scope\n", NULL },
		{ "0::/system.slice/containerd.service/kubepods:cri-containerd:" ID "\n", ID },
		{ "12:pids:/user.slice\n11:cpu,cpuacct:/docker/" ID "\n1:name=systemd:/docker/" ID
		  "\n",
		  ID },
		/* One inside another: the innermost. */
		{ "0::/docker/ffff"
		  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab/docker/" ID "\n",
		  ID },
		/* 63 and 65 digits are something else. */
		{ "0::/docker/" ID "0\n", NULL },
		{ "0::/docker/23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
		  NULL },
	};
	char id[CONTAINER_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool found = proc_cgroup_parse(cases[i].text, strlen(cases[i].text), id);

		assert_int_equal(found, cases[i].id != NULL);
		if (found)
			assert_string_equal(id, cases[i].id);
	}
}

/* Every parser. */
static void parse_all(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	char id[CONTAINER_ID_SIZE];
	struct maps_line *l = malloc(sizeof(*l));
	struct proc_status status;
	struct proc_stat st;

	if (!maps_line_parse(text, len, l))
		assert_true(l->start < l->end && strlen(l->name) < MAPS_NAME_SIZE);
	if (!proc_stat_parse(text, len, &st))
		assert_true(strlen(st.comm) < sizeof(st.comm));
	proc_status_parse(text, len, &status);
	if (proc_cgroup_parse(text, len, id))
		assert_int_equal(strlen(id), CONTAINER_ID_SIZE - 1);
	free(l);
}

static void survives_mutation(void **state)
{
	static const char *const good[] = {
		"55d0c8a00000-55d0c8a21000 r-xp 00002000 fe:01 123    /usr/bin/x\\012y",
		"42 (a) R 1 (b) S 7" STAT_TAIL,
		"Name:\tx\nTgid:\t4711\nUid:\t1\t1000\t3\t4\nNSpid:\t4711\t23\t5\n",
		"0::/system.slice/docker-" ID ".scope\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		mutate(good[i], strlen(good[i]), parse_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_say_where_and_what_is_mapped),
		cmocka_unit_test(device_is_as_stat_shows_it),
		cmocka_unit_test(long_names_of_escapes_stay_in_bounds),
		cmocka_unit_test(stat_is_read_behind_any_name),
		cmocka_unit_test(stat_tells_kernel_threads),
		cmocka_unit_test(status_has_the_effective_user_and_the_innermost_pid),
		cmocka_unit_test(containers_are_found_in_every_layout),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
