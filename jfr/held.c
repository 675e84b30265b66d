// SPDX-License-Identifier: Apache-2.0
#include "jfr/held.h"

#include <errno.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/reader.h"

void held_deinit(struct held *h)
{
	free(h->at);
	*h = (struct held){ 0 };
}

int held_add(struct held *h, uint64_t at)
{
	if (h->n >= MAX_HELD)
		return -E2BIG;
	if (ARRAY_RESERVE(h->at, h->cap, h->n))
		return -ENOMEM;
	h->at[h->n++] = at;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

	return *x < *y ? -1 : *x > *y;
}

void held_sort(struct held *h)
{
	if (h->n)
		qsort(h->at, h->n, sizeof(*h->at), compare);
}

void held_encode(const struct held *h, uint8_t *out)
{
	for (size_t i = 0; i < h->n; i++)
		for (int b = HELD_LEN; b-- > 0;)
			*out++ = (uint8_t)(h->at[i] >> 8 * b);
}

int held_decode(struct held *h, const void *bytes, size_t len)
{
	struct held made = { 0 };
	struct reader r;
	int err = 0;

	if (len % HELD_LEN)
		return -EBADMSG;
	reader_init(&r, bytes, len);
	while (!err && !reader_at_end(&r)) {
		uint64_t at = reader_u64_be(&r, "held event");

		/* Each behind the one before. */
		err = made.n && at <= made.at[made.n - 1] ? -EBADMSG : held_add(&made, at);
	}
	if (err) {
		held_deinit(&made);
		return err == -E2BIG ? -EBADMSG : err;
	}
	*h = made;
	return 0;
}
