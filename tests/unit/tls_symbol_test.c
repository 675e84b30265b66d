// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "symbolizer/elf_file.h"
#include "symbolizer/tls_symbol.h"
#include "tests/unit/compiled.h"
#include "tests/unit/mutation.h"

static const char library[] = "extern __thread long other;\n"
			      "__thread char before[24];\n"
			      "__thread long wanted;\n"
			      "long *where(void) { return &wanted; }\n"
			      "long *there(void) { return &other; }\n";
/* The linker gives a program's variables room from the most aligned one on. */
static const char program[] = "_Alignas(64) __thread char before[64];\n"
			      "__thread long wanted = 7;\n"
			      "__thread char behind[8];\n"
			      "int main(void) { return before[0] + behind[0]; }\n";

/* The file that a command makes; to be freed. NULL: there is no such compiler. */
static uint8_t *make(struct compiled *c, const char *command, size_t *len)
{
	char path[128];
	struct stat st;
	uint8_t *bytes;
	FILE *f;

	if (!compiled_run(c, command))
		return NULL;
	snprintf(path, sizeof(path), "%s/out", c->dir);
	assert_int_equal(stat(path, &st), 0);
	*len = (size_t)st.st_size;
	bytes = malloc(*len);
	f = fopen(path, "r");
	assert_int_equal(fread(bytes, 1, *len, f), *len);
	fclose(f);
	return bytes;
}

static struct tls_symbol find(const uint8_t *bytes, size_t len, const char *name)
{
	struct tls_symbol found = { 0 };
	struct elf_file ef;

	if (!elf_file_init(&ef, bytes, len)) {
		found = tls_symbol_find(&ef, name);
		elf_file_deinit(&ef);
	}
	return found;
}

static void a_library_says_what_the_dynamic_linker_writes(void **state)
{
	static const struct {
		const char *command;
		enum tls_model model;
	} cases[] = {
		{ "cc -O2 -shared -fPIC -o out library.c", TLS_PAIR_AT },
		{ "cc -O2 -shared -fPIC -s -o out library.c", TLS_PAIR_AT },
		{ "cc -O2 -shared -fPIC -ftls-model=initial-exec -o out library.c", TLS_OFFSET_AT },
#ifdef __x86_64__
		{ "cc -O2 -shared -fPIC -mtls-dialect=gnu2 -o out library.c", TLS_DESCRIPTOR_AT },
#endif
	};
	struct compiled *c = *state;

	compiled_source(c, "library.c", library);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t len;
		SCOPED(free) uint8_t *bytes = make(c, cases[i].command, &len);
		struct tls_symbol found;

		if (!bytes)
			continue;
		found = find(bytes, len, "wanted");
		assert_int_equal(found.model, cases[i].model);
		assert_int_equal(found.got % 8, 0);
		assert_in_range(found.got, 0x1000, 0x100000);
		/* Another file's, one nobody refers to, no variable, and none at all. */
		assert_int_equal(find(bytes, len, "other").model, TLS_NONE);
		assert_int_equal(find(bytes, len, "before").model, TLS_NONE);
		assert_int_equal(find(bytes, len, "where").model, TLS_NONE);
		assert_int_equal(find(bytes, len, "wante").model, TLS_NONE);
	}
}

static void a_program_has_its_variables_at_the_thread_pointer(void **state)
{
	static const char *const commands[] = {
		"cc -O2 -rdynamic -o out program.c",
		"cc -O2 -rdynamic -no-pie -fno-pie -o out program.c",
	};
	struct compiled *c = *state;

	compiled_source(c, "program.c", program);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		size_t len;
		SCOPED(free) uint8_t *bytes = make(c, commands[i], &len);
		struct tls_symbol found;

		assert_non_null(bytes);
		found = find(bytes, len, "wanted");
		assert_int_equal(found.model, TLS_AT_OFFSET);
#ifdef __x86_64__
		assert_in_range(-found.offset, 64 + 8, 256);
#endif
		assert_int_equal(found.offset % 8, 0);
		free(bytes);
		/* Nobody outside of it could know. */
		bytes = make(c, "cc -O2 -o out program.c", &len);
		assert_int_equal(find(bytes, len, "wanted").model, TLS_NONE);
	}
}

static void parse(const uint8_t *bytes, size_t len)
{
	find(bytes, len, "wanted");
}

static void survives_mutation(void **state)
{
	struct compiled *c = *state;
	SCOPED(free) uint8_t *bytes = NULL;
	size_t len;

	compiled_source(c, "library.c", library);
	bytes = make(c,
		     "cc -O2 -shared -fPIC -s -nostdlib -Wl,-z,noseparate-code,-z,max-page-size=64 "
		     "-Wl,--build-id=none -o out library.c",
		     &len);
	assert_non_null(bytes);
	assert_int_equal(find(bytes, len, "wanted").model, TLS_PAIR_AT);
	assert_in_range(len, 0, 8192);
	mutate(bytes, len, parse);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, compiled_setup, compiled_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_library_says_what_the_dynamic_linker_writes),
		TEST(a_program_has_its_variables_at_the_thread_pointer),
		TEST(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
