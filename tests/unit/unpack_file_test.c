// SPDX-License-Identifier: Apache-2.0
/* Files as they are found: recordings that are packed in nothing, what is none, what is no file,
   and where things are unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "jfr/unpack.h"
#include "tests/unit/packed.h"
#include "tests/unit/unpacked.h"

static char dir[] = "/tmp/weft-unpack.XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "x.jfr", "y.jfr", "z.jfr" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (unlink(names[i]) < 0)
			rmdir(names[i]);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") || rmdir(dir);
}

static void write_file(const char *name, struct packed bytes)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes.data, bytes.len), bytes.len);
	close(fd);
}

static void append(const char *name, const char *bytes)
{
	int fd = open(name, O_WRONLY | O_APPEND);

	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	close(fd);
}

/* The one part that a file has. */
static struct unpacked *unpack_file(const char *name, unsigned int flags)
{
	struct unpacked *got = unpack_all(unpack_new(AT_FDCWD, name, flags, NULL));

	assert_int_equal(got->n, 1);
	return got;
}

static void recording_is_handed_on_as_it_is(void **state)
{
	struct packed recording = some_recording(1000);
	struct unpack_part part;
	struct unpack *u;
	struct stat st, seen;
	char more[8];

	(void)state;
	write_file("x.jfr", recording);
	u = unpack_new(AT_FDCWD, "x.jfr", UNPACK_NOFOLLOW, NULL);
	assert_true(unpack_next(u, &part));
	assert_int_equal(part.err, 0);
	assert_true(part.is_self);
	assert_false(part.is_unsure);
	assert_int_equal(part.len, 1000);
	assert_string_equal(part.name, "x.jfr");
	assert_int_equal(stat("x.jfr", &st), 0);
	assert_int_equal(fstat(part.fd, &seen), 0);
	assert_int_equal(seen.st_ino, st.st_ino);
	/* It grows, under another name, and is deleted. */
	assert_int_equal(rename("x.jfr", "y.jfr"), 0);
	append("y.jfr", "appended");
	assert_int_equal(unlink("y.jfr"), 0);
	assert_int_equal(pread(part.fd, more, 8, 1000), 8);
	assert_memory_equal(more, "appended", 8);
	unpack_part_deinit(&part);
	assert_false(unpack_next(u, &part));
	unpack_free(u);
	packed_free(&recording);
}

static void file_that_may_become_a_recording_is_one(void **state)
{
	struct packed recording = some_recording(8);

	(void)state;
	for (size_t len = 0; len <= 8; len++) {
		struct unpacked *got;

		write_file("x.jfr", (struct packed){ recording.data, len });
		got = unpack_file("x.jfr", 0);
		assert_int_equal(got->parts[0].err, 0);
		assert_int_equal(got->parts[0].len, len);
		assert_true(got->parts[0].is_self);
		assert_false(got->parts[0].is_unsure);
		unpacked_free(got);
		unlink("x.jfr");
	}
	packed_free(&recording);
}

static void empty_file_that_fills_later_is_seen_through_its_descriptor(void **state)
{
	struct packed recording = some_recording(100), other = some_recording(50);
	struct unpack_part part;
	struct unpack *u;
	uint8_t bytes[100];

	(void)state;
	write_file("x.jfr", (struct packed){ recording.data, 0 });
	u = unpack_new(AT_FDCWD, "x.jfr", 0, NULL);
	assert_true(unpack_next(u, &part));
	write_file("x.jfr", recording);
	/* Another file that takes its name is another file. */
	write_file("y.jfr", other);
	assert_int_equal(rename("y.jfr", "x.jfr"), 0);
	assert_int_equal(pread(part.fd, bytes, sizeof(bytes), 0), 100);
	assert_memory_equal(bytes, recording.data, 100);
	unpack_part_deinit(&part);
	unpack_free(u);
	packed_free(&recording);
	packed_free(&other);
}

static void unknown_bytes_may_be_a_damaged_recording(void **state)
{
	static const char *const heads[] = { "flr\0\0\2\0\1", "FLR\1\0\2\0\1", "\0\0\0\0\0\0\0\0" };

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		struct packed recording = some_recording(5000);
		struct unpacked *got;

		memcpy(recording.data, heads[i], 8);
		got = unpack_bytes(recording.data, recording.len);
		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, 0);
		assert_true(got->parts[0].is_unsure);
		assert_true(got->parts[0].is_self);
		assert_int_equal(got->parts[0].len, 5000);
		unpacked_free(got);
		packed_free(&recording);
	}
}

static void what_is_surely_no_recording_is_refused_by_name(void **state)
{
	static const struct {
		const char *bytes;
		size_t at;
		const char *reason;
	} cases[] = {
		{ "\x02\x21\x4c\x18", 0, "lz4's legacy format" },
		{ "LZ4Block", 0, "lz4-java's block format" },
		{ "\xfd"
		  "7zXZ",
		  0, "xz data" },
		{ "BZh91AY", 0, "bzip2 data" },
		{ "7z\xbc\xaf\x27\x1c", 0, "a 7z archive" },
		{ "ustar", 257, "a tar archive" },
		{ "JAVA PROFILE 1.0.2", 0, "a heap dump" },
		{ "\xca\xfe\xba\xbe", 0, "a Java class" },
		{ "\x7f"
		  "ELF",
		  0, "an ELF file" },
		{ "PK\5\6", 0, "an empty zip archive" },
		{ "PK\7\10", 0, "a zip archive in several files" },
	};
	struct unpacked *got;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t bytes[512] = { 1 };

		memcpy(bytes + cases[i].at, cases[i].bytes, strlen(cases[i].bytes));
		got = unpack_bytes(bytes, sizeof(bytes));
		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, -ENOTSUP);
		assert_non_null(strstr(got->parts[0].reason, cases[i].reason));
		unpacked_free(got);
	}
	got = unpack_bytes("some words\n", 11);
	assert_int_equal(got->parts[0].err, -ENOTSUP);
	assert_string_equal(got->parts[0].reason, "is no recording, but text");
	unpacked_free(got);
}

static void what_is_no_file_is_not_opened(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "z.jfr" };
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const struct {
		const char *name, *reason;
	} cases[] = { { "x.jfr", "is a FIFO" },
		      { "y.jfr", "is a directory" },
		      { "z.jfr", "is a socket" },
		      { "/dev/full", "is a device" } };

	(void)state;
	assert_int_equal(mkfifo("x.jfr", 0600), 0);
	assert_int_equal(mkdir("y.jfr", 0700), 0);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unpack *u = unpack_new(AT_FDCWD, cases[i].name, 0, NULL);
		struct unpacked *got;

		/* Nobody reads the FIFO: its writer goes on waiting. */
		assert_int_equal(open("x.jfr", O_WRONLY | O_NONBLOCK), -1);
		assert_int_equal(errno, ENXIO);
		got = unpack_all(u);
		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, -ENOTSUP);
		assert_string_equal(got->parts[0].reason, cases[i].reason);
		unpacked_free(got);
	}
	close(sock);
}

static void links_are_followed_only_when_wanted(void **state)
{
	struct packed recording = some_recording(100);
	struct unpacked *got;

	(void)state;
	write_file("x.jfr", recording);
	assert_int_equal(symlink("x.jfr", "y.jfr"), 0);
	assert_int_equal(symlink("z.jfr", "z.jfr"), 0);
	got = unpack_file("y.jfr", 0);
	assert_int_equal(got->parts[0].err, 0);
	unpacked_free(got);
	got = unpack_file("y.jfr", UNPACK_NOFOLLOW);
	assert_int_equal(got->parts[0].err, -ELOOP);
	assert_string_equal(got->parts[0].reason, "is a symbolic link");
	unpacked_free(got);
	got = unpack_file("z.jfr", 0);
	assert_int_equal(got->parts[0].err, -ELOOP);
	unpacked_free(got);
	got = unpack_file("nowhere.jfr", 0);
	assert_int_equal(got->parts[0].err, -ENOENT);
	unpacked_free(got);
	packed_free(&recording);
}

static void file_that_is_cut_or_deleted_while_it_is_read_gives_what_there_is(void **state)
{
	struct packed recording = some_recording(2000000), packed = pack_gzip(recording);
	struct unpack *u;
	struct unpacked *got;

	(void)state;
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		write_file("x.jfr", packed);
		u = unpack_new(AT_FDCWD, "x.jfr", 0, NULL);
		if (is_cut)
			assert_int_equal(truncate("x.jfr", (off_t)packed.len / 2), 0);
		unlink("x.jfr");
		got = unpack_all(u);
		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, is_cut ? -EBADMSG : 0);
		assert_in_range(got->parts[0].len, recording.len / 4, recording.len);
		assert_memory_equal(got->data[0], recording.data, got->parts[0].len);
		unpacked_free(got);
	}
	packed_free(&recording);
	packed_free(&packed);
}

static void place_to_unpack_in_is_said_when_it_is_missing(void **state)
{
	struct packed recording = some_recording(100), packed = pack_gzip(recording);
	struct unpacked *got;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	got = unpack_bytes(packed.data, packed.len);
	unsetenv("TMPDIR");
	assert_int_equal(got->parts[0].err, -ENOENT);
	assert_non_null(strstr(got->parts[0].reason, "TMPDIR"));
	assert_non_null(strstr(got->parts[0].reason, "/nonexistent"));
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&packed);
}

static void memory_is_no_disk(void **state)
{
	struct packed recording = some_recording(300000), packed = pack_gzip(recording);
	struct unpack_limits limits = unpack_limits_default;
	struct unpacked *got;
	struct statfs fs;

	(void)state;
	if (statfs("/dev/shm", &fs) < 0 || fs.f_type != 0x01021994)
		skip();
	limits.max_memory = 100000;
	setenv("TMPDIR", "/dev/shm", 1);
	got = unpack_all(open_bytes(packed.data, packed.len, &limits));
	unsetenv("TMPDIR");
	assert_int_equal(got->parts[0].err, -E2BIG);
	assert_non_null(strstr(got->parts[0].reason, "in memory"));
	assert_int_equal(got->parts[0].len, 100000);
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&packed);
}

static void file_size_of_the_process_is_a_limit_and_no_signal(void **state)
{
	struct packed recording = some_recording(300000), packed = pack_gzip(recording);
	struct rlimit old, little;
	struct unpack *u;
	struct unpacked *got;

	(void)state;
	u = open_bytes(packed.data, packed.len, NULL);
	getrlimit(RLIMIT_FSIZE, &old);
	little = (struct rlimit){ 100000, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &little);
	got = unpack_all(u);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(got->parts[0].err, -ENOSPC);
	assert_int_equal(got->parts[0].len, 100000);
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(recording_is_handed_on_as_it_is, remove_dir),
		cmocka_unit_test_teardown(file_that_may_become_a_recording_is_one, remove_dir),
		cmocka_unit_test_teardown(
			empty_file_that_fills_later_is_seen_through_its_descriptor, remove_dir),
		cmocka_unit_test(unknown_bytes_may_be_a_damaged_recording),
		cmocka_unit_test(what_is_surely_no_recording_is_refused_by_name),
		cmocka_unit_test_teardown(what_is_no_file_is_not_opened, remove_dir),
		cmocka_unit_test_teardown(links_are_followed_only_when_wanted, remove_dir),
		cmocka_unit_test_teardown(
			file_that_is_cut_or_deleted_while_it_is_read_gives_what_there_is,
			remove_dir),
		cmocka_unit_test(place_to_unpack_in_is_said_when_it_is_missing),
		cmocka_unit_test(memory_is_no_disk),
		cmocka_unit_test(file_size_of_the_process_is_a_limit_and_no_signal),
	};

	return cmocka_run_group_tests(tests, make_dir, leave);
}
