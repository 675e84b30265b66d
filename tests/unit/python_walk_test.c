// SPDX-License-Identifier: Apache-2.0
/* The walk of the kernel half, over memory made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/python_frames.h"

/* Walks; the entries as text, a letter for the function or "^". */
static int walk(const struct python_process *p, struct wire_python_frame out[MAX], char text[MAX])
{
	struct python_walk w = { 0 };
	struct python_reads reads = { 0 };
	int n = 0;

	text[0] = '\0';
	if (!python_begin(&w, p, &reads, THREAD))
		return -1;
	while (n < MAX - 1 && (python_is_more(&w) || python_outer(&w, p, &reads))) {
		int end = python_step(&w, p, &reads, &out[n]);

		if (end)
			return end;
		text[n] = out[n].addr & WIRE_PYTHON_ANCHOR
				  ? '^'
				  : (char)('a' + (out[n].addr - CODES) / 0x100);
		text[++n] = '\0';
	}
	return python_is_more(&w) ? PYTHON_TRUNCATED : PYTHON_STACKS;
}

static void frames_and_shims_come_in_order(void **state)
{
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	put_shim_frames("abc^d^");
	assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
	assert_string_equal(text, "abc^d^");
	assert_int_equal(out[1].position, 0xd2);
	assert_int_equal(out[3].addr, frame_at(3) | WIRE_PYTHON_ANCHOR);
	assert_int_not_equal(out[0].id, out[1].id);
	assert_int_not_equal(out[0].id, 0);
}

static void a_code_object_that_cannot_be_read_has_no_identity(void **state)
{
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	put_shim_frames("a^");
	put(frame_at(0), 0x1234560);
	walk(&p, out, text);
	assert_int_equal(out[0].addr, 0x1234560);
	assert_int_equal(out[0].id, 0);
}

/* As on the data stack: a caller is below its callee. The frames of one page are read together. */
static void frames_may_lie_anywhere(void **state)
{
	static const uint64_t at[] = { 0x6f80, 0x6f00, 0x6c00, 0x6b80, 0x5e00, 0x5d80, 0x6e00,
				       0x6e80, 0x5000, 0x7f00, 0x4800, 0x4700, 0x4600 };
	size_t n = sizeof(at) / sizeof(at[0]);
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	memset(memory, 0, sizeof(memory));
	put(TSTATE, TSTATE + 0x100);
	put(TSTATE + 0x100 + 72, BASE + at[0]);
	for (size_t i = 0; i < n; i++) {
		put(BASE + at[i] + 8, i + 1 < n ? BASE + at[i + 1] : 0);
		put(BASE + at[i], CODES + i * 0x100);
	}
	assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(out[i].addr, CODES + i * 0x100);
	assert_int_equal(strlen(text), n);
}

static void lies_end_the_walk(void **state)
{
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	/* a circle of one, a larger one, no memory, no owner that there is */
	put_shim_frames("abc");
	put(frame_at(2) + 8, frame_at(2));
	assert_int_equal(walk(&p, out, text), PYTHON_BROKEN);
	put_shim_frames("abc");
	put(frame_at(2) + 8, frame_at(0));
	assert_int_equal(walk(&p, out, text), PYTHON_TRUNCATED);
	put_shim_frames("abc");
	put(frame_at(1) + 8, 0xdead0000);
	assert_int_equal(walk(&p, out, text), PYTHON_BROKEN);
	put_shim_frames("abc");
	put_byte(frame_at(1) + 70, 77);
	assert_int_equal(walk(&p, out, text), PYTHON_BROKEN);
	/* a layout that asks for too much */
	put_shim_frames("abc");
	p.frame_len = 1000;
	assert_int_equal(walk(&p, out, text), PYTHON_BROKEN);
	p = with_shims();
	p.code_id_len = 1000;
	walk(&p, out, text);
	assert_int_equal(out[0].id, 0);
}

static void before_3_12_the_cframe_is_the_anchor(void **state)
{
	static const struct {
		uint8_t anchor;
		const char *text;
	} cases[] = {
		{ PYTHON_ANCHOR_ENTRY, "ab^c^" },
		{ PYTHON_ANCHOR_FRAME, "a^b^c^" },
		{ PYTHON_ANCHOR_NONE, "abc" },
	};
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct python_process p = with_shims();

		p.frame_owner = 0;
		p.frame_is_entry = 68;
		p.tstate_frame = 0;
		p.tstate_cframe = 56;
		p.cframe_frame = 8;
		p.cframe_previous = 16;
		p.anchor = cases[i].anchor;
		put_shim_frames("abc");
		put_byte(frame_at(1) + 68, 1);
		put_byte(frame_at(2) + 68, 1);
		put(TSTATE + 0x100 + 56, CFRAMES);
		put(CFRAMES + 8, frame_at(0));
		put(CFRAMES + 16, CFRAMES + 0x100);
		put(CFRAMES + 0x100 + 16, CFRAMES + 0x200);
		assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
		assert_string_equal(text, cases[i].text);
		if (cases[i].anchor == PYTHON_ANCHOR_ENTRY) {
			assert_int_equal(out[2].addr, CFRAMES | WIRE_PYTHON_ANCHOR);
			assert_int_equal(out[4].addr, (CFRAMES + 0x100) | WIRE_PYTHON_ANCHOR);
		}
	}
}

/* Two thread states of one thread: of the interpreter that runs, and of the main one, beside one of
   another thread. */
static void frames_of_the_interpreter_that_called_come_behind(void **state)
{
	enum { INNER = TSTATE + 0x100, OTHER = TSTATE + 0x200, OUTER = TSTATE + 0x300 };
	enum { SUB = RUNTIME + 0x100, MAIN = RUNTIME + 0x200 };
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	p.interpreters = RUNTIME;
	p.tstate_next = 8;
	p.tstate_interp = 16;
	p.tstate_thread_id = 24;
	p.interp_threads = 32;
	put_shim_frames("a^b^c^");
	put(frame_at(1) + 8, 0); /* b and c are the others' */
	put(frame_at(3) + 8, 0);
	put(RUNTIME, SUB);
	put(RUNTIME + 8, MAIN);
	put(SUB, MAIN);
	put(SUB + 32, INNER);
	put(MAIN + 32, OTHER);
	put(INNER + 16, SUB);
	put(INNER + 24, THREAD);
	put(OTHER + 24, THREAD + 8);
	put(OTHER + 72, frame_at(2));
	put(OTHER + 8, OUTER);
	put(OUTER + 24, THREAD);
	put(OUTER + 72, frame_at(4));
	assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
	assert_string_equal(text, "a^c^");
	/* Lists in circles have an end, and who is in the main interpreter asks nobody. */
	put(OUTER + 24, 0);
	put(OUTER + 8, OTHER);
	assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
	assert_string_equal(text, "a^");
	put(OUTER + 24, THREAD);
	put(INNER + 16, MAIN);
	assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
	assert_string_equal(text, "a^");
}

static void the_base_of_a_chain_is_no_frame(void **state)
{
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	p.tstate_base = 80;
	put_shim_frames("ab^^");
	put(TSTATE + 0x100 + 80, frame_at(3));
	assert_int_equal(walk(&p, out, text), PYTHON_STACKS);
	assert_string_equal(text, "ab^");
	put(TSTATE + 0x100 + 80, frame_at(0));
	assert_int_equal(walk(&p, out, text), -1);
}

/* The identities of a stack's functions, in a sample of this number. */
static void identify(const struct python_process *p, struct python_reads *reads, uint32_t sample,
		     bool is_deep, uint32_t ids[MAX])
{
	struct python_walk w = { 0 };
	struct wire_python_frame out;

	python_reads_begin(reads, sample);
	assert_int_equal(reads->n_codes, 0);
	reads->n_codes = is_deep ? PYTHON_PAGES_AFTER : 0;
	assert_true(python_begin(&w, p, reads, THREAD));
	for (int i = 0; i < MAX && python_is_more(&w); i++) {
		assert_int_equal(python_step(&w, p, reads, &out), 0);
		ids[i] = out.id;
	}
}

static void functions_that_are_read_at_once_are_who_they_are(void **state)
{
	struct python_process p = with_shims();
	struct python_reads one = { 0 }, all = { 0 };
	uint32_t alone[MAX] = { 0 }, together[MAX] = { 0 };

	(void)state;
	put_shim_frames("abcdefghij^");
	for (uint32_t sample = 1; sample < 5; sample++) {
		put(code_at(3) + 72, sample); /* another one at the same address */
		identify(&p, &one, sample, false, alone);
		identify(&p, &all, sample, true, together);
		assert_memory_equal(alone, together, sizeof(alone));
		assert_int_equal(python_pages_get()->used > PYTHON_PAGES_BEGIN, sample > 1);
	}
	identify(&p, &all, 5, false, together); /* few are read by themselves */
	assert_int_equal(python_pages_get()->sample, 4);
}

static int begin(const struct python_process *p, struct python_walk *w)
{
	static struct python_reads reads;

	memset(w, 0, sizeof(*w));
	return python_begin(w, p, &reads, THREAD);
}

static void a_thread_state_is_found_in_every_kind_of_slot(void **state)
{
	struct python_process p = with_shims();
	struct python_walk w;

	(void)state;
	p.tstate_thread_id = 200;
	put_shim_frames("a^");
	put(TSTATE + 0x100 + 200, THREAD);
	/* of whoever holds the GIL, if that is this thread */
	p.attached = (struct python_slot_at){ RUNTIME, PYTHON_SLOT_HOLDER, 0 };
	put(RUNTIME, TSTATE + 0x100);
	assert_true(begin(&p, &w) && w.is_attached);
	put(TSTATE + 0x100 + 200, THREAD + 0x100);
	assert_false(begin(&p, &w));
	/* it does not, but has a state all the same */
	p.sticky = (struct python_slot_at){ RUNTIME + 8, PYTHON_SLOT_KEY, 0 };
	put(RUNTIME + 8, 3);
	put(THREAD + 0x310 + 3 * 16 + 8, TSTATE + 0x100);
	assert_true(begin(&p, &w) && !w.is_attached);
	put(RUNTIME + 8, 35);
	assert_false(begin(&p, &w));
	put(THREAD + 0x510 + 8, RUNTIME + 0x100);
	put(RUNTIME + 0x100 + 3 * 16 + 8, TSTATE + 0x100);
	assert_true(begin(&p, &w));
	put(RUNTIME + 8, 5000); /* there are no such keys */
	assert_false(begin(&p, &w));
	/* a variable of a library: the thread's vector has its block, or has not made it yet */
	p.sticky = (struct python_slot_at){ 0x20, PYTHON_SLOT_MODULE, 2 };
	put(THREAD + 8, RUNTIME + 0x400);
	put(RUNTIME + 0x400 + 2 * 16, RUNTIME + 0x600);
	put(RUNTIME + 0x620, TSTATE + 0x100);
	assert_true(begin(&p, &w));
	put(RUNTIME + 0x400 + 2 * 16, UINT64_MAX);
	assert_false(begin(&p, &w));
}

static void musl_keeps_what_is_the_threads_elsewhere(void **state)
{
	struct python_process p = with_shims();
	struct python_walk w;

	(void)state;
	put_shim_frames("a^");
	p.attached = (struct python_slot_at){ 0 };
	p.sticky = (struct python_slot_at){ RUNTIME + 8, PYTHON_SLOT_MUSL_KEY, 0 };
	put(RUNTIME + 8, 3);
	assert_false(begin(&p, &w));
	put(THREAD + 0x80, RUNTIME + 0x100);
	put(RUNTIME + 0x100 + 3 * 8, TSTATE + 0x100);
	assert_true(begin(&p, &w));
	put(RUNTIME + 8, 128); /* there are no such keys */
	assert_false(begin(&p, &w));
	p.sticky = (struct python_slot_at){ 0x20, PYTHON_SLOT_MUSL_MODULE, 2 };
	put(THREAD + 8, RUNTIME + 0x400);
	put(RUNTIME + 0x400 + 2 * 8, RUNTIME + 0x600);
	put(RUNTIME + 0x620, TSTATE + 0x100);
	assert_true(begin(&p, &w));
}

static void survives_mutation(void **state)
{
	struct python_process p = with_shims();
	struct wire_python_frame out[MAX];
	char text[MAX];

	(void)state;
	for (int frame = 0; frame < 4; frame++) {
		for (int bit = 0; bit < 80 * 8; bit++) {
			put_shim_frames("ab^c^");
			memory[frame_at(frame) - BASE + (uint64_t)bit / 8] ^=
				(uint8_t)(1 << bit % 8);
			walk(&p, out, text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_and_shims_come_in_order),
		cmocka_unit_test(a_code_object_that_cannot_be_read_has_no_identity),
		cmocka_unit_test(frames_may_lie_anywhere),
		cmocka_unit_test(lies_end_the_walk),
		cmocka_unit_test(before_3_12_the_cframe_is_the_anchor),
		cmocka_unit_test(frames_of_the_interpreter_that_called_come_behind),
		cmocka_unit_test(the_base_of_a_chain_is_no_frame),
		cmocka_unit_test(functions_that_are_read_at_once_are_who_they_are),
		cmocka_unit_test(a_thread_state_is_found_in_every_kind_of_slot),
		cmocka_unit_test(musl_keeps_what_is_the_threads_elsewhere),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
