/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of parsers: a good input in all its small damages. */
#ifndef TESTS_UNIT_MUTATION_H
#define TESTS_UNIT_MUTATION_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Calls parse with the bytes as they are, with every truncation and with every flip of a bit, each
   in an allocation of exactly its size. */
static inline void mutate(const void *good, size_t len,
			  void (*parse)(const uint8_t *bytes, size_t len))
{
	for (size_t cut = 0; cut <= len; cut++) {
		uint8_t *copy = malloc(cut ? cut : 1);

		memcpy(copy, good, cut);
		parse(copy, cut);
		free(copy);
	}
	for (size_t bit = 0; bit < 8 * len; bit++) {
		uint8_t *copy = malloc(len);

		memcpy(copy, good, len);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		parse(copy, len);
		free(copy);
	}
}

#endif
