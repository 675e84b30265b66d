// SPDX-License-Identifier: Apache-2.0
#include "jfr/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/text.h"

#define MIB (UINT64_C(1) << 20)
#define CHECK_LEN (16 * MIB) /* written between two looks at the free space */
#define RESERVE_SHARE 10

const struct unpack_limits unpack_limits_default = {
	.max_len = (64 << 10) * MIB,
	.free_len = 64 * MIB,
	.max_ratio = 1000,
	.max_entries = 65536,
	.reserve = 1024 * MIB,
	.max_memory = 64 * MIB,
};

static const char *directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/var/tmp";
}

/* Where the file system cannot make a file without a name, it loses its name at once. */
static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), err;
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	if (asprintf(&path, "%s/weft-jfr.XXXXXX", dir) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	err = fd < 0 ? -errno : unlink(path) < 0 ? -errno : 0;
	free(path);
	if (fd >= 0 && err)
		close(fd);
	return err ? err : fd;
}

int spill_open(struct spill *s, struct unpack_fault *fault)
{
	int fd = open_nameless(directory());
	struct rlimit file_size;
	struct statfs fs;
	char dir[64];

	if (fd < 0)
		return unpack_fault_set(fault, fd, 0,
					"cannot be unpacked in %s (TMPDIR says where): %s",
					text_safe(directory(), dir, sizeof(dir)), strerror(-fd));
	*s = (struct spill){ .fd = fd, .max_len = INT64_MAX };
	if (!fstatfs(fd, &fs))
		s->is_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
	if (!getrlimit(RLIMIT_FSIZE, &file_size) && file_size.rlim_cur < s->max_len)
		s->max_len = file_size.rlim_cur;
	return 0;
}

/* How much the file system has for us, with what we wrote already. */
static uint64_t most_on_disk(const struct spill *s, const struct unpack_limits *limits)
{
	struct statvfs fs;
	uint64_t all, available, reserve = limits->reserve;

	if (fstatvfs(s->fd, &fs) < 0)
		return 0;
	all = (uint64_t)fs.f_blocks * fs.f_frsize;
	available = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (reserve > all / RESERVE_SHARE)
		reserve = all / RESERVE_SHARE;
	return available > reserve ? s->len + (available - reserve) : s->len;
}

static uint64_t saturated_product(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* How much more this file may be unpacked to, and if that is less than len, why. */
static uint64_t allowed(const struct spill *s, const struct spill_room *room, size_t len,
			uint64_t where, struct unpack_fault *fault)
{
	const struct unpack_limits *limits = room->limits;
	uint64_t by_ratio = saturated_product(room->file_len, limits->max_ratio);
	uint64_t most = by_ratio > limits->free_len ? by_ratio : limits->free_len;

	if (most > limits->max_len)
		most = limits->max_len;
	if (room->used + len > most) {
		if (most == limits->max_len)
			unpack_fault_set(fault, -E2BIG, where,
					 "more than %" PRIu64 " MiB come out of it", most / MIB);
		else
			unpack_fault_set(fault, -E2BIG, where,
					 "more than %" PRIu32 " times its size comes out of it",
					 limits->max_ratio);
		return most - room->used;
	}
	if (s->is_memory && room->used + len > limits->max_memory) {
		unpack_fault_set(fault, -E2BIG, where,
				 "more than %" PRIu64 " MiB come out of it, and the directory for "
				 "them is in memory: set TMPDIR to another",
				 limits->max_memory / MIB);
		return room->used < limits->max_memory ? limits->max_memory - room->used : 0;
	}
	return len;
}

/* The same for this file's place. */
static uint64_t disk_allowed(struct spill *s, const struct unpack_limits *limits, uint64_t len,
			     uint64_t where, struct unpack_fault *fault)
{
	char dir[64];

	if (s->len + len > s->look_again) {
		s->max_on_disk = most_on_disk(s, limits);
		if (s->max_on_disk > s->max_len)
			s->max_on_disk = s->max_len;
		s->look_again = s->len + CHECK_LEN;
	}
	if (s->len + len <= s->max_on_disk)
		return len;
	unpack_fault_set(fault, -ENOSPC, where,
			 "too little space is left in %s (TMPDIR says where)",
			 text_safe(directory(), dir, sizeof(dir)));
	return s->max_on_disk - s->len;
}

static int write_all(int fd, const void *bytes, size_t len, uint64_t at)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int spill_write(struct spill *s, struct spill_room *room, const void *bytes, size_t len,
		uint64_t where, struct unpack_fault *fault)
{
	uint64_t n = allowed(s, room, len, where, fault);
	int err;

	n = disk_allowed(s, room->limits, n, where, fault);
	err = write_all(s->fd, bytes, n, s->len);
	if (err < 0)
		return unpack_fault_set(fault, err, where, "cannot be unpacked: %s",
					strerror(-err));
	s->len += n;
	room->used += n;
	return fault->err;
}
