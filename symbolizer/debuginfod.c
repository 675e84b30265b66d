// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "core/hurry.h"

#define DEBUGINFOD_LIBRARY "libdebuginfod.so.1"
#define DEBUGINFOD_SECONDS 10

static struct {
	bool is_tried, is_loaded;
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	void (*set_progressfn)(debuginfod_client *client, debuginfod_progressfn_t fn);
	int (*find_debuginfo)(debuginfod_client *client, const unsigned char *build_id, int len,
			      char **path);
} library;

static time_t deadline; /* of the request under way */

static bool load(void)
{
	void *handle;

	if (library.is_tried)
		return library.is_loaded;
	library.is_tried = true;
	handle = dlopen(DEBUGINFOD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return false;
	library.begin = dlsym(handle, "debuginfod_begin");
	library.end = dlsym(handle, "debuginfod_end");
	library.set_progressfn = dlsym(handle, "debuginfod_set_progressfn");
	library.find_debuginfo = dlsym(handle, "debuginfod_find_debuginfo");
	library.is_loaded =
		library.begin && library.end && library.set_progressfn && library.find_debuginfo;
	return library.is_loaded;
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static int give_up_late(debuginfod_client *client, long a, long b)
{
	(void)client;
	(void)a;
	(void)b;
	return now_s() >= deadline || hurry_is_on();
}

int debuginfod_fetch(const uint8_t *build_id, size_t len, char **path)
{
	debuginfod_client *client;
	int fd;

	if (!load())
		return -ENOTSUP;
	client = library.begin();
	if (!client)
		return -ENOENT;
	deadline = now_s() + DEBUGINFOD_SECONDS;
	library.set_progressfn(client, give_up_late);
	fd = library.find_debuginfo(client, build_id, (int)len, path);
	library.end(client);
	if (fd >= 0)
		return fd;
	return now_s() >= deadline ? -ETIMEDOUT : -ENOENT;
}
