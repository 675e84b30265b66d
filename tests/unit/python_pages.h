/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk of CPython's frames reads code objects into, as each CPU has it in the kernel. */
#ifndef TESTS_UNIT_PYTHON_PAGES_H
#define TESTS_UNIT_PYTHON_PAGES_H

#include "unwinders/python_walk.h"

static inline struct python_pages *python_pages_get(void)
{
	static struct python_pages pages;

	return &pages;
}

#endif
