/* SPDX-License-Identifier: Apache-2.0 */
/*
 * _Py_DebugOffsets of real interpreters, its words behind the third: CPython 3.13.0 built with its
 * defaults, 3.14.10 and 3.15.2 of Debian, x86-64; and the structure made of them.
 */
#ifndef TESTS_UNIT_PYTHON_DEBUG_OFFSETS_H
#define TESTS_UNIT_PYTHON_DEBUG_OFFSETS_H

#include <string.h>

#include "runtimes/python_layout.h"

static const uint32_t said_by_313[] = {
	283320, 608,  632, 194968, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16,  7752, 0,
	7768,	7760, 304, 0,	   8,	 16,   72,   152,  160,	 232,  32,   80,  8,	0,
	56,	72,   70,  208,	   112,	 120,  128,  136,  68,	 52,   96,   104, 200,	16,
	8,	416,  24,  88,	   168,	 32,   24,   16,   40,	 24,   16,   48,  32,	40,
	24,	16,   32,  16,	   24,	 40,   16,   32,   64,	 32,   16,   40,  240,	200,
};

static const uint32_t said_by_314[] = {
	316616, 784,  808,  225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16,	 7784,
	0,	7800, 7792, 7992,   0,	  832,	0,    8,    16,	  72,	152,  160,  232, 32,
	88,	8,    0,    56,	    80,	  74,	64,   0,    216,  112,	120,  128,  136, 68,
	52,	96,   104,  208,    0,	  16,	8,    416,  24,	  88,	168,  40,   32,	 16,
	40,	24,   16,   200,    24,	  40,	32,   48,   32,	  40,	24,   16,   32,	 16,
	24,	40,   16,   32,	    64,	  32,	16,   40,   264,  192,	160,  24,   72,	 67,
	0,	8,    24,   304,    8076, 0,	4,    512,
};

static const uint32_t said_by_315[] = {
	346568, 912,  936,  226240, 7272, 7264, 7336, 7352, 7400, 7592, 7576, 7584, 16,	 7736,
	0,	7752, 7744, 7944,   0,	  888,	0,    8,    16,	  72,	80,   88,   96,	 176,
	184,	256,  32,   36,	    40,	  136,	288,  0,    88,	  8,	0,    56,   80,	 74,
	64,	0,    216,  112,    120,  128,	136,  68,   52,	  96,	104,  208,  0,	 16,
	8,	424,  24,   88,	    168,  32,	288,  944,  888,  40,	32,   16,   40,	 24,
	16,	200,  24,   40,	    32,	  48,	32,   40,   24,	  16,	32,   16,   24,	 40,
	16,	32,   64,   32,	    16,	  40,	56,   176,  112,  120,	1120, 104,  160, 24,
	72,	67,   0,    8,	    24,	  344,	8028, 0,    4,	  512,
};

#define N_SAID(words) (sizeof(words) / sizeof(*(words)))

static inline void put_word(uint8_t *to, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(word >> 8 * i);
}

/* The structure's length; bytes has PYTHON_DEBUG_LEN. */
static inline size_t debug_offsets(uint8_t *bytes, uint32_t version, bool is_free_threaded,
				   const uint32_t *words, size_t n)
{
	memcpy(bytes, PYTHON_DEBUG_COOKIE, 8);
	put_word(bytes + 8, version);
	put_word(bytes + 16, is_free_threaded);
	for (size_t i = 0; i < n; i++)
		put_word(bytes + 24 + 8 * i, words[i]);
	return 24 + 8 * n;
}

#endif
