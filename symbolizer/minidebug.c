// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/minidebug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "core/hurry.h"
#include "core/scoped.h"

#define MAX_DICTIONARY (64 << 20)
#define FIRST_SIZE (64 << 10)

static int error_of(lzma_ret status)
{
	switch (status) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

int minidebug_unpack(const void *xz, size_t len, size_t max, void **out, size_t *out_len)
{
	SCOPED(free) char *image = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&stream, MAX_DICTIONARY, LZMA_TELL_UNSUPPORTED_CHECK);
	size_t cap = 0;
	int err = error_of(status);

	stream.next_in = xz;
	stream.avail_in = len;
	while (!err && status != LZMA_STREAM_END) {
		if (hurry_is_on()) {
			err = -EINTR;
			break;
		}
		if (!stream.avail_out) {
			size_t larger_cap = cap ? cap * 2 : FIRST_SIZE;
			char *larger = cap < max ? realloc(image, larger_cap + 1) : NULL;

			if (!larger) {
				err = cap < max ? -ENOMEM : -E2BIG;
				break;
			}
			image = larger;
			stream.next_out = (uint8_t *)image + cap;
			stream.avail_out = larger_cap - cap;
			cap = larger_cap;
		}
		status = lzma_code(&stream, LZMA_FINISH);
		err = error_of(status);
	}
	lzma_end(&stream);
	if (err < 0)
		return err;
	*out_len = stream.total_out;
	image[*out_len] = 0;
	*out = TAKE(image);
	return 0;
}
