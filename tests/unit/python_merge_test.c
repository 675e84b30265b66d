// SPDX-License-Identifier: Apache-2.0
/* Stacks are written as text: "f@10" is the native frame f whose part of the stack begins at 10,
   "e" an eval function, "k" a kernel frame; Python frames are capital letters, "^10" an anchor. */
#include "runtimes/python_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX 64

struct stack {
	struct wire_frame native[MAX];
	struct wire_python_frame python[MAX];
	struct python_merge m;
};

static bool is_eval(void *ctx, const struct wire_frame *f)
{
	(void)ctx;
	return f->addr == 'e';
}

static struct wire_frame python_frame(void *ctx, const struct wire_python_frame *f)
{
	(void)ctx;
	return (struct wire_frame){ .addr = f->addr, .kind = WIRE_FRAME_PYTHON };
}

static void parse_native(struct stack *s, const char *text)
{
	for (const char *at = text; *at; at++) {
		struct wire_frame *f = &s->native[s->m.n_native];

		if (*at == ' ')
			continue;
		f->addr = (uint64_t)*at;
		f->kind = *at == 'k' ? WIRE_FRAME_KERNEL : WIRE_FRAME_NATIVE;
		if (at[1] == '@') {
			char *end;

			f->extra = (uint32_t)strtoul(at + 2, &end, 0);
			at = end - 1;
		}
		s->m.n_native++;
	}
}

static void parse_python(struct stack *s, const char *text)
{
	for (const char *at = text; *at; at++) {
		struct wire_python_frame *f = &s->python[s->m.n_python];

		if (*at == ' ')
			continue;
		f->addr = (uint64_t)*at << 3;
		f->id = 7;
		if (*at == '^') {
			char *end;

			f->addr = strtoull(at + 1, &end, 0) << 3 | WIRE_PYTHON_ANCHOR;
			at = end - 1;
		}
		s->m.n_python++;
	}
}

static void merge(const char *native, const char *python, bool has_anchors, bool is_whole,
		  bool is_eval_shown, size_t max, char out[MAX])
{
	struct stack *s = calloc(1, sizeof(*s));
	struct wire_frame merged[MAX];
	size_t n;

	parse_native(s, native);
	parse_python(s, python);
	for (size_t i = 0; i < s->m.n_native; i++)
		s->native[i].extra <<= 3;
	s->m.native = s->native;
	s->m.python = s->python;
	s->m.has_anchors = has_anchors;
	s->m.is_whole = is_whole;
	s->m.is_eval_shown = is_eval_shown;
	s->m.is_eval = is_eval;
	s->m.frame = python_frame;
	n = python_merge(&s->m, merged, max);
	assert_true(n <= max);
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(merged[i].kind == WIRE_FRAME_PYTHON ? merged[i].addr >> 3
								    : merged[i].addr);
	out[n] = '\0';
	free(s);
}

static void frames_stand_where_their_anchor_is(void **state)
{
	static const struct {
		const char *native, *python, *merged;
	} cases[] = {
		{ "f@10 e@20 g@30 m@40", "A ^25", "fAgm" },
		/* several Python frames in one activation, two activations */
		{ "f@10 e@20 g@30 e@40 m@50", "AB ^28 C ^44", "fABgCm" },
		/* the leaf itself is the eval function */
		{ "e@20 m@30", "AB ^20", "ABm" },
		/* an activation that has no frame yet, or none any more */
		{ "e@10 g@20 e@30 m@40", "A ^35", "egAm" },
		/* kernel frames are the innermost */
		{ "k k e@20 m@30", "A ^29", "kkAm" },
		/* it ended before the others */
		{ "f@10 e@20", "A ^15 B ^25 C ^45", "AeBC" },
		{ "f@10 e@20 x@30", "A ^25 B ^45", "fAxB" },
		/* no native frames at all */
		{ "", "A ^15 B", "AB" },
		/* an anchor that is not on this stack, with nothing of its own (3.15's base frame)
		 */
		{ "f@10 e@20 m@30", "A ^25 ^7000", "fAm" },
		{ "f@10 m@30", "", "fm" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char merged[MAX];

		merge(cases[i].native, cases[i].python, true, true, false, MAX - 1, merged);
		assert_string_equal(merged, cases[i].merged);
	}
}

static void without_anchors_eval_functions_take_turns(void **state)
{
	static const struct {
		const char *native, *python, *merged;
		bool is_whole;
	} cases[] = {
		{ "f e g e m", "AB", "fAgBm", true },
		/* the innermost eval function has no frame yet */
		{ "e g e m", "A", "egAm", true },
		/* nobody knows how many are missing: from the leaf on */
		{ "e g e m", "A", "Agem", false },
		{ "f e", "ABC", "fABC", false },
		{ "k e m", "A", "kAm", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char merged[MAX];

		merge(cases[i].native, cases[i].python, false, cases[i].is_whole, false, MAX - 1,
		      merged);
		assert_string_equal(merged, cases[i].merged);
	}
}

static void eval_functions_are_kept_when_asked_for(void **state)
{
	char merged[MAX];

	(void)state;
	merge("f@10 e@20 m@30", "AB ^25", true, true, true, MAX - 1, merged);
	assert_string_equal(merged, "fABem");
	merge("f e m", "A", false, true, true, MAX - 1, merged);
	assert_string_equal(merged, "fAem");
}

static void stacks_across_the_middle_of_the_address_space_are_in_order(void **state)
{
	char merged[MAX];

	(void)state;
	merge("f@0x1ffffff0 e@0x1ffffff8 g@0x20000010 m@0x20000020", "A ^0x20000008", true, true,
	      false, MAX - 1, merged);
	assert_string_equal(merged, "fAgm");
}

static void no_more_is_written_than_there_is_room_for(void **state)
{
	(void)state;
	for (size_t max = 0; max < 8; max++) {
		char merged[MAX];

		merge("f@10 e@20 g@30 m@40", "AB ^25 C ^27", true, true, true, max, merged);
		assert_int_equal(strlen(merged), max < 7 ? max : 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_stand_where_their_anchor_is),
		cmocka_unit_test(without_anchors_eval_functions_take_turns),
		cmocka_unit_test(eval_functions_are_kept_when_asked_for),
		cmocka_unit_test(stacks_across_the_middle_of_the_address_space_are_in_order),
		cmocka_unit_test(no_more_is_written_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
