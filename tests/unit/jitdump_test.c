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
#include <unistd.h>

#include "core/scoped.h"
#include "symbolizer/jit_symbols.h"
#include "symbolizer/jitdump.h"
#include "symbolizer/perf_map.h"
#include "tests/unit/mutation.h"

SCOPED_DEFINE(struct jit_symbols, jit_symbols_free)

/* A dump is put together field by field, as the specification lists them. */
struct bytes {
	uint8_t data[2048];
	size_t len;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void put_u32(struct bytes *b, uint32_t n)
{
	put(b, &n, sizeof(n));
}

static void put_u64(struct bytes *b, uint64_t n)
{
	put(b, &n, sizeof(n));
}

static void put_header(struct bytes *b, uint64_t flags)
{
	put_u32(b, 0x4a695444);
	put_u32(b, 1);
	put_u32(b, 40);
	put_u32(b, 62);
	put_u32(b, 0);
	put_u32(b, 4711);
	put_u64(b, 1000);
	put_u64(b, flags);
}

static void put_record(struct bytes *b, uint32_t id, uint64_t time_ns, const struct bytes *body)
{
	put_u32(b, id);
	put_u32(b, (uint32_t)(16 + body->len));
	put_u64(b, time_ns);
	put(b, body->data, body->len);
}

static void put_load(struct bytes *b, uint64_t time_ns, uint64_t addr, uint64_t size,
		     const char *name)
{
	struct bytes body = { .len = 0 };

	put_u32(&body, 4711);
	put_u32(&body, 4712);
	put_u64(&body, addr);
	put_u64(&body, addr);
	put_u64(&body, size);
	put_u64(&body, 1);
	put(&body, name, strlen(name) + 1);
	put(&body, "\x90\x90\xc3", 3);
	put_record(b, 0, time_ns, &body);
}

static void put_move(struct bytes *b, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size)
{
	struct bytes body = { .len = 0 };

	put_u32(&body, 4711);
	put_u32(&body, 4712);
	put_u64(&body, to);
	put_u64(&body, from);
	put_u64(&body, to);
	put_u64(&body, size);
	put_u64(&body, 1);
	put_record(b, 1, time_ns, &body);
}

static void put_lines(struct bytes *b, uint64_t addr)
{
	static const struct {
		uint32_t offset, line;
		const char *file;
	} lines[] = {
		{ 0, 10, "a.js" },
		{ 8, 11, "\xff" },
		{ 4, 20, "b.js" },
	};
	struct bytes body = { .len = 0 };

	put_u64(&body, addr);
	put_u64(&body, 3);
	for (size_t i = 0; i < 3; i++) {
		put_u64(&body, addr + lines[i].offset);
		put_u32(&body, lines[i].line);
		put_u32(&body, 0);
		put(&body, lines[i].file, strlen(lines[i].file) + 1);
	}
	put_record(b, 2, 0, &body);
}

static struct bytes good_dump(void)
{
	struct bytes b = { .len = 0 };
	struct bytes unwinding = { .len = 24 }, nothing = { .len = 0 };

	put_header(&b, 0);
	put_lines(&b, 0x1000);
	put_load(&b, 2000, 0x1000, 0x100, "with lines");
	put_record(&b, 4, 2500, &unwinding);
	put_load(&b, 3000, 0x2000, 0x100, "plain");
	put_move(&b, 4000, 0x1000, 0x5000, 0x100);
	put_load(&b, 5000, 0x1000, 0x80, "reused");
	put_record(&b, 3, 6000, &nothing);
	return b;
}

static const char *at(struct jit_symbols *s, uint64_t addr, uint64_t time_ns)
{
	const char *name = jit_symbols_find(s, addr, time_ns, NULL, NULL);

	return name ? name : "";
}

static void loads_moves_and_lines_are_read(void **state)
{
	SCOPED(jit_symbols_free) struct jit_symbols *s = jit_symbols_new(NULL);
	struct bytes b = good_dump();
	struct jitdump d = { 0 };
	const char *file = NULL;

	(void)state;
	assert_int_equal(jitdump_read(&d, b.data, b.len, s), 0);
	assert_true(d.is_closed);
	assert_string_equal(at(s, 0x1000, 2000), "with lines");
	assert_string_equal(at(s, 0x1000, 4999), "with lines");
	assert_string_equal(at(s, 0x1000, 5000), "reused");
	assert_string_equal(at(s, 0x1000, 0), "with lines");
	assert_string_equal(at(s, 0x10ff, 9000), "with lines");
	assert_string_equal(at(s, 0x50ff, 9000), "with lines");
	assert_string_equal(at(s, 0x20ff, 9000), "plain");
	assert_string_equal(at(s, 0x2100, 9000), "");
	/* The lines went with the code. */
	assert_int_equal(jit_symbols_line(s, 0x5000, &file), 10);
	assert_string_equal(file, "a.js");
	assert_int_equal(jit_symbols_line(s, 0x5005, &file), 20);
	assert_string_equal(file, "b.js");
	assert_int_equal(jit_symbols_line(s, 0x5008, &file), 11);
	assert_string_equal(file, "a.js");
	assert_int_equal(jit_symbols_line(s, 0x2000, &file), 0);
	assert_int_equal(jit_symbols_line(s, 0x1000, &file), 0);
}

static void a_growing_dump_is_read_record_by_record(void **state)
{
	SCOPED(jit_symbols_free) struct jit_symbols *s = jit_symbols_new(NULL);
	struct bytes b = good_dump();
	struct jitdump d = { 0 };

	(void)state;
	for (size_t len = 0; len <= b.len; len++)
		assert_int_equal(jitdump_read(&d, b.data, len, s), 0);
	assert_int_equal(jit_symbols_count(s), 4);
	assert_string_equal(at(s, 0x5000, 9000), "with lines");
}

static void times_of_the_cpu_are_not_taken_for_times(void **state)
{
	SCOPED(jit_symbols_free) struct jit_symbols *s = jit_symbols_new(NULL);
	struct bytes b = { .len = 0 };
	struct jitdump d = { 0 };

	(void)state;
	put_header(&b, 1);
	put_load(&b, UINT64_MAX - 1, 0x1000, 0x100, "a");
	put_load(&b, UINT64_MAX, 0x1000, 0x100, "b");
	assert_int_equal(jitdump_read(&d, b.data, b.len, s), 0);
	assert_string_equal(at(s, 0x1000, 5), "b");
}

static void what_is_no_dump_is_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
		int err;
	} cases[] = {
		{ 0, 'x', -EBADMSG },
		{ 4, 2, -ENOTSUP },
		{ 8, 39, -EBADMSG },
		{ 40 + 4, 15, -EBADMSG },
	};
	struct jitdump d;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		SCOPED(jit_symbols_free) struct jit_symbols *s = jit_symbols_new(NULL);
		struct bytes b = good_dump();

		d = (struct jitdump){ 0 };
		b.data[cases[i].at] = cases[i].byte;
		assert_int_equal(jitdump_read(&d, b.data, b.len, s), cases[i].err);
		assert_int_equal(jit_symbols_count(s), 0);
	}
}

static void a_dump_file_follows_the_rules_of_the_map(void **state)
{
	char root[] = "/tmp/jitdump_test.XXXXXX", path[64], command[64];
	struct bytes b = good_dump();
	struct perf_map *m;
	const char *file;
	int root_fd, fd;

	(void)state;
	assert_non_null(mkdtemp(root));
	root_fd = open(root, O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/jit-1.dump", root);
	m = perf_map_new(root_fd, 1, getuid(), NULL);
	assert_int_equal(perf_map_add_jitdump(m, "/jit-1.dump"), 0);
	assert_int_equal(perf_map_refresh(m), -ENOENT);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(perf_map_refresh(m), -ELOOP);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, b.data, b.len), b.len);
	close(fd);
	assert_int_equal(perf_map_refresh(m), 0);
	assert_int_equal(perf_map_refresh(m), 0);
	assert_string_equal(perf_map_find_at(m, 0x1000, 3000, NULL, NULL), "with lines");
	assert_string_equal(perf_map_find_at(m, 0x1000, UINT64_MAX, NULL, NULL), "reused");
	assert_int_equal(perf_map_line(m, 0x5000, &file), 10);
	perf_map_free(m);
	close(root_fd);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static void read_damaged(const uint8_t *data, size_t len)
{
	SCOPED(jit_symbols_free) struct jit_symbols *s = jit_symbols_new(NULL);
	struct jitdump d = { 0 };
	const char *file;

	jitdump_read(&d, data, len, s);
	jit_symbols_find(s, 0x1000, 3000, NULL, NULL);
	jit_symbols_line(s, 0x5004, &file);
}

static void survives_mutation(void **state)
{
	struct bytes b = good_dump();

	(void)state;
	mutate(b.data, b.len, read_damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_moves_and_lines_are_read),
		cmocka_unit_test(a_growing_dump_is_read_record_by_record),
		cmocka_unit_test(times_of_the_cpu_are_not_taken_for_times),
		cmocka_unit_test(what_is_no_dump_is_refused),
		cmocka_unit_test(a_dump_file_follows_the_rules_of_the_map),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
