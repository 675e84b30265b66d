/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: all parts of a file's bytes, each read whole. */
#ifndef TESTS_UNIT_UNPACKED_H
#define TESTS_UNIT_UNPACKED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jfr/unpack.h"

#define MAX_PARTS 16

struct unpacked {
	size_t n;
	struct unpack_part parts[MAX_PARTS]; /* their descriptors are closed */
	uint8_t *data[MAX_PARTS];
};

static inline void unpacked_free(struct unpacked *got)
{
	for (size_t i = 0; i < got->n; i++)
		free(got->data[i]);
	free(got);
}

/* Every part, up to MAX_PARTS of them; the source is freed. */
static inline struct unpacked *unpack_all(struct unpack *u)
{
	struct unpacked *got = calloc(1, sizeof(*got));
	struct unpack_part part;

	assert_non_null(u);
	while (unpack_next(u, &part)) {
		assert_true(part.fd >= 0 || part.err);
		assert_true(!part.err == !*part.reason);
		assert_true(got->n < MAX_PARTS);
		got->data[got->n] = malloc(part.len + 1);
		if (part.fd >= 0)
			assert_int_equal(pread(part.fd, got->data[got->n], part.len, 0), part.len);
		unpack_part_deinit(&part);
		got->parts[got->n++] = part;
	}
	unpack_free(u);
	return got;
}

/* A file in memory, whose name says nothing. */
static inline struct unpack *open_bytes(const void *data, size_t len,
					const struct unpack_limits *limits)
{
	int fd = memfd_create("x", MFD_CLOEXEC);
	struct unpack *u;
	char path[64];

	assert_int_equal(write(fd, data, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	u = unpack_new(AT_FDCWD, path, 0, limits);
	close(fd);
	return u;
}

static inline struct unpacked *unpack_bytes(const void *data, size_t len)
{
	return unpack_all(open_bytes(data, len, NULL));
}

#endif
