/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the part of one process in what weft gives CPython, of which nothing is used yet. */
#ifndef TESTS_UNIT_PYTHON_PART_H
#define TESTS_UNIT_PYTHON_PART_H

#include "runtimes/python_share.h"

static inline struct python_part *fresh_part(void)
{
	static struct python_share share;
	static struct python_part part;

	share = (struct python_share){ 0 };
	part = (struct python_part){ .share = &share };
	return &part;
}

#endif
