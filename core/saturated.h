/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and products that stay at the largest number there is, of what others say. */
#ifndef CORE_SATURATED_H
#define CORE_SATURATED_H

#include <stdint.h>

static inline int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t sub_saturated(int64_t a, int64_t b)
{
	int64_t difference;

	if (!__builtin_sub_overflow(a, b, &difference))
		return difference;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t mul_saturated(int64_t a, int64_t b)
{
	int64_t product;

	if (!__builtin_mul_overflow(a, b, &product))
		return product;
	return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

#endif
