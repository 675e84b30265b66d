/* SPDX-License-Identifier: Apache-2.0 */
/* Memory with frames of CPython, and the walk of the kernel half over it. */
#ifndef TESTS_PYTHON_FRAMES_H
#define TESTS_PYTHON_FRAMES_H

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "tests/unit/python_pages.h"
#include "unwinders/python_walk.h"

#define BASE 0x10000
#define LEN 0x8000
#define THREAD (BASE + 0x1000)
#define RUNTIME (BASE + 0x3000)
#define TSTATE (BASE + 0x4000)
#define FRAMES (BASE + 0x5000)
#define CODES (BASE + 0x6000)
#define CFRAMES (BASE + 0x7000)
#define MAX 32

static uint8_t memory[LEN];

static int read_user(__u64 addr, void *buf, __u32 len)
{
	if (addr < BASE || addr - BASE > LEN || len > LEN - (addr - BASE))
		return -1;
	memcpy(buf, memory + (addr - BASE), len);
	return 0;
}

#include "unwinders/python.bpf.h"

static void put(uint64_t addr, uint64_t word)
{
	assert_true(addr >= BASE && addr - BASE <= LEN - sizeof(word));
	memcpy(memory + (addr - BASE), &word, sizeof(word));
}

static void put_byte(uint64_t addr, uint8_t byte)
{
	memory[addr - BASE] = byte;
}

/* As in 3.13: shims, pointers to instructions. */
static struct python_process with_shims(void)
{
	return (struct python_process){
		.attached = { TSTATE - THREAD, PYTHON_SLOT_STATIC, 0 },
		.tstate_len = PYTHON_TSTATE_MAX,
		.tstate_frame = 72,
		.frame_len = 72,
		.frame_previous = 8,
		.frame_instr = 56,
		.frame_owner = 70,
		.code_id = 64,
		.code_id_len = 32,
		.anchor = PYTHON_ANCHOR_SHIM,
	};
}

static uint64_t frame_at(int i)
{
	return FRAMES + (uint64_t)i * 0x80;
}

static uint64_t code_at(int i)
{
	return CODES + (uint64_t)i * 0x100;
}

/* Frames as in 3.13, innermost first: a letter is a function, "^" a shim. */
static void put_shim_frames(const char *frames)
{
	memset(memory, 0, sizeof(memory));
	put(TSTATE, TSTATE + 0x100); /* what the slot holds: the thread state */
	put(TSTATE + 0x100 + 72, *frames ? frame_at(0) : 0);
	for (int i = 0; frames[i]; i++) {
		uint64_t frame = frame_at(i), code = code_at(frames[i] - 'a');

		put(frame + 8, frames[i + 1] ? frame_at(i + 1) : 0);
		if (frames[i] == '^') {
			put_byte(frame + 70, 3);
			continue;
		}
		put(frame, code | 1); /* a tag, as from 3.14 on */
		put(frame + 56, code + 0xd0 + (uint64_t)i * 2);
		put(code + 64, (uint64_t)frames[i]);
	}
}

#endif
