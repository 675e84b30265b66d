// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

#include "core/filemap.h"
#include "symbolizer/debug_file.h"
#include "symbolizer/elf_file.h"
#include "tests/unit/compiled.h"

static const char source[] =
	"static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
	"int shown(int x) { return hidden(x) + 1; }\n";

/* Makes whole.so, its debug file a.debug and the stripped a.so that links to it; bin/a.so is asked.
 */
static bool build(struct compiled *c, const char *more)
{
	char command[700];

	compiled_source(c, "a.c", source);
	snprintf(command, sizeof(command),
		 "mkdir -p bin dirs && gcc -O1 -g -Wl,--build-id -fPIC -shared -nostdlib -o "
		 "whole.so a.c && "
		 "objcopy --only-keep-debug whole.so a.debug && "
		 "objcopy --strip-all --add-gnu-debuglink=a.debug whole.so bin/a.so && %s",
		 more);
	return compiled_run(c, command);
}

/* Is the private function found, and by which source? */
static void expect(struct compiled *c, const char *file, bool is_found, uint64_t n_refused)
{
	char dirs[128];
	const char *const list[] = { dirs, NULL };
	struct objects *os;
	struct object *whole, *o;
	const char *name;

	snprintf(dirs, sizeof(dirs), "%s/dirs", c->dir);
	os = objects_new(&(struct object_options){ .debug_dirs = list });
	whole = compiled_open_in(c, os, "whole.so");
	o = compiled_open_in(c, os, file);
	name = compiled_name(c, o, compiled_symbol(whole, "hidden"));
	assert_string_equal(name, is_found ? "hidden" : "");
	if (is_found) {
		assert_int_equal(strncmp(object_symbol_source(o), "debug file /", 12), 0);
		assert_int_equal(compiled_function(c, 0)->start_line, 1);
		assert_int_equal(c->lines[0].line, 1);
	} else {
		assert_string_equal(object_symbol_source(o), "dynsym");
	}
	assert_int_equal(objects_refused(os), n_refused);
	objects_free(os);
}

static void debug_files_are_found_where_they_may_be(void **state)
{
	static const struct {
		const char *move;
		bool is_found;
	} cases[] = {
		{ "mv a.debug bin/", true },
		{ "mkdir bin/.debug && mv a.debug bin/.debug/", true },
		{ "mkdir -p dirs/$PWD/bin && mv a.debug dirs/$PWD/bin/", true },
		{ "id=$(readelf -n bin/a.so | sed -n 's/.*Build ID: //p') && "
		  "mkdir -p dirs/.build-id/$(echo $id | cut -c1-2) && "
		  "mv a.debug dirs/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug",
		  true },
		{ "mv a.debug elsewhere.debug", false },
	};
	struct compiled *c = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!build(c, cases[i].move))
			skip();
		expect(c, "bin/a.so", cases[i].is_found, 0);
		assert_true(compiled_run(c, "rm -rf bin dirs"));
	}
}

static void wrong_debug_files_are_refused(void **state)
{
	static const char *const moves[] = {
		/* Another CRC, the same build id. */
		"cp a.debug bin/ && printf x >>bin/a.debug",
		/* Another build of the same source. */
		"gcc -O2 -g -DX -Wl,--build-id=sha1 -fPIC -shared -nostdlib -o other.so a.c && "
		"objcopy --only-keep-debug other.so bin/a.debug",
		"echo nonsense >bin/a.debug",
		"mkdir bin/a.debug",
		"mkfifo bin/a.debug",
		"truncate -s 10G bin/a.debug",
		/* The build id in the name is not the one in the file. */
		"id=$(readelf -n bin/a.so | sed -n 's/.*Build ID: //p') && "
		"mkdir -p dirs/.build-id/$(echo $id | cut -c1-2) && "
		"gcc -O2 -g -DX -Wl,--build-id=0x1234 -fPIC -shared -nostdlib -o other.so a.c && "
		"cp other.so dirs/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug",
	};
	struct compiled *c = *state;

	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
		if (!build(c, moves[i]))
			skip();
		expect(c, "bin/a.so", false, 1);
		assert_true(compiled_run(c, "rm -rf bin dirs"));
	}
}

/* A file that was not there, of such a name. */
static void make_file(char name[sizeof("/tmp/ab")])
{
	for (unsigned int i = 0; i < 26 * 26; i++) {
		int fd;

		snprintf(name, sizeof("/tmp/ab"), "/tmp/%c%c", 'a' + i / 26, 'a' + i % 26);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0)
			continue;
		close(fd);
		return;
	}
	fail_msg("no room in /tmp");
}

static void a_link_leads_nowhere_else(void **state)
{
	char absolute[sizeof("/tmp/ab")];
	/* As long as "a.debug": written over it. */
	const char *const names[] = { "../a.db", absolute, "bin/..a", "..\\0aaaa", ".\\0aaaaa" };
	struct compiled *c = *state;
	char more[512];

	make_file(absolute);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(
			more, sizeof(more),
			"cp a.debug a.db && objcopy --dump-section .gnu_debuglink=link bin/a.so && "
			"printf '%%b' '%s' | dd of=link conv=notrunc 2>/dev/null && "
			"objcopy --update-section .gnu_debuglink=link bin/a.so && cp a.debug %s",
			names[i], absolute);
		if (!build(c, more)) {
			unlink(absolute);
			skip();
		}
		expect(c, "bin/a.so", false, 1);
		assert_true(compiled_run(c, "rm -rf bin dirs"));
	}
	unlink(absolute);
}

/* Searches for the debug file of an image whose link, of len bytes, stands at its very end. */
static int find_by_link(const char *path, const uint8_t *image, size_t image_len, size_t section,
			const uint8_t *link, size_t len)
{
	static const char *const none[] = { NULL };
	const struct debug_search search = { .dirs = none, .root_fd = -1 };
	SCOPED(free) uint8_t *copy = malloc(image_len + len);
	struct debug_file found = { 0 };
	struct elf_file elf;
	Elf64_Shdr header;
	int err;

	memcpy(copy, image, image_len);
	memcpy(copy + image_len, link, len);
	memcpy(&header, copy + section, sizeof(header));
	header.sh_offset = image_len;
	header.sh_size = len;
	memcpy(copy + section, &header, sizeof(header));
	assert_int_equal(elf_file_init(&elf, copy, image_len + len), 0);
	err = debug_file_find(&search, &elf, path, &found);
	if (!err)
		debug_file_deinit(&found);
	elf_file_deinit(&elf);
	return err;
}

/* Where the header of the section with these bytes is in the image. */
static size_t section_of(const uint8_t *image, const uint8_t *link, size_t len)
{
	Elf64_Ehdr elf;
	Elf64_Shdr header;

	memcpy(&elf, image, sizeof(elf));
	for (size_t i = 1; i < elf.e_shnum; i++) {
		size_t at = elf.e_shoff + i * sizeof(header);

		memcpy(&header, image + at, sizeof(header));
		if (header.sh_size == len && !memcmp(image + header.sh_offset, link, len))
			return at;
	}
	fail();
	return 0;
}

static size_t read_all(struct compiled *c, const char *name, uint8_t *out, size_t size)
{
	char path[128];
	FILE *f;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	len = fread(out, 1, size, f);
	fclose(f);
	return len;
}

static void survives_mutation(void **state)
{
	static uint8_t image[1 << 16];
	struct compiled *c = *state;
	size_t image_len, len, section;
	uint8_t link[64];
	char path[128];

	if (sizeof(void *) != 8 ||
	    !build(c, "objcopy --dump-section .gnu_debuglink=link bin/a.so && mv a.debug bin/"))
		skip();
	snprintf(path, sizeof(path), "%s/bin/a.so", c->dir);
	image_len = read_all(c, "bin/a.so", image, sizeof(image));
	len = read_all(c, "link", link, sizeof(link));
	section = section_of(image, link, len);
	assert_int_equal(find_by_link(path, image, image_len, section, link, len), 0);
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(find_by_link(path, image, image_len, section, link, cut), -ENOENT);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		link[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(find_by_link(path, image, image_len, section, link, len), -ENOENT);
		link[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void another_root_is_searched_without_leaving_it(void **state)
{
	struct compiled *c = *state;
	char path[128], dirs[128];
	const char *const list[] = { "/dirs", NULL };
	struct objects *os = objects_new(&(struct object_options){ .debug_dirs = list });
	SCOPED(close) int root_fd = -1, inside = -1, outside = -1;
	struct object *whole, *o;
	int err = 0;

	if (!build(c, "mkdir -p root/usr/lib root/dirs/usr/lib && cp bin/a.so root/usr/lib/ && "
		      "printf x >>bin/a.so && cp bin/a.so root/usr/lib/b.so && mv a.debug "
		      "root/dirs/usr/lib/"))
		skip();
	whole = compiled_open_in(c, os, "whole.so");
	snprintf(path, sizeof(path), "%s/root", c->dir);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	inside = openat(root_fd, "usr/lib/a.so", O_RDONLY | O_CLOEXEC);
	o = objects_get(os, inside, "/usr/lib/a.so", root_fd, &err);
	assert_non_null(o);
	/* The root may be gone when names are asked for. */
	assert_string_equal(compiled_name(c, o, compiled_symbol(whole, "hidden")), "hidden");
	assert_string_equal(object_symbol_source(o), "debug file /dirs/usr/lib/a.debug");
	/* A link out of the root is followed inside of it only. */
	snprintf(dirs, sizeof(dirs), "mv root/dirs elsewhere && ln -s %s/elsewhere root/dirs",
		 c->dir);
	assert_true(compiled_run(c, dirs));
	outside = openat(root_fd, "usr/lib/b.so", O_RDONLY | O_CLOEXEC);
	o = objects_get(os, outside, "/usr/lib/b.so", root_fd, &err);
	assert_non_null(o);
	assert_string_equal(compiled_name(c, o, compiled_symbol(whole, "hidden")), "");
	objects_free(os);
}

static void dwz_files_complete_debug_files(void **state)
{
	static const char *const sources[] = { "a", "b" };
	struct compiled *c = *state;
	size_t n_found = 0;

	compiled_source(
		c, "shared.h",
		"struct shared { int x, y, z, first, second, third; struct shared *next, *before, "
		"*parent; };\n"
		"static inline __attribute__((always_inline)) int inlined_two(struct shared *s, "
		"int first, int second)\n"
		"{ struct shared *local = s->next; return local->x * first + local->y * second; }\n"
		"static inline __attribute__((always_inline)) int inlined_one(struct shared *s, "
		"int first, int second)\n"
		"{ struct shared *local = s->before; return inlined_two(local, first + 1, second) "
		"* 3; }\n");
	compiled_source(c, "a.c",
			"#include \"shared.h\"\nint call_a(struct shared *s) { return "
			"inlined_one(s, 3, 4) + 1; }\n");
	compiled_source(c, "b.c",
			"#include \"shared.h\"\nint call_b(struct shared *s) { return "
			"inlined_one(s, 5, 6) + 2; }\n");
	if (!compiled_run(c, "for i in a b; do gcc -O2 -g -gdwarf-4 -Wl,--build-id -fPIC -shared "
			     "-nostdlib -o $i.so $i.c || exit 1; done; "
			     "dwz -m common.dwz -M $PWD/common.dwz a.so b.so && readelf -SW "
			     "common.dwz | grep -q debug_info"))
		skip();
	for (size_t i = 0; i < 2; i++) {
		char file[8], name[8];
		struct object *o;
		uint64_t start, size;

		snprintf(file, sizeof(file), "%s.so", sources[i]);
		snprintf(name, sizeof(name), "call_%s", sources[i]);
		o = compiled_open(c, file);
		assert_true(object_symbol(o, name, &start, &size));
		for (uint64_t vaddr = start; vaddr < start + size; vaddr++) {
			size_t n = compiled_lookup(c, o, vaddr);

			assert_string_equal(
				profile_get_string(c->profile, compiled_function(c, n - 1)->name),
				name);
			n_found += n == 3 &&
				   !strcmp(profile_get_string(c->profile,
							      compiled_function(c, 0)->name),
					   "inlined_two") &&
				   compiled_function(c, 0)->start_line == 2 &&
				   c->lines[1].line == 5;
		}
	}
	assert_true(n_found > 0);
}

static void servers_are_asked_only_when_that_is_switched_on(void **state)
{
	static const char *const none[] = { NULL };
	struct compiled *c = *state;
	char url[128], cache[128];

	if (!build(c,
		   "id=$(readelf -n bin/a.so | sed -n 's/.*Build ID: //p') && "
		   "mkdir -p server/buildid/$id cache && mv a.debug server/buildid/$id/debuginfo"))
		skip();
	snprintf(url, sizeof(url), "file://%s/server/", c->dir);
	snprintf(cache, sizeof(cache), "%s/cache", c->dir);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	for (int is_on = 0; is_on < 2; is_on++) {
		struct objects *os = objects_new(
			&(struct object_options){ .debug_dirs = none, .debuginfod = is_on });
		struct object *whole = compiled_open_in(c, os, "whole.so");
		struct object *o = compiled_open_in(c, os, "bin/a.so");

		assert_string_equal(compiled_name(c, o, compiled_symbol(whole, "hidden")),
				    is_on ? "hidden" : "");
		objects_free(os);
	}
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_CACHE_PATH");
}

static void large_compressed_sections_are_no_memory_of_ours(void **state)
{
	static const struct {
		struct elf_room room;
		int err;
		bool is_on_disk;
	} cases[] = {
		{ { .memory = 0, .disk = 2 << 20 }, 0, true },
		{ { .memory = 2 << 20, .disk = 0 }, 0, false },
		{ { .memory = 999999, .disk = 999999 }, -E2BIG, false },
	};
	struct compiled *c = *state;
	char path[128];
	struct filemap *map;
	struct elf_file elf;
	int fd, err = 0;

	/* A tmpfs is memory: there the first case is refused, as it should be. */
	if (!build(c,
		   "test \"$(stat -f -c %T /var/tmp)\" != tmpfs && yes | head -c 1000000 >big && "
		   "objcopy --add-section .debug_big=big whole.so plain.so && "
		   "objcopy --compress-debug-sections=zlib plain.so big.so"))
		skip();
	unsetenv("TMPDIR");
	snprintf(path, sizeof(path), "%s/big.so", c->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = filemap_new(fd, &err);
	close(fd);
	assert_int_equal(elf_file_init(&elf, filemap_data(map), filemap_len(map)), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct elf_room room = cases[i].room;
		struct elf_bytes bytes = { 0 };

		assert_int_equal(elf_file_bytes(&elf, ".debug_big", &room, &bytes), cases[i].err);
		if (!cases[i].err) {
			assert_int_equal(bytes.is_on_disk, cases[i].is_on_disk);
			assert_int_equal(bytes.len, 1000000);
			assert_memory_equal((const char *)bytes.data + 999998, "y\n", 2);
			assert_int_equal(elf_bytes_memory(&bytes),
					 cases[i].is_on_disk ? 0 : 1000000);
			assert_int_equal(room.memory + room.disk, (2 << 20) - 1000000);
		}
		elf_bytes_deinit(&bytes, &room);
		assert_memory_equal(&room, &cases[i].room, sizeof(room));
	}
	elf_file_deinit(&elf);
	filemap_free(map);
}

/* Looks for a debug file by an object's link; the build id is not in it. */
static int find_summed(struct compiled *c, const char *name, struct debug_sums *sums,
		       uint64_t *refused)
{
	static const char *const none[] = { NULL };
	const struct debug_search search = {
		.dirs = none, .root_fd = -1, .refused = refused, .sums = sums
	};
	struct debug_file found = { 0 };
	struct filemap *map;
	struct elf_file elf;
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/bin/%s", c->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = filemap_new(fd, &err);
	close(fd);
	assert_non_null(map);
	assert_int_equal(elf_file_init(&elf, filemap_data(map), filemap_len(map)), 0);
	err = debug_file_find(&search, &elf, path, &found);
	debug_file_deinit(&found);
	elf_file_deinit(&elf);
	filemap_free(map);
	return err;
}

static void what_is_summed_up_for_crcs_is_bounded(void **state)
{
	struct debug_sums sums = { 0 };
	struct compiled *c = *state;
	uint64_t refused = 0, len;

	/* Two programs that name one debug file, and one with the wrong CRC of it. */
	if (!build(c, "cp bin/a.so bin/b.so && cp a.debug bin/ && "
		      "cp bin/a.debug bin/c.debug && printf x >>bin/c.debug && "
		      "objcopy --remove-section .gnu_debuglink bin/a.so bin/c.so && "
		      "objcopy --add-gnu-debuglink=bin/c.debug bin/c.so && printf y >>bin/c.debug"))
		skip();
	assert_int_equal(find_summed(c, "a.so", &sums, &refused), 0);
	len = sums.n_bytes;
	assert_in_range(len, 100, 1 << 20);
	assert_int_equal(find_summed(c, "b.so", &sums, &refused), 0);
	assert_int_equal(find_summed(c, "a.so", &sums, &refused), 0);
	assert_int_equal(sums.n_bytes, len);
	assert_int_equal(refused, 0);
	for (uint64_t i = 1; i < 4; i++) {
		assert_int_equal(find_summed(c, "c.so", &sums, &refused), -ENOENT);
		assert_int_equal(refused, i);
		assert_int_equal(sums.n_bytes, 2 * len + 2);
	}
	/* What was summed up before is known, nothing else is summed up any more. */
	sums.n_bytes = UINT64_C(2) << 30;
	assert_int_equal(find_summed(c, "a.so", &sums, &refused), 0);
	assert_int_equal(refused, 3);
	sums.n = 0;
	assert_int_equal(find_summed(c, "a.so", &sums, &refused), -ENOENT);
	assert_int_equal(refused, 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, compiled_setup, compiled_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(debug_files_are_found_where_they_may_be),
		TEST(wrong_debug_files_are_refused),
		TEST(a_link_leads_nowhere_else),
		TEST(survives_mutation),
		TEST(another_root_is_searched_without_leaving_it),
		TEST(dwz_files_complete_debug_files),
		TEST(large_compressed_sections_are_no_memory_of_ours),
		TEST(what_is_summed_up_for_crcs_is_bounded),
		TEST(servers_are_asked_only_when_that_is_switched_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
