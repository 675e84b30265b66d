// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/located.h"
#include "core/scoped.h"

static int make_file(const char *path)
{
	SCOPED(close) int fd = open(path, O_CREAT | O_WRONLY, 0600);

	return fd < 0 ? -1 : 0;
}

static int make_fifo(const char *path)
{
	return mkfifo(path, 0600);
}

static int make_device(const char *path)
{
	return mknod(path, S_IFCHR | 0600, makedev(1, 3)); /* /dev/null's; needs root */
}

static int make_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	SCOPED(close) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	return bind(fd, (void *)&addr, sizeof(addr));
}

static int make_directory(const char *path)
{
	return mkdir(path, 0700);
}

/* Has anybody opened what is watched? */
static bool is_opened(int watch)
{
	char event[sizeof(struct inotify_event) + 256];

	return read(watch, event, sizeof(event)) > 0;
}

static void only_regular_files_are_opened(void **state)
{
	static const struct {
		int (*make)(const char *path);
		int err;
	} cases[] = {
		{ make_file, 0 },	  { make_fifo, -EINVAL },      { make_device, -EINVAL },
		{ make_socket, -EINVAL }, { make_directory, -EINVAL },
	};
	char dir[] = "/tmp/weft-located-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	SCOPED(close) int root = open(dir, O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/x", dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCOPED(close) int watch = inotify_init1(IN_NONBLOCK);
		SCOPED(close) int located = -1;
		SCOPED(close) int fd = -1;
		struct stat st;

		if (cases[i].make(path) < 0)
			continue; /* a device needs root */
		assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
		located = located_below(root, "../../x", 0);
		assert_true(located >= 0);
		fd = located_open(located, &st);
		if (cases[i].err)
			assert_int_equal(fd, cases[i].err);
		else
			assert_true(fd >= 0);
		assert_int_equal(is_opened(watch), !cases[i].err);
		assert_int_equal(remove(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void links_are_followed_below_the_root_or_refused(void **state)
{
	char dir[] = "/tmp/weft-located-XXXXXX", path[64];
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	SCOPED(close) int root = open(dir, O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/x", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(located_below(root, "x", 0), -ENOENT);
	SCOPED(close) int link = located_below(root, "x", O_NOFOLLOW);

	assert_true(link >= 0);
	assert_int_equal(located_open(link, &st), -ELOOP);
	assert_int_equal(remove(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void known_files_are_found_without_following_any_link(void **state)
{
	static const struct {
		const char *path;
		int err;
	} cases[] = {
		{ "/real/x", 0 },	  { "../real/x", 0 },	    { "/inside/x", -ELOOP },
		{ "/out/x", -ELOOP },	  { "/real/link", -ELOOP }, { "/none", -ENOENT },
		{ "/real/x/", -ENOTDIR }, { "", -ENOENT },
	};
	char dir[] = "/tmp/weft-located-XXXXXX", command[256];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir real && touch real/x && ln -s real inside && ln -s /tmp out && "
		 "ln -s x real/link",
		 dir);
	assert_int_equal(system(command), 0);
	SCOPED(close) int root = open(dir, O_PATH | O_DIRECTORY);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int located = located_known(root, cases[i].path);

		/* What the kernel has forgotten meanwhile may be there. */
		if (located != -EAGAIN)
			assert_int_equal(located < 0 ? located : 0, cases[i].err);
		if (located >= 0)
			close(located);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void own_paths_follow_links_but_those_of_proc(void **state)
{
	char dir[] = "/tmp/weft-located-XXXXXX", path[64];
	int located;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	located = located_own(path);
	assert_true(located >= 0);
	close(located);
	assert_int_equal(located_own("/proc/self/exe"), -ELOOP);
	assert_int_equal(remove(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(links_are_followed_below_the_root_or_refused),
		cmocka_unit_test(known_files_are_found_without_following_any_link),
		cmocka_unit_test(own_paths_follow_links_but_those_of_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
