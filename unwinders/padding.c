// SPDX-License-Identifier: Apache-2.0
#include "unwinders/padding.h"

#define RET 0xc3

/* The length of the nop, trap or zero that assemblers fill gaps with; 0: something else. */
static size_t filler_len(const uint8_t *p, size_t left)
{
	size_t n = 0;

	if (p[0] == 0xcc || p[0] == 0x00 || p[0] == 0xf4) /* int3, nothing, hlt */
		return 1;
	while (n < left && (p[n] == 0x66 || p[n] == 0x2e))
		n++;
	if (n < left && p[n] == 0x90)
		return n + 1;
	if (left - n < 3 || p[n] != 0x0f || p[n + 1] != 0x1f)
		return 0;
	switch (p[n + 2]) { /* nopl with a memory operand of each length */
	case 0x00:
		return n + 3;
	case 0x40:
		return n + 4;
	case 0x44:
		return n + 5;
	case 0x80:
		return n + 7;
	case 0x84:
		return n + 8;
	}
	return 0;
}

static bool is_filler(const uint8_t *p, size_t len)
{
	while (len) {
		size_t n = filler_len(p, len);

		if (n == 0 || n > len)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

/* Is there a return before code[at], and an assembler's filler between them? */
static bool follows_return_closely(const uint8_t *code, size_t at)
{
	for (size_t gap = 0; gap < FUNCTION_ALIGNMENT && gap < at; gap++)
		if (code[at - gap - 1] == RET && is_filler(code + at - gap, gap))
			return true;
	return false;
}

static bool follows_return(const uint8_t *code, size_t at)
{
	if (follows_return_closely(code, at))
		return true;
	/* Code generators align to more than assemblers do, and leave zeros or traps. */
	while (at > 0 && (code[at - 1] == 0x00 || code[at - 1] == 0xcc || code[at - 1] == 0xf4))
		at--;
	return at > 0 && code[at - 1] == RET;
}

bool padding_find_start(const uint8_t *code, size_t len, uint64_t end, uint64_t *start)
{
	uint64_t low = end % FUNCTION_ALIGNMENT;

	for (size_t back = low; back < len; back += FUNCTION_ALIGNMENT) {
		if (!follows_return(code, len - back))
			continue;
		*start = end - back;
		return true;
	}
	return false;
}
