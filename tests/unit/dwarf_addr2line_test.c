// SPDX-License-Identifier: Apache-2.0
/* Our DWARF reader against three others, over every address of programs compiled here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/compiled.h"

/* Appends "name file:line;" to text. Discriminators, columns and "inlined at" are left out. */
static void add_frame(char **text, const char *name, const char *file, unsigned int line)
{
	char *old = *text;
	const char *cut = strstr(name, " inlined at ");

	assert_true(asprintf(text, "%s%.*s %s:%u;", old ? old : "",
			     (int)(cut ? (size_t)(cut - name) : strlen(name)), name,
			     *file ? file : "??", line) > 0);
	free(old);
}

/* "FILE:LINE", maybe with ":COLUMN" or " (discriminator N)" behind it. */
static void add_printed(char **text, const char *name, char *place)
{
	char *colon = strstr(place, ".cpp:");

	colon = colon ? colon + 4 : strchr(place, ':');
	assert_non_null(colon);
	*colon = 0;
	add_frame(text, name, place, (unsigned int)strtoul(colon + 1, NULL, 10));
}

/* What a program like addr2line says of each address; texts[i] is of the i-th one. */
static void ask_oracle(struct compiled *c, const char *program, const char *file, char **texts)
{
	char command[256], name[4096], place[4096];
	size_t i = 0;
	FILE *f;

	snprintf(command, sizeof(command), "cd %s && %s -a -i -f -e %s <addresses 2>/dev/null",
		 c->dir, program, file);
	f = popen(command, "r");
	while (fgets(name, sizeof(name), f)) {
		name[strcspn(name, "\n")] = 0;
		if (!strncmp(name, "0x", 2)) {
			i++;
		} else if (fgets(place, sizeof(place), f)) {
			place[strcspn(place, "\n")] = 0;
			add_printed(&texts[i - 1], name, place);
		}
	}
	pclose(f);
}

#define MAX_COMPARED 100000

/*
 * Compares every address in a function that has a line, with three oracles, of which one has to
 * agree: GNU addr2line takes the symbol's name for some artificial functions and misses inlined
 * calls in clang's range lists, elfutils' goes astray in a few nested scopes and finds nothing
 * without .debug_aranges, LLVM's takes the symbol's name for clones.
 */
static void compare_with_addr2line(struct compiled *c, const char *name)
{
	struct object *o = compiled_open(c, name);
	char **ours = calloc(MAX_COMPARED, sizeof(char *)),
	     **gnu = calloc(MAX_COMPARED, sizeof(char *));
	char **elfutils = calloc(MAX_COMPARED, sizeof(char *)),
	     **llvm = calloc(MAX_COMPARED, sizeof(char *));
	char path[128];
	size_t n = 0, n_bad = 0, n_segments;
	const struct segment *s = object_segments(o, &n_segments);
	FILE *in;

	snprintf(path, sizeof(path), "%s/addresses", c->dir);
	in = fopen(path, "w");
	for (uint64_t vaddr = s->vaddr; vaddr < s->vaddr + s->memsz && n < MAX_COMPARED; vaddr++) {
		size_t n_lines = compiled_lookup(c, o, vaddr);

		if (!n_lines || !compiled_function(c, 0)->filename)
			continue;
		for (size_t i = 0; i < n_lines; i++)
			add_frame(&ours[n],
				  profile_get_string(c->profile,
						     compiled_function(c, i)->system_name),
				  profile_get_string(c->profile, compiled_function(c, i)->filename),
				  c->lines[i].line);
		fprintf(in, "0x%lx\n", (unsigned long)vaddr);
		n++;
	}
	fclose(in);
	ask_oracle(c, "addr2line", name, gnu);
	ask_oracle(c, "eu-addr2line", name, elfutils);
	ask_oracle(c, "llvm-symbolizer --output-style=GNU --no-demangle", name, llvm);
	for (size_t i = 0; i < n; i++) {
		bool is_same = (gnu[i] && !strcmp(gnu[i], ours[i])) ||
			       (llvm[i] && !strcmp(llvm[i], ours[i])) ||
			       (elfutils[i] && !strcmp(elfutils[i], ours[i]));

		if (!is_same && !n_bad++)
			print_message("# ours %s\n# gnu %s\n# elfutils %s\n# llvm %s\n", ours[i],
				      gnu[i], elfutils[i], llvm[i]);
		free(ours[i]), free(gnu[i]), free(elfutils[i]), free(llvm[i]);
	}
	free(ours), free(gnu), free(elfutils), free(llvm);
	print_message("# %zu addresses compared with addr2line, %zu differ\n", n, n_bad);
	assert_true(n > 1000);
	assert_int_equal(n_bad, 0);
}

static void all_addresses_agree_with_addr2line(void **state)
{
	static const char source[] =
		"#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
		"std::map<std::string, std::vector<int>> table;\n"
		"int fill(int n) { for (int i = 0; i < n; i++) table[std::to_string(i % "
		"7)].push_back(i); "
		"int s = 0; for (auto &e : table) { std::sort(e.second.begin(), e.second.end()); s "
		"+= e.second[0]; } return s; }\n"
		"int main(int argc, char **argv) { return fill(argc * 100) & 1; }\n";
	static const char *const commands[] = {
		"g++ -O2 -g -gdwarf-5 -o a.so a.cpp",
		"g++ -O2 -g -gdwarf-4 -gz=zlib -o a.so a.cpp",
		"llvm-symbolizer --version && clang++ -O2 -g -gdwarf-5 -o a.so a.cpp",
	};
	struct compiled *c = *state;

	compiled_source(c, "a.cpp", source);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (compiled_run(c, commands[i]))
			compare_with_addr2line(c, "a.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_addresses_agree_with_addr2line, compiled_setup,
						compiled_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
