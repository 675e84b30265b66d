// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"

#include <errno.h>
#include <stdlib.h>

int array_reserve(void **array, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap : 32;
	void *grown;

	if (n < *cap)
		return 0;
	while (want <= n)
		want *= 2;
	grown = reallocarray(*array, want, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*cap = want;
	return 0;
}
