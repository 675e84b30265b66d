/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this word a return address? One follows a call instruction (Intel SDM volume 2, CALL: E8
 * rel32, and FF /2 with every form of operand).
 */
#ifndef UNWINDERS_CALL_SITE_H
#define UNWINDERS_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALL_MAX_LEN 7 /* of a call without prefixes */

enum call_kind { CALL_NONE, CALL_DIRECT, CALL_INDIRECT };

/*
 * Which call could end where these bytes (len of them, at most CALL_MAX_LEN count) end. The bytes
 * of a direct call are also looked at as an indirect one, as both can fit; is_also_indirect says
 * so.
 */
enum call_kind call_before(const uint8_t *before, size_t len, uint64_t return_address,
			   uint64_t *target, bool *is_also_indirect);

/* A jump through a table, as in a PLT entry, or a plain jump. */
enum jump_kind { JUMP_NONE, JUMP_DIRECT, JUMP_SLOT };

#define JUMP_MAX_LEN 11 /* endbr64, bnd jmp */

/* What the code at pc begins with: JUMP_DIRECT and *target, or JUMP_SLOT and the address of the
 * slot. */
enum jump_kind jump_at(const uint8_t *code, size_t len, uint64_t pc, uint64_t *target);

/* True when a function's first bytes set up a frame pointer; *len is where that is done. */
bool sets_frame_pointer(const uint8_t *code, size_t code_len, size_t *len);

#endif
