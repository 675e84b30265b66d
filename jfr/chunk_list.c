// SPDX-License-Identifier: Apache-2.0
#include "jfr/chunk_list.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/array.h"
#include "core/file_read.h"
#include "core/hurry.h"

void chunk_list_deinit(struct chunk_list *l)
{
	free(l->items);
	*l = (struct chunk_list){ 0 };
}

static int header_at(int fd, uint64_t at, struct chunk_header *h)
{
	uint8_t bytes[CHUNK_HEADER_LEN];
	const char *what;
	size_t len;
	int err = file_read(fd, at, bytes, sizeof(bytes), &len);

	return err ? err : chunk_header_parse(bytes, len, h, &what);
}

int chunk_list_read(int fd, struct chunk_list *l)
{
	struct listed_chunk next = { 0 };
	struct stat st;
	uint64_t size;
	int err;

	if (fstat(fd, &st))
		return -errno;
	size = (uint64_t)st.st_size;
	while (next.at < size) {
		err = hurry_is_on() ? -EINTR : header_at(fd, next.at, &next.header);
		if (err)
			return err == -ENOTSUP ? -EBADMSG : err;
		if (!chunk_header_is_whole(&next.header, size - next.at))
			return -EBADMSG;
		if (ARRAY_RESERVE(l->items, l->cap, l->n))
			return -ENOMEM;
		l->items[l->n++] = next;
		next.at += next.header.size;
	}
	return 0;
}
