// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/profile.h"
#include "core/scoped.h"
#include "symbolizer/object.h"

struct test {
	struct objects *objects;
	struct profile *profile;
};

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	t->objects = objects_new(NULL);
	t->profile = profile_new();
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;

	objects_free(t->objects);
	profile_free(t->profile);
	free(t);
	return 0;
}

static struct object *get(struct test *t, const char *path)
{
	SCOPED(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;
	struct object *o = objects_get(t->objects, fd, path, -1, &err);

	assert_int_equal(err, 0);
	assert_non_null(o);
	return o;
}

static const char *name_at(struct test *t, struct object *o, uint64_t vaddr)
{
	struct line lines[MAX_INLINE_DEPTH];
	uint16_t flags = 0;
	size_t n = object_symbolize(o, vaddr, t->profile, lines, MAX_INLINE_DEPTH, &flags);

	if (!n)
		return NULL;
	return profile_get_string(t->profile,
				  profile_get_function(t->profile, lines[n - 1].function)->name);
}

static int first_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

static uint64_t own_vaddr(const void *pc)
{
	uint64_t bias = 0;

	dl_iterate_phdr(first_bias, &bias);
	return (uint64_t)(uintptr_t)pc - bias;
}

static void the_same_file_is_one_object(void **state)
{
	struct test *t = *state;
	struct object *o = get(t, "/proc/self/exe");
	struct stat st;

	assert_ptr_equal(get(t, "/proc/self/exe"), o);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(object_key(o)->ino, st.st_ino);
	assert_int_equal(object_key(o)->dev, st.st_dev);
	assert_int_equal(object_key(o)->size, st.st_size);
	assert_ptr_equal(objects_find(t->objects, object_key(o)), o);
	assert_int_equal(strlen(object_build_id(o)), 40);
	assert_false(object_is_go(o));
	assert_string_equal(object_path(o), "/proc/self/exe");
	assert_true(objects_memory(t->objects) > 0);
}

static void own_functions_have_their_names(void **state)
{
	struct test *t = *state;
	struct object *o = get(t, "/proc/self/exe");
	uint64_t start, size;
	uint64_t vaddr = own_vaddr((void *)(uintptr_t)own_functions_have_their_names);

	assert_string_equal(name_at(t, o, vaddr + 1), "own_functions_have_their_names");
	assert_string_equal(name_at(t, o, vaddr + 1), "own_functions_have_their_names");
	assert_string_equal(name_at(t, o, object_entry(o)), "_start");
	assert_true(object_function(o, vaddr + 1, &start, &size));
	assert_int_equal(start, vaddr);
	assert_true(size > 1);
	assert_true(object_symbol(o, "main", &start, &size));
	assert_string_equal(name_at(t, o, start), "main");
	assert_false(object_symbol(o, "no_such_symbol", &start, &size));
	assert_null(name_at(t, o, 1));
	assert_null(name_at(t, o, UINT64_MAX));
}

static void a_second_profile_gets_its_own_ids(void **state)
{
	struct test *t = *state;
	struct object *o = get(t, "/proc/self/exe");

	for (int i = 0; i < 3; i++) {
		assert_string_equal(name_at(t, o, object_entry(o)), "_start");
		profile_free(t->profile);
		t->profile = profile_new();
		profile_string(t->profile, "shifts the ids");
	}
}

static void file_offsets_become_virtual_addresses(void **state)
{
	struct test *t = *state;
	struct object *o = get(t, "/proc/self/exe");
	size_t n;
	const struct segment *s = object_segments(o, &n);
	uint64_t vaddr;

	assert_int_equal(n, 1);
	assert_true(object_vaddr(o, s->offset, &vaddr));
	assert_int_equal(vaddr, s->vaddr);
	assert_true(object_vaddr(o, s->offset + s->filesz - 1, &vaddr));
	assert_int_equal(vaddr, s->vaddr + s->filesz - 1);
	assert_false(object_vaddr(o, s->offset + s->filesz + 8192, &vaddr));
	assert_false(object_vaddr(o, UINT64_MAX, &vaddr));
}

static void sections_are_found(void **state)
{
	struct test *t = *state;
	struct object *o = get(t, "/proc/self/exe");
	const void *data;
	uint64_t vaddr;
	size_t len;

	assert_true(object_section(o, ".eh_frame", &data, &len, &vaddr));
	assert_true(len > 100 && vaddr > 0);
	assert_true(object_section(o, ".text", &data, &len, &vaddr));
	assert_false(object_section(o, ".bss", &data, &len, &vaddr));
	assert_false(object_section(o, ".nonsense", &data, &len, &vaddr));
}

/* A copy of a file with some bytes changed. */
static int copy_of(const char *path, size_t at, const void *bytes, size_t len)
{
	SCOPED(close) int in = open(path, O_RDONLY);
	int out = memfd_create("copy", 0);
	struct stat st;

	assert_int_equal(fstat(in, &st), 0);
	while (st.st_size) {
		ssize_t n = sendfile(out, in, NULL, (size_t)st.st_size);

		assert_true(n > 0);
		st.st_size -= n;
	}
	assert_int_equal(pwrite(out, bytes, len, (off_t)at), len);
	return out;
}

static void eh_frame_is_found_without_section_headers(void **state)
{
	struct test *t = *state;
	struct object *whole = get(t, "/proc/self/exe"), *stripped;
	static const uint8_t nothing[8];
	SCOPED(close) int fd = copy_of("/proc/self/exe", offsetof(Elf64_Ehdr, e_shoff), nothing, 8);
	const void *data, *stripped_data;
	uint64_t vaddr, stripped_vaddr;
	size_t len, stripped_len;
	char name[64];
	int err = 0;

	stripped = objects_get(t->objects, fd, "stripped", -1, &err);
	assert_non_null(stripped);
	assert_string_equal(object_build_id(stripped), object_build_id(whole));
	assert_true(object_section(whole, ".eh_frame", &data, &len, &vaddr));
	assert_true(object_section(stripped, ".eh_frame", &stripped_data, &stripped_len,
				   &stripped_vaddr));
	assert_int_equal(stripped_vaddr, vaddr);
	assert_true(stripped_len >= len);
	assert_memory_equal(stripped_data, data, len);
	snprintf(name, sizeof(name), "stripped+0x%lx", (unsigned long)object_entry(stripped));
	assert_string_equal(name_at(t, stripped, object_entry(stripped)), name);
	assert_string_equal(object_symbol_source(stripped), "none");
}

static void what_is_no_program_is_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
		int err;
	} cases[] = {
		{ 0, 'x', -EBADMSG },
		{ EI_CLASS, ELFCLASS32, -ENOTSUP },
		{ EI_DATA, ELFDATA2MSB, -ENOTSUP },
		{ offsetof(Elf64_Ehdr, e_type), ET_REL, -ENOTSUP },
		{ offsetof(Elf64_Ehdr, e_machine), EM_S390, -ENOTSUP },
	};
	struct test *t = *state;
	SCOPED(close) int dir = open("/", O_RDONLY);
	int err = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCOPED(close) int fd = copy_of("/proc/self/exe", cases[i].at, &cases[i].byte, 1);

		assert_null(objects_get(t->objects, fd, "copy", -1, &err));
		assert_int_equal(err, cases[i].err);
	}
	assert_null(objects_get(t->objects, dir, "/", -1, &err));
	assert_int_equal(err, -EINVAL);
	assert_null(objects_get_bytes(t->objects, "\177ELF", 4, "short", &err));
	assert_int_equal(err, -EBADMSG);
}

static void the_vdso_has_names(void **state)
{
	struct test *t = *state;
	const Elf64_Ehdr *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct object *o;
	uint64_t start, size;
	size_t len;
	int err = 0;

	if (!vdso)
		skip();
	len = vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize;
	o = objects_get_bytes(t->objects, vdso, len, "[vdso]", &err);
	assert_non_null(o);
	assert_ptr_equal(objects_get_bytes(t->objects, vdso, len, "[vdso]", &err), o);
	assert_true(object_symbol(o, "__vdso_clock_gettime", &start, &size));
	assert_string_equal(name_at(t, o, start), "clock_gettime");
}

static void count_release(void *priv)
{
	++*(int *)priv;
}

static void the_private_pointer_is_released_once(void **state)
{
	struct test *t = *state;
	int released = 0, other = 0;
	struct object *o = get(t, "/proc/self/exe");

	object_set_private(o, &released, count_release);
	assert_ptr_equal(object_private(o), &released);
	object_set_private(o, &other, count_release);
	assert_int_equal(released, 1);
	objects_free(t->objects);
	assert_int_equal(released, 1);
	assert_int_equal(other, 1);
	t->objects = objects_new(NULL);
}

/* A copy of this program, which has DWARF and symbols. */
static void copy_self(const char *path)
{
	SCOPED(close) int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	SCOPED(close) int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	struct stat st;

	assert_int_equal(fstat(in, &st), 0);
	for (off_t at = 0; at < st.st_size;)
		assert_true(sendfile(out, in, &at, (size_t)(st.st_size - at)) > 0);
}

/* Some code of it stays: without a look at what was lost, it would be named by that. */
static void a_file_that_is_cut_names_nothing_more(void **state)
{
	static const uint64_t ends[] = { 4, 2 }; /* parts of it that stay, of 8 */
	struct test *t = *state;
	char path[] = "/tmp/object_test.XXXXXX";
	struct stat st;

	close(mkstemp(path));
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		uint64_t start, size, known = own_vaddr((void *)(uintptr_t)copy_self);
		uint64_t other = own_vaddr((void *)(uintptr_t)name_at);
		struct object *o;

		assert_int_equal(unlink(path), 0);
		copy_self(path);
		o = get(t, path);
		if (i == 0) /* what was found before is right */
			assert_string_equal(name_at(t, o, known), "copy_self");
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(truncate(path, st.st_size / 8 * (off_t)ends[i]), 0);
		assert_null(name_at(t, o, other));
		assert_true(object_is_cut(o));
		assert_int_equal(objects_cut(t->objects), i + 1);
		assert_false(object_function(o, other, &start, &size));
		assert_string_equal(object_symbol_source(o), "none");
		if (i == 0)
			assert_string_equal(name_at(t, o, known), "copy_self");
		else
			assert_null(name_at(t, o, known));
		assert_int_equal(objects_cut(t->objects), i + 1);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_file_is_one_object, setup, teardown),
		cmocka_unit_test_setup_teardown(own_functions_have_their_names, setup, teardown),
		cmocka_unit_test_setup_teardown(a_second_profile_gets_its_own_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(file_offsets_become_virtual_addresses, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sections_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(eh_frame_is_found_without_section_headers, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_no_program_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_vdso_has_names, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_cut_names_nothing_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_private_pointer_is_released_once, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
