/* SPDX-License-Identifier: Apache-2.0 */
/* Where the chunks of a file begin, when their headers say so without a gap. */
#ifndef JFR_CHUNK_LIST_H
#define JFR_CHUNK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "jfr/chunk_header.h"

struct listed_chunk {
	uint64_t at; /* in the file */
	struct chunk_header header;
};

struct chunk_list { /* all zero at first */
	struct listed_chunk *items;
	size_t n, cap;
};

void chunk_list_deinit(struct chunk_list *l);
/*
 * 0: whole chunks, one behind the other, are all that the file has. -EBADMSG: something else is
 * in it, and only reading it tells where its chunks are. -ENOMEM or -errno.
 */
int chunk_list_read(int fd, struct chunk_list *l);

#endif
