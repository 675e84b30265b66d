// SPDX-License-Identifier: Apache-2.0
#include "unwinders/call_site.h"

#include <string.h>

static int32_t read_s32(const uint8_t *p)
{
	return (int32_t)(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

/* Is this FF /2 an instruction of exactly len bytes? */
static bool is_indirect_call(const uint8_t *p, size_t len)
{
	uint8_t mod = p[1] >> 6, rm = p[1] & 7;
	bool has_sib = mod != 3 && rm == 4;
	size_t want = 2 + has_sib;

	if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return false;
	if (mod == 1)
		want += 1;
	else if (mod == 2 || (mod == 0 && rm == 5))
		want += 4;
	else if (mod == 0 && has_sib && len > 2 && (p[2] & 7) == 5)
		want += 4; /* no base register, a displacement instead */
	return want == len;
}

enum call_kind call_before(const uint8_t *before, size_t len, uint64_t return_address,
			   uint64_t *target, bool *is_also_indirect)
{
	const uint8_t *end = before + len;
	bool is_indirect = false;

	for (size_t n = 2; n <= len && n <= CALL_MAX_LEN; n++)
		if (is_indirect_call(end - n, n))
			is_indirect = true;
	*is_also_indirect = is_indirect;
	if (len >= 5 && end[-5] == 0xe8) {
		*target = return_address + (uint64_t)(int64_t)read_s32(end - 4);
		return CALL_DIRECT;
	}
	return is_indirect ? CALL_INDIRECT : CALL_NONE;
}

/* Where the code goes on behind endbr64, if it begins with that. */
static size_t skip_endbr(const uint8_t *code, size_t len)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return len >= 4 && memcmp(code, endbr64, 4) == 0 ? 4 : 0;
}

enum jump_kind jump_at(const uint8_t *code, size_t len, uint64_t pc, uint64_t *target)
{
	size_t at = skip_endbr(code, len);

	if (at < len && code[at] == 0xf2) /* bnd */
		at++;
	if (len - at >= 6 && code[at] == 0xff && code[at + 1] == 0x25) {
		*target = pc + at + 6 + (uint64_t)(int64_t)read_s32(code + at + 2);
		return JUMP_SLOT;
	}
	if (len - at >= 5 && code[at] == 0xe9) {
		*target = pc + at + 5 + (uint64_t)(int64_t)read_s32(code + at + 1);
		return JUMP_DIRECT;
	}
	return JUMP_NONE;
}

bool sets_frame_pointer(const uint8_t *code, size_t code_len, size_t *len)
{
	/* push %rbp, then mov %rsp,%rbp in either of its two encodings */
	static const uint8_t forms[2][4] = { { 0x55, 0x48, 0x89, 0xe5 },
					     { 0x55, 0x48, 0x8b, 0xec } };
	size_t at = skip_endbr(code, code_len);

	if (code_len - at < 4 || (memcmp(code + at, forms[0], 4) && memcmp(code + at, forms[1], 4)))
		return false;
	*len = at + 4;
	return true;
}
