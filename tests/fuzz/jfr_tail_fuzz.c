// SPDX-License-Identifier: Apache-2.0
/* The live state machine: a file that is written, cut and rewritten by the input, and followed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jfr/tail.h"

#define MAX_STEPS 64
#define MAX_FILE 4096

/* One step: where, how much, and the bytes; or where the file ends, or that it is settled. */
static size_t change(int fd, struct tail *t, const uint8_t *data, size_t left)
{
	uint16_t at = (uint16_t)(data[1] << 8 | data[2]) % MAX_FILE;
	size_t len = data[3];

	if (data[0] & 1) {
		if (ftruncate(fd, at))
			abort();
		return 4;
	}
	if (data[0] & 2)
		t->is_settled = true;
	if (len > left - 4)
		len = left - 4;
	if (pwrite(fd, data + 4, len, at) != (ssize_t)len)
		abort();
	return 4 + len;
}

static void follow(struct tail *t)
{
	for (int i = 0; i < MAX_STEPS; i++) {
		uint64_t at = t->at;

		switch (tail_look(t, 1)) {
		case TAIL_HAS_PIECE:
			if (t->piece.from > t->piece.to || t->at + t->piece.to > t->size)
				abort();
			tail_took(t, t->piece.to);
			if (!t->piece.is_last)
				break;
			tail_next_chunk(t);
			if (t->at <= at)
				abort();
			break;
		case TAIL_REPLACED:
			tail_init(t, t->fd, 0);
			break;
		case TAIL_SEARCHES:
			break;
		default:
			return;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct tail t;

	tail_init(&t, dup(fd), 0);
	while (size >= 4) {
		size_t used = change(fd, &t, data, size);

		data += used;
		size -= used;
		follow(&t);
	}
	tail_deinit(&t);
	close(fd);
	return 0;
}
