// SPDX-License-Identifier: Apache-2.0
#include "exporter/twins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exporter/flame_tree.h"
#include "exporter/names.h"
#include "tests/unit/sample_profile.h"

/* A frame of its own for each call. */
static uint32_t put(struct profile *p, enum frame_kind kind, const char *name, const char *file,
		    uint32_t line)
{
	return sample_location(p, kind, 0, profile_n_locations(p) + 1,
			       sample_function(p, name, "", file, line), line);
}

static void assert_name(const struct profile *p, uint32_t location, const char *name)
{
	struct twins t = { .n = 0 };
	struct frame f;

	assert_int_equal(twins_find(&t, p), 0);
	location_frame(p, location, 0, &f);
	assert_string_equal(twins_name(&t, p, &f), name);
	twins_deinit(&t);
}

struct named {
	enum frame_kind kind;
	const char *name, *file, *shown;
};

/* All in one profile. */
static void assert_names(const struct named *named, size_t n)
{
	struct profile *p = sample_profile_empty();
	uint32_t first = profile_n_locations(p) + 1;

	for (size_t i = 0; i < n; i++)
		put(p, named[i].kind, named[i].name, named[i].file, 3 + (uint32_t)i);
	for (size_t i = 0; i < n; i++)
		assert_name(p, first + (uint32_t)i, named[i].shown);
	profile_free(p);
}

#define ASSERT_NAMES(named) assert_names(named, sizeof(named) / sizeof((named)[0]))

static void functions_of_one_name_say_their_files(void **state)
{
	static const struct named named[] = {
		{ FRAME_PYTHON, "run", "/srv/app/api/__init__.py", "run (api/__init__.py)" },
		{ FRAME_PYTHON, "run", "/srv/app/jobs/__init__.py", "run (jobs/__init__.py)" },
		{ FRAME_PYTHON, "run", "/srv/app/jobs/__init__.py", "run (jobs/__init__.py)" },
		{ FRAME_PYTHON, "run", "<string>", "run (<string>)" },
		{ FRAME_PYTHON, "run", "app/x.py", "run (app/x.py)" },
	};

	(void)state;
	ASSERT_NAMES(named);
}

static void files_that_end_alike_say_more_of_their_paths(void **state)
{
	static const struct named named[] = {
		{ FRAME_PYTHON, "run", "/srv/shop/x/main.py", "run (shop/x/main.py)" },
		{ FRAME_PYTHON, "run", "/srv/stock/x/main.py", "run (stock/x/main.py)" },
		{ FRAME_PYTHON, "go", "x/main.py", "go (x/main.py)" },
		{ FRAME_PYTHON, "go", "/x/main.py", "go (/x/main.py)" },
	};

	(void)state;
	ASSERT_NAMES(named);
}

/* The same file, native code, no file. */
static void others_go_by_their_names(void **state)
{
	static const struct named named[] = {
		{ FRAME_PYTHON, "load", "/srv/app/a.py", "load" },
		{ FRAME_PYTHON, "load", "/srv/app/a.py", "load" },
		{ FRAME_NATIVE, "load", "/src/load.c", "load" },
		{ FRAME_NATIVE, "load", "/src/other.c", "load" },
		{ FRAME_PYTHON, "load", "", "load" },
	};

	(void)state;
	ASSERT_NAMES(named);
}

static void a_name_without_room_for_a_file_is_a_name(void **state)
{
	struct profile *p = sample_profile_empty();
	char name[300];
	uint32_t one, other;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	one = put(p, FRAME_PYTHON, name, "/srv/app/a.py", 3);
	other = put(p, FRAME_PYTHON, name, "/srv/app/b.py", 3);
	assert_name(p, one, name);
	assert_name(p, other, name);
	profile_free(p);
}

static void a_flame_graph_has_them_side_by_side(void **state)
{
	struct profile *p = sample_profile_empty();
	uint32_t labels = sample_labels(p, 1, 1, "app", "app", NULL), one, other;
	struct flame_tree *t;
	uint32_t n_found = 0;

	(void)state;
	one = put(p, FRAME_PYTHON, "run", "/srv/app/api/views.py", 3);
	other = put(p, FRAME_PYTHON, "run", "/srv/app/jobs/views.py", 3);
	sample_add(p, labels, 5, &one, 1);
	sample_add(p, labels, 6, &other, 1);
	t = flame_tree_new(p, 100);
	assert_non_null(t);
	for (uint32_t i = 1; i <= flame_tree_n_frames(t); i++) {
		const char *name = flame_tree_string(t, flame_tree_frame(t, i)->name, NULL);

		n_found +=
			!strcmp(name, "run (api/views.py)") || !strcmp(name, "run (jobs/views.py)");
	}
	assert_int_equal(n_found, 2);
	flame_tree_free(t);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_one_name_say_their_files),
		cmocka_unit_test(files_that_end_alike_say_more_of_their_paths),
		cmocka_unit_test(others_go_by_their_names),
		cmocka_unit_test(a_name_without_room_for_a_file_is_a_name),
		cmocka_unit_test(a_flame_graph_has_them_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
