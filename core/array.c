// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Elements: smaller arrays are doubled. */
#define LARGE 4096

int array_reserve(void **array, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap : 32;
	void *grown;

	if (n < *cap)
		return 0;
	while (want <= n)
		want += want < LARGE ? want : want / 4;
	grown = reallocarray(*array, want, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*cap = want;
	return 0;
}

struct heap {
	char *array;
	size_t size;
	int (*compare)(const void *, const void *, void *);
	void *ctx;
};

static void swap(const struct heap *h, size_t i, size_t k)
{
	char *x = h->array + i * h->size, *y = h->array + k * h->size;

	for (size_t b = 0; b < h->size; b++) {
		char moved = x[b];

		x[b] = y[b];
		y[b] = moved;
	}
}

static bool is_less(const struct heap *h, size_t i, size_t k)
{
	return h->compare(h->array + i * h->size, h->array + k * h->size, h->ctx) < 0;
}

static void sift_down(const struct heap *h, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && is_less(h, child, child + 1))
			child++;
		if (!is_less(h, at, child))
			return;
		swap(h, at, child);
	}
}

void array_sort_in_place(void *array, size_t n, size_t size,
			 int (*compare)(const void *, const void *, void *), void *ctx)
{
	struct heap h = { array, size, compare, ctx };

	for (size_t i = n / 2; i-- > 0;)
		sift_down(&h, i, n);
	for (; n > 1; n--) {
		swap(&h, 0, n - 1);
		sift_down(&h, 0, n - 1);
	}
}
