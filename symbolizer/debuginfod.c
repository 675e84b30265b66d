// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "core/hurry.h"
#include "core/log.h"

#define DEBUGINFOD_LIBRARY "libdebuginfod.so.1"
#define PATIENCE_S 10 /* without anything that comes; DEBUGINFOD_TIMEOUT is another */
#define MAX_PATIENCE_S 3600
#define SILENCE_S 2	   /* then people are told what they wait for */
#define MIN_PROGRESS 65536 /* bytes; before they come, the library counts its rounds instead */

static struct {
	bool is_tried, is_loaded;
	debuginfod_client *(*begin)(void);
	void (*end)(debuginfod_client *client);
	void (*set_progressfn)(debuginfod_client *client, debuginfod_progressfn_t fn);
	int (*find_debuginfo)(debuginfod_client *client, const unsigned char *build_id, int len,
			      char **path);
} library;

/* The request under way. */
static struct {
	const char *name; /* of the file it is for */
	time_t begun, patience, deadline;
	long n_bytes;
	bool is_told;
} request;

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

static time_t patience(void)
{
	const char *asked = getenv("DEBUGINFOD_TIMEOUT");
	long s = asked ? strtol(asked, NULL, 10) : 0;

	return s > 0 && s <= MAX_PATIENCE_S ? s : PATIENCE_S;
}

/* Called while it waits and while bytes come; anything but 0 ends the request. */
static int watch_progress(debuginfod_client *client, long n_bytes, long n_all)
{
	(void)client;
	if (n_bytes - request.n_bytes >= MIN_PROGRESS) {
		request.n_bytes = n_bytes;
		request.deadline = now_s() + request.patience;
		if (!request.is_told && now_s() >= request.begun + SILENCE_S) {
			request.is_told = true;
			log_info("fetching the debug file of %s (%.0f MB)", request.name,
				 (double)(n_all > n_bytes ? n_all : n_bytes) / 1e6);
		}
	}
	return now_s() >= request.deadline || hurry_is_on();
}

int debuginfod_fetch(const char *name, const uint8_t *build_id, size_t len, char **path)
{
	debuginfod_client *client;
	int fd;

	if (!load())
		return -ENOTSUP;
	client = library.begin();
	if (!client)
		return -ENOENT;
	request.name = name;
	request.begun = now_s();
	request.patience = patience();
	request.deadline = request.begun + request.patience;
	request.n_bytes = 0;
	request.is_told = false;
	library.set_progressfn(client, watch_progress);
	fd = library.find_debuginfo(client, build_id, (int)len, path);
	library.end(client);
	if (fd >= 0)
		return fd;
	return now_s() >= request.deadline ? -ETIMEDOUT : -ENOENT;
}
