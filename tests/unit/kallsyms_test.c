// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/scoped.h"
#include "symbolizer/kallsyms.h"

SCOPED_DEFINE(struct kallsyms, kallsyms_free)

static struct kallsyms *load(const char *text, size_t len, int *err)
{
	char path[] = "/tmp/kallsyms_test.XXXXXX";
	int fd = mkstemp(path);
	struct kallsyms *k;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	*err = 0;
	k = kallsyms_load(path, err);
	unlink(path);
	return k;
}

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000100 t helper\n"
			   "ffffffff81000200 T __x64_sys_read\n"
			   "ffffffff81000200 t sys_read_alias\n"
			   "ffffffff81000300 D some_data\n"
			   "ffffffff81000400 T _etext\n"
			   "ffffffffc0000000 t init_module\t[ext4]\n"
			   "ffffffffc0000100 t ext4_read\t[ext4]\n"
			   "ffffffffc0001000 t bpf_prog_6deef7357e7b4530_handler\t[bpf]\n"
			   "not a line\n"
			   "ffffffffc0000080 t other\t[xfs]\n";

static void names_come_with_their_module(void **state)
{
	static const struct {
		uint64_t addr;
		const char *name, *module;
		uint64_t start;
	} cases[] = {
		{ 0xffffffff81000000, "startup_64", "", 0xffffffff81000000 },
		{ 0xffffffff810000ff, "startup_64", "", 0xffffffff81000000 },
		{ 0xffffffff81000100, "helper", "", 0xffffffff81000100 },
		/* Data is no function: what is there belongs to the function before it. */
		{ 0xffffffff81000310, "sys_read_alias", "", 0xffffffff81000200 },
		{ 0xffffffffc0000000, "init_module", "ext4", 0xffffffffc0000000 },
		{ 0xffffffffc0000090, "other", "xfs", 0xffffffffc0000080 },
		{ 0xffffffffc0000123, "ext4_read", "ext4", 0xffffffffc0000100 },
		{ 0xffffffffc0001001, "bpf_prog_6deef7357e7b4530_handler", "bpf",
		  0xffffffffc0001000 },
		/* Below, behind the end, far from everything. */
		{ 0xffffffff80ffffff, NULL, NULL, 0 },
		{ 0xffffffff81000500, NULL, NULL, 0 },
		{ 0xffffffffc8000000, NULL, NULL, 0 },
		{ 0, NULL, NULL, 0 },
		{ UINT64_MAX, NULL, NULL, 0 },
	};
	int err;
	SCOPED(kallsyms_free) struct kallsyms *k = load(text, sizeof(text) - 1, &err);

	(void)state;
	assert_non_null(k);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *module = NULL, *name;
		uint64_t start = 0;

		name = kallsyms_find(k, cases[i].addr, &module, &start);
		if (!cases[i].name) {
			assert_null(name);
			continue;
		}
		assert_string_equal(name, cases[i].name);
		assert_string_equal(module, cases[i].module);
		assert_int_equal(start, cases[i].start);
	}
	assert_true(kallsyms_memory(k) < 64 * 1024);
}

static void hidden_addresses_are_a_lack_of_permission(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t helper\n";
	int err;

	(void)state;
	assert_null(load(hidden, sizeof(hidden) - 1, &err));
	assert_int_equal(err, -EPERM);
	assert_null(kallsyms_load("/no/such/file", &err));
	assert_int_equal(err, -ENOENT);
}

static void the_running_kernel_is_read_in_little_memory(void **state)
{
	int err = 0;
	SCOPED(kallsyms_free) struct kallsyms *k = kallsyms_load(NULL, &err);
	const char *module;
	uint64_t start, addr = 0;
	char line[1024], name[512];
	SCOPED(fclose) FILE *f = fopen("/proc/kallsyms", "r");

	(void)state;
	if (!k)
		skip();
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx T %511s", &addr, name) == 2 && !strcmp(name, "vfs_read"))
			break;
	assert_string_equal(name, "vfs_read");
	assert_string_equal(kallsyms_find(k, addr + 1, &module, &start), "vfs_read");
	assert_int_equal(start, addr);
	print_message("# kallsyms use %zu KiB\n", kallsyms_memory(k) / 1024);
	assert_true(kallsyms_memory(k) < 8 << 20);
}

static void survives_mutation(void **state)
{
	int err;

	(void)state;
	for (size_t cut = 0; cut < sizeof(text); cut += 7) {
		struct kallsyms *k = load(text, cut, &err);

		kallsyms_free(k);
	}
	for (size_t bit = 0; bit < 8 * (sizeof(text) - 1); bit += 3) {
		SCOPED(free) char *copy = malloc(sizeof(text) - 1);
		struct kallsyms *k;
		const char *module;
		uint64_t start;

		memcpy(copy, text, sizeof(text) - 1);
		copy[bit / 8] ^= (char)(1 << bit % 8);
		k = load(copy, sizeof(text) - 1, &err);
		if (k)
			kallsyms_find(k, 0xffffffff81000200, &module, &start);
		kallsyms_free(k);
	}
}

static void landmarks_have_addresses_also_where_they_are_data(void **state)
{
	static const char marked[] = "ffffffff81000000 T _text\n"
				     "ffffffff81000000 T _stext\n"
				     "ffffffff82000000 T _etext\n"
				     "ffffffff83000000 R __start_orc_unwind_ip\n"
				     "ffffffff83000800 r __stop_orc_unwind_ip_more\n"
				     "ffffffffc0000000 t return_to_handler\t[evil]\n";
	SCOPED(kallsyms_free) struct kallsyms *k = NULL;
	int err;

	(void)state;
	k = load(marked, sizeof(marked) - 1, &err);
	assert_non_null(k);
	assert_int_equal(kallsyms_landmark(k, LANDMARK_TEXT), 0xffffffff81000000);
	assert_int_equal(kallsyms_landmark(k, LANDMARK_TEXT_END), 0xffffffff82000000);
	assert_int_equal(kallsyms_landmark(k, LANDMARK_ORC_ADDRESSES), 0xffffffff83000000);
	assert_int_equal(kallsyms_landmark(k, LANDMARK_ORC_ADDRESSES_END), 0);
	assert_int_equal(kallsyms_landmark(k, LANDMARK_TRAP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(landmarks_have_addresses_also_where_they_are_data),
		cmocka_unit_test(names_come_with_their_module),
		cmocka_unit_test(hidden_addresses_are_a_lack_of_permission),
		cmocka_unit_test(the_running_kernel_is_read_in_little_memory),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
