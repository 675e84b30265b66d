/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow as they are filled, and the search in sorted ones. */
#ifndef CORE_ARRAY_H
#define CORE_ARRAY_H

#include <stddef.h>

/* Room for the element of index n of an array of *cap of them; *array is a pointer to them, NULL at
   first. Large ones grow by a quarter, as there is a budget to stay in. 0 or -ENOMEM: everything is
   as it was. New elements are not initialised. */
int array_reserve(void **array, size_t *cap, size_t n, size_t size);

/* As qsort_r(), which takes as much memory again: this one takes none, and twice the time. */
void array_sort_in_place(void *array, size_t n, size_t size,
			 int (*compare)(const void *, const void *, void *), void *ctx);

/* Nearly always there is room. */
#define ARRAY_RESERVE(array, cap, n) \
	((n) < (cap) ? 0 : array_reserve((void **)&(array), &(cap), n, sizeof(*(array))))

/* How many of the n elements of an array, sorted by a field, have it at or below a value: what
   covers the value can only be the one before that. */
#define ARRAY_COUNT_UP_TO(array, n, field, value)                \
	({                                                       \
		__auto_type value_ = (value);                    \
		size_t low_ = 0, high_ = (n);                    \
                                                                 \
		while (low_ < high_) {                           \
			size_t mid_ = low_ + (high_ - low_) / 2; \
                                                                 \
			if ((array)[mid_].field <= value_)       \
				low_ = mid_ + 1;                 \
			else                                     \
				high_ = mid_;                    \
		}                                                \
		low_;                                            \
	})

#endif
