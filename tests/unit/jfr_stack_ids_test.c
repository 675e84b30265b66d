// SPDX-License-Identifier: Apache-2.0
#include "jfr/stack_ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/profile.h"
#include "jfr/names.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct java_class of_java = { .name = "a.b" }, longer = { .name = "a.b.c" },
			       one = { .name = "libone.so" }, two = { .name = "libtwo.so" };

/* A method, and what becomes of it. */
static const struct {
	const struct java_class *class;
	const char *method, *descriptor, *name, *system_name, *filename;
	bool is_of_java;
} cases[] = {
	{ &of_java, "m", "()V", "a.b.m", "a.b.m()V", "", true },
	{ &of_java, "m", "(I)V", "a.b.m", "a.b.m(I)V", "", true },
	{ &of_java, "m()", "V", "a.b.m()", "a.b.m()V", "",
	  true }, /* the same with its descriptor */
	{ &longer, "m", "()V", "a.b.c.m", "a.b.c.m()V", "", true },
	{ &of_java, "c.m", "()V", "a.b.c.m", "a.b.c.m()V", "",
	  true }, /* nobody can tell them apart */
	{ &one, "f", "()L;", "f", "f", "libone.so", false },
	{ &two, "f", "()L;", "f", "f", "libtwo.so", false },
	{ &one, "a.b.m()V", "()L;", "a.b.m()V", "a.b.m()V", "libone.so", false },
};

/* Of one method only; the ids in it are of this profile. */
static const struct function *function_of(struct stack_ids *s, const struct java_method *m)
{
	const struct java_frame frame = { .method = m, .line = 3, .type = JAVA_COMPILED };
	const struct java_frame *const frames[] = { &frame };
	struct java_stack stack = { .frames = frames, .n = 1 };
	uint32_t id = stack_ids_of(s, &stack);
	const uint32_t *locations;
	const struct line *line;
	size_t n;

	locations = profile_get_stack(s->p, id, &n);
	assert_int_equal(n, 1);
	line = profile_get_lines(s->p, locations[0], &n);
	assert_int_equal(n, 1);
	assert_int_equal(line->line, 3);
	return profile_get_function(s->p, line->function);
}

/* Each chunk has methods of its own. */
static void methods_are_the_same_functions_in_each_chunk(void **state)
{
	struct stack_ids *s = calloc(1, sizeof(*s));

	(void)state;
	s->p = profile_new();
	for (size_t i = 0; i < 2 * N(cases); i++) {
		struct java_method m = { .class = cases[i % N(cases)].class,
					 .name = cases[i % N(cases)].method,
					 .descriptor = cases[i % N(cases)].descriptor,
					 .is_of_java = cases[i % N(cases)].is_of_java };
		const struct function *f = function_of(s, &m);

		assert_string_equal(profile_get_string(s->p, f->name), cases[i % N(cases)].name);
		assert_string_equal(profile_get_string(s->p, f->system_name),
				    cases[i % N(cases)].system_name);
		assert_string_equal(profile_get_string(s->p, f->filename),
				    cases[i % N(cases)].filename);
	}
	profile_free(s->p);
	stack_ids_deinit(s);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(methods_are_the_same_functions_in_each_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
