// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/python_path.h"

static void packages_and_the_standard_library_are_known_folders(void **state)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "/srv/venv/lib/python3.12/site-packages/uvicorn/main.py", "uvicorn/main.py" },
		{ "/usr/lib/python3/dist-packages/yaml/reader.py", "yaml/reader.py" },
		{ "/a/site-packages/pip/_vendor/b/site-packages/c.py", "c.py" },
		{ "/usr/lib/python3.11/asyncio/runners.py", "asyncio/runners.py" },
		{ "/opt/py/lib64/python3.13t/queue.py", "queue.py" },
		{ "/srv/app.py", "/srv/app.py" },
		{ "/opt/python3.12/app.py", "/opt/python3.12/app.py" },
		{ "/srv/lib/pythonic/app.py", "/srv/lib/pythonic/app.py" },
		{ "/srv/lib/python/app.py", "/srv/lib/python/app.py" },
		{ "/srv/lib/python3.12", "/srv/lib/python3.12" },
		{ "/srv/lib/python3.12/", "/srv/lib/python3.12/" },
		{ "/srv/site-packages/", "/srv/site-packages/" },
		{ "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(python_path_short(cases[i].path), cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packages_and_the_standard_library_are_known_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
