// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/scoped.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/perf_map_line.h"

#define PID 4711

/* A root of its own with a /tmp in it. */
struct test {
	char root[64], map[192];
	int root_fd;
	struct perf_map *m;
};

static int setup(void **state)
{
	struct test *t = calloc(1, sizeof(*t));
	char tmp[128];

	strcpy(t->root, "/tmp/perf_map_test.XXXXXX");
	assert_non_null(mkdtemp(t->root));
	snprintf(tmp, sizeof(tmp), "%s/tmp", t->root);
	assert_int_equal(mkdir(tmp, 0755), 0);
	snprintf(t->map, sizeof(t->map), "%s/perf-%d.map", tmp, PID);
	t->root_fd = open(t->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	t->m = perf_map_new(t->root_fd, PID, getuid(), NULL);
	assert_non_null(t->m);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct test *t = *state;
	char command[128];

	perf_map_free(t->m);
	close(t->root_fd);
	snprintf(command, sizeof(command), "rm -rf %s", t->root);
	assert_int_equal(system(command), 0);
	free(t);
	return 0;
}

static void put(struct test *t, const char *mode, const char *text)
{
	SCOPED(fclose) FILE *f = fopen(t->map, mode);

	assert_non_null(f);
	fputs(text, f);
}

static void expect(struct test *t, uint64_t addr, const char *name)
{
	const char *found = perf_map_find_at(t->m, addr, UINT64_MAX, NULL, NULL);

	if (!name)
		assert_null(found);
	else
		assert_string_equal(found, name);
}

static void lines_are_read_as_they_are_appended(void **state)
{
	struct test *t = *state;
	uint64_t start, size;

	assert_int_equal(perf_map_refresh(t->m), -ENOENT);
	put(t, "w", "1000 100 first\n2000 10 with blanks in it\nthis is no line\n30");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1000, "first");
	expect(t, 0x10ff, "first");
	expect(t, 0x1100, NULL);
	expect(t, 0x200f, "with blanks in it");
	expect(t, 0x3000, NULL);
	put(t, "a", "00 20 third\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	assert_string_equal(perf_map_find_at(t->m, 0x3001, UINT64_MAX, &start, &size), "third");
	assert_int_equal(start, 0x3000);
	assert_int_equal(size, 0x20);
	assert_true(perf_map_memory(t->m) > 0);
}

static void later_entries_win(void **state)
{
	struct test *t = *state;

	put(t, "w", "1000 100 old\n1080 10 inside\n10f0 100 across\n500 1000 around\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1000, "around");
	expect(t, 0x1085, "around");
	expect(t, 0x4ff, NULL);
	put(t, "a", "1080 10 again\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1085, "again");
	expect(t, 0x1090, "around");
}

static void a_map_written_anew_is_read_from_its_beginning(void **state)
{
	struct test *t = *state;

	put(t, "w", "1000 100 one\n2000 100 two\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	/* Shorter, longer, and of the same length. */
	put(t, "w", "1000 100 three\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1000, "three");
	put(t, "w", "1000 100 four\n2000 100 five\n3000 100 six\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1000, "four");
	expect(t, 0x2000, "five");
	put(t, "w", "1000 100 FOUR\n2000 100 FIVE\n3000 100 SIX\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1000, "FOUR");
	/* What is not in it any more may still be in samples. */
	unlink(t->map);
	put(t, "w", "1000 100 seven\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	expect(t, 0x1000, "seven");
	expect(t, 0x3000, "SIX");
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void an_older_sample_keeps_the_older_name(void **state)
{
	struct test *t = *state;
	uint64_t before, between;

	before = now_ns();
	put(t, "w", "1000 100 old\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	between = now_ns();
	put(t, "a", "1000 100 new\n");
	assert_int_equal(perf_map_refresh(t->m), 0);
	assert_string_equal(perf_map_find_at(t->m, 0x1000, before, NULL, NULL), "old");
	assert_string_equal(perf_map_find_at(t->m, 0x1000, between, NULL, NULL), "new");
	assert_string_equal(perf_map_find_at(t->m, 0x1000, UINT64_MAX, NULL, NULL), "new");
}

static void make_link(const char *path)
{
	assert_int_equal(symlink("/etc/passwd", path), 0);
}

static void make_link_in_root(const char *path)
{
	assert_int_equal(symlink("perf-1.map", path), 0);
}

static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_socket(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	SCOPED(close) int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path);
	assert_int_equal(bind(fd, (void *)&addr, sizeof(addr)), 0);
}

static void make_huge(const char *path)
{
	SCOPED(close) int fd = open(path, O_CREAT | O_RDWR, 0600);

	assert_int_equal(ftruncate(fd, INT64_C(10) << 30), 0);
}

static void make_hard_link(const char *path)
{
	char other[256];
	SCOPED(close) int fd = open(path, O_CREAT | O_RDWR, 0600);

	assert_int_equal(write(fd, "1 1 a\n", 6), 6);
	snprintf(other, sizeof(other), "%s.other", path);
	assert_int_equal(link(path, other), 0);
}

static void make_foreign(const char *path)
{
	SCOPED(close) int fd = open(path, O_CREAT | O_RDWR, 0666);

	assert_int_equal(write(fd, "1 1 a\n", 6), 6);
	assert_int_equal(fchown(fd, 12345, 12345), 0);
}

static void unsafe_files_are_refused(void **state)
{
	static const struct {
		void (*make)(const char *path);
		int err;
		bool needs_root;
	} cases[] = {
		{ make_link, -ELOOP, false },	   { make_link_in_root, -ELOOP, false },
		{ make_fifo, -EINVAL, false },	   { make_directory, -EINVAL, false },
		{ make_socket, -EINVAL, false },   { make_huge, -E2BIG, false },
		{ make_hard_link, -EPERM, false }, { make_foreign, -EPERM, true },
	};
	struct test *t = *state;
	char command[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].needs_root && getuid())
			continue;
		cases[i].make(t->map);
		assert_int_equal(perf_map_refresh(t->m), cases[i].err);
		expect(t, 1, NULL);
		snprintf(command, sizeof(command), "rm -rf %s*", t->map);
		assert_int_equal(system(command), 0);
	}
	/* Root's own files are trusted for everybody. */
	if (!getuid()) {
		perf_map_free(t->m);
		t->m = perf_map_new(t->root_fd, PID, 12345, NULL);
		put(t, "w", "1 1 of root\n");
		assert_int_equal(perf_map_refresh(t->m), 0);
		make_foreign(t->map);
		assert_int_equal(perf_map_refresh(t->m), 0);
	}
}

static void a_link_for_tmp_stays_inside_the_root(void **state)
{
	struct test *t = *state;
	char tmp[128];

	snprintf(tmp, sizeof(tmp), "%s/tmp", t->root);
	assert_int_equal(rmdir(tmp), 0);
	assert_int_equal(symlink("/tmp", tmp), 0); /* of the root itself: a loop */
	assert_int_equal(perf_map_refresh(t->m), -ELOOP);
	assert_int_equal(unlink(tmp), 0);
	assert_int_equal(symlink("../../../../../../tmp", tmp), 0);
	assert_int_equal(perf_map_refresh(t->m), -ELOOP);
}

static void a_million_overlaps_cost_little(void **state)
{
	struct test *t = *state;
	FILE *f = fopen(t->map, "w");

	for (int i = 0; i < 1100000; i++)
		fprintf(f, "%x ffff f%d\n", i, i);
	fclose(f);
	assert_int_equal(perf_map_refresh(t->m), -E2BIG);
	for (uint64_t addr = 0; addr < 1000; addr++)
		assert_non_null(perf_map_find_at(t->m, addr * 1000, UINT64_MAX, NULL, NULL));
}

/* Lines first to last - 1, each of 16 bytes of code; the addresses repeat after `wrap` lines. */
static void write_lines(const char *path, int first, int last, int wrap, int name_len)
{
	FILE *f = fopen(path, first ? "a" : "w");

	for (int i = first; i < last; i++)
		fprintf(f, "%x 10 LazyCompile:~f%0*d file.js:%d\n", i % wrap * 16, name_len, i, i);
	fclose(f);
}

static const char *name_at(const struct test *t, int slot)
{
	return perf_map_find_at(t->m, (uint64_t)slot * 16, UINT64_MAX, NULL, NULL);
}

static void use_room(struct test *t, struct jit_room *room)
{
	perf_map_free(t->m);
	t->m = perf_map_new(t->root_fd, PID, getuid(), room);
}

static void the_oldest_names_are_forgotten_over_the_share(void **state)
{
	struct jit_room room = { .max = 1 << 20, .max_each = 256 << 10 };
	const int n = 20000, wrap = 15000;
	struct test *t = *state;
	char newest[64];
	int n_named = 0;

	use_room(t, &room);
	write_lines(t->map, 0, n, wrap, 6);
	assert_int_equal(perf_map_refresh(t->m), 0);
	assert_in_range(perf_map_memory(t->m), room.max_each / 4, room.max_each * 5 / 4);
	assert_in_range(perf_map_memory(t->m) - room.used, 1, 4096); /* its own struct */
	assert_int_equal(room.n_forgotten + perf_map_count(t->m), n);
	assert_in_range(perf_map_count(t->m), 1000, n / 2);
	for (int slot = 0; slot < wrap; slot++) {
		const char *name = name_at(t, slot);

		/* None, or the newest one there: never that of code that was replaced. */
		snprintf(newest, sizeof(newest), "f%06d ", slot + wrap < n ? slot + wrap : slot);
		n_named += name != NULL;
		if (name)
			assert_non_null(strstr(name, newest));
	}
	assert_int_equal(n_named, perf_map_count(t->m));
	assert_non_null(name_at(t, (n - 1) % wrap));
	use_room(t, NULL);
	assert_int_equal(room.used, 0);
}

static void one_hostile_map_leaves_room_for_others(void **state)
{
	/* As of a budget of 48 MiB. */
	struct jit_room room = { .max = 12 << 20, .max_each = 6 << 20 };
	struct test *t = *state;
	struct perf_map *hostile;

	use_room(t, &room);
	hostile = t->m;
	write_lines(t->map, 0, 300000, 300000, 100);
	assert_int_equal(perf_map_refresh(hostile), 0);
	assert_in_range(room.used, 0, room.max_each * 5 / 4);
	assert_in_range(room.n_forgotten, 200000, 299999);
	/* A large honest one: 30,000 names in 3 MB. */
	room.n_forgotten = 0;
	t->m = perf_map_new(t->root_fd, PID, getuid(), &room);
	write_lines(t->map, 0, 30000, 30000, 60);
	assert_int_equal(perf_map_refresh(t->m), 0);
	assert_int_equal(room.n_forgotten, 0);
	for (int slot = 0; slot < 30000; slot++)
		assert_non_null(name_at(t, slot));
	perf_map_free(hostile);
}

static void hostile_maps_that_fill_the_room_give_an_honest_one_its_part(void **state)
{
	enum { N_HOSTILE = 3 }; /* two fill it; the third had its part already when we come */
	struct jit_room room = { .max = 12 << 20, .max_each = 6 << 20 };
	struct test *t = *state;
	struct perf_map *hostile[N_HOSTILE];

	use_room(t, &room);
	hostile[0] = t->m;
	for (int i = 1; i < N_HOSTILE; i++)
		hostile[i] = perf_map_new(t->root_fd, PID, getuid(), &room);
	write_lines(t->map, 0, 300000, 300000, 100);
	for (int i = 0; i < N_HOSTILE; i++)
		assert_int_equal(perf_map_refresh(hostile[i]), 0);
	assert_in_range(room.used, room.max / 2, room.max);
	/* 10,000 names in 1 MB, and they come back when the hostile ones go on. */
	t->m = perf_map_new(t->root_fd, PID, getuid(), &room);
	write_lines(t->map, 0, 10000, 10000, 60);
	assert_int_equal(perf_map_refresh(t->m), 0);
	write_lines(t->map, 0, 300000, 300000, 101);
	for (int i = 0; i < N_HOSTILE; i++)
		assert_int_equal(perf_map_refresh(hostile[i]), 0);
	assert_in_range(room.used, room.max / 2, room.max);
	for (int slot = 0; slot < 10000; slot++)
		assert_non_null(name_at(t, slot));
	for (int i = 0; i < N_HOSTILE; i++) {
		/* Nobody is left with less than an equal part, nearly; what was forgotten is old.
		 */
		assert_in_range(perf_map_memory(hostile[i]), room.max / 4 / 2, room.max_each);
		assert_non_null(perf_map_find_at(hostile[i], 299999 * 16, UINT64_MAX, NULL, NULL));
		perf_map_free(hostile[i]);
	}
	assert_in_range(perf_map_memory(t->m) - room.used, 1, 4096); /* its own struct */
}

static void without_any_room_names_are_counted(void **state)
{
	struct jit_room room = { .max = 1 << 20, .max_each = 1 << 20, .used = 1 << 20 };
	struct test *t = *state;

	use_room(t, &room);
	write_lines(t->map, 0, 100, 100, 6);
	assert_int_equal(perf_map_refresh(t->m), 0);
	assert_int_equal(room.n_forgotten, 100);
	assert_int_equal(perf_map_count(t->m), 0);
	assert_null(name_at(t, 50));
}

static void lines_are_parsed(void **state)
{
	static const struct {
		const char *line;
		uint64_t start, size;
		const char *name;
	} cases[] = {
		{ "7f00 10 f", 0x7f00, 0x10, "f" },
		{ "0x7f00 0x10 f", 0x7f00, 0x10, "f" },
		{ "7F00 1A Lazy:~f x.js:1:2", 0x7f00, 0x1a, "Lazy:~f x.js:1:2" },
		{ "ffffffffffffffff 1 f\r", UINT64_MAX, 1, "f" },
		{ "1ffffffffffffffff 1 f", 0, 0, NULL },
		{ "1 0 f", 0, 0, NULL },
		{ "1 1 ", 0, 0, NULL },
		{ "1 1", 0, 0, NULL },
		{ "1", 0, 0, NULL },
		{ "", 0, 0, NULL },
		{ "x 1 f", 0, 0, NULL },
		{ "-1 1 f", 0, 0, NULL },
		{ "0x 1 f", 0, 0, NULL },
		{ "1\t1 f", 0, 0, NULL },
		{ "1 1 \r", 0, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_map_line l;
		/* Not terminated: a read behind the end is seen by the sanitizer. */
		size_t len = strlen(cases[i].line);
		SCOPED(free) char *line = malloc(len ? len : 1);

		memcpy(line, cases[i].line, len);
		assert_int_equal(perf_map_line_parse(line, len, &l), cases[i].name != NULL);
		if (!cases[i].name)
			continue;
		assert_int_equal(l.start, cases[i].start);
		assert_int_equal(l.size, cases[i].size);
		assert_int_equal(l.name_len, strlen(cases[i].name));
		assert_memory_equal(l.name, cases[i].name, l.name_len);
	}
}

static void survives_mutation(void **state)
{
	static const char good[] = "0x7f00 1A Lazy:~f x.js:1:2\r";
	struct perf_map_line l;

	(void)state;
	for (size_t len = 0; len < sizeof(good); len++) {
		for (size_t bit = 0; bit < 8 * len; bit++) {
			SCOPED(free) char *line = malloc(len);

			memcpy(line, good, len);
			line[bit / 8] ^= (char)(1 << bit % 8);
			perf_map_line_parse(line, len, &l);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_are_read_as_they_are_appended, setup,
						teardown),
		cmocka_unit_test_setup_teardown(later_entries_win, setup, teardown),
		cmocka_unit_test_setup_teardown(a_map_written_anew_is_read_from_its_beginning,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_older_sample_keeps_the_older_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(unsafe_files_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_for_tmp_stays_inside_the_root, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_million_overlaps_cost_little, setup, teardown),
		cmocka_unit_test_setup_teardown(the_oldest_names_are_forgotten_over_the_share,
						setup, teardown),
		cmocka_unit_test_setup_teardown(one_hostile_map_leaves_room_for_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			hostile_maps_that_fill_the_room_give_an_honest_one_its_part, setup,
			teardown),
		cmocka_unit_test_setup_teardown(without_any_room_names_are_counted, setup,
						teardown),
		cmocka_unit_test(lines_are_parsed),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
