// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "bpf/sideband.h"
#include "tests/unit/mutation.h"

#define TIME 0x1122334455667788

/* A record put together field by field. */
struct record {
	uint8_t bytes[256];
	size_t len;
};

static void put(struct record *r, const void *data, size_t len)
{
	memcpy(r->bytes + r->len, data, len);
	r->len += len;
}

static void put_u32(struct record *r, uint32_t value)
{
	put(r, &value, sizeof(value));
}

static void put_u64(struct record *r, uint64_t value)
{
	put(r, &value, sizeof(value));
}

/* Strings are padded with zeros to 8 bytes. */
static void put_string(struct record *r, const char *s)
{
	char padded[64] = "";

	memcpy(padded, s, strlen(s));
	put(r, padded, (strlen(s) + 8) / 8 * 8);
}

static struct record begin(uint32_t type, uint16_t misc)
{
	struct record r = { .len = 0 };

	put_u32(&r, type);
	put(&r, &misc, sizeof(misc));
	put(&r, &(uint16_t){ 0 }, 2);
	return r;
}

static void end(struct record *r)
{
	uint16_t size;

	put_u32(r, 4711);
	put_u32(r, 4712);
	put_u64(r, TIME);
	size = (uint16_t)r->len;
	memcpy(r->bytes + 6, &size, sizeof(size));
}

static struct record mmap_record(uint16_t misc, uint32_t protection)
{
	struct record r = begin(PERF_RECORD_MMAP2, misc);

	put_u32(&r, 11);
	put_u32(&r, 12);
	put_u64(&r, 0x400000);
	put_u64(&r, 0x2000);
	put_u64(&r, 0x1000);
	put_u32(&r, 8);
	put_u32(&r, 1);
	put_u64(&r, 12345);
	put_u64(&r, 77);
	put_u32(&r, protection);
	put_u32(&r, 2);
	put_string(&r, "/bin/true");
	end(&r);
	return r;
}

static int decode(const struct record *r, struct process_event *ev)
{
	uint64_t lost = 0;

	return sideband_decode(r->bytes, r->len, ev, &lost);
}

static void tasks_begin_and_end(void **state)
{
	static const struct {
		uint32_t record;
		enum process_event_type type;
	} cases[] = { { PERF_RECORD_FORK, PROCESS_FORK }, { PERF_RECORD_EXIT, PROCESS_EXIT } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct record r = begin(cases[i].record, 0);
		struct process_event ev;

		put_u32(&r, 20);
		put_u32(&r, 10);
		put_u32(&r, 21);
		put_u32(&r, 10);
		put_u64(&r, TIME - 1);
		end(&r);
		assert_int_equal(decode(&r, &ev), 0);
		assert_int_equal(ev.type, cases[i].type);
		assert_int_equal(ev.pid, 20);
		assert_int_equal(ev.parent, 10);
		assert_int_equal(ev.tid, 21);
		assert_int_equal(ev.time_ns, TIME);
	}
}

static void names_come_with_and_without_exec(void **state)
{
	(void)state;
	for (int is_exec = 0; is_exec < 2; is_exec++) {
		struct record r = begin(PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		struct process_event ev;

		put_u32(&r, 20);
		put_u32(&r, 21);
		put_string(&r, "sh");
		end(&r);
		assert_int_equal(decode(&r, &ev), 0);
		assert_int_equal(ev.type, is_exec ? PROCESS_EXEC : PROCESS_COMM);
		assert_int_equal(ev.tid, 21);
		assert_string_equal(ev.name, "sh");
	}
}

static void mappings_have_an_inode_whatever_another_reader_marks(void **state)
{
	static const uint16_t marks[] = { 0, PERF_RECORD_MISC_MMAP_BUILD_ID };
	struct process_event ev;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct record r = mmap_record(marks[i], PROT_READ | PROT_EXEC);

		assert_int_equal(decode(&r, &ev), 0);
		assert_int_equal(ev.type, PROCESS_MMAP);
		assert_int_equal(ev.start, 0x400000);
		assert_int_equal(ev.len, 0x2000);
		assert_int_equal(ev.pgoff, 0x1000);
		assert_int_equal(ev.dev, makedev(8, 1));
		assert_int_equal(ev.ino, 12345);
		assert_int_equal(ev.ino_generation, 77);
		assert_string_equal(ev.name, "/bin/true");
	}
}

static void what_does_not_matter_is_passed_over(void **state)
{
	struct record data = mmap_record(0, PROT_READ), other = begin(PERF_RECORD_THROTTLE, 0);
	struct process_event ev;

	(void)state;
	end(&other);
	assert_int_equal(decode(&data, &ev), -ENOENT);
	assert_int_equal(decode(&other, &ev), -ENOENT);
}

static void lost_records_are_counted(void **state)
{
	struct record r = begin(PERF_RECORD_LOST, 0);
	struct process_event ev;
	uint64_t lost = 5;

	(void)state;
	put_u64(&r, 1);
	put_u64(&r, 37);
	end(&r);
	assert_int_equal(sideband_decode(r.bytes, r.len, &ev, &lost), -ENOENT);
	assert_int_equal(lost, 42);
}

static void damage_is_told(void **state)
{
	struct record short_one = begin(PERF_RECORD_FORK, 0);
	struct record endless = begin(PERF_RECORD_COMM, 0);
	struct process_event ev;

	(void)state;
	end(&short_one);
	put_u32(&endless, 1);
	put_u32(&endless, 1);
	put(&endless, "abcdefgh", 8);
	end(&endless);
	assert_int_equal(decode(&short_one, &ev), -EBADMSG);
	assert_int_equal(decode(&endless, &ev), -EBADMSG);
}

static void decode_damaged(const uint8_t *bytes, size_t len)
{
	struct process_event ev;
	uint64_t lost = 0;

	/* A name must end inside the record. */
	if (sideband_decode(bytes, len, &ev, &lost) == 0 && ev.name)
		assert_true(ev.name + strlen(ev.name) < (const char *)bytes + len);
}

static void survives_mutation(void **state)
{
	struct record r = mmap_record(0, PROT_EXEC);

	(void)state;
	mutate(r.bytes, r.len, decode_damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_begin_and_end),
		cmocka_unit_test(names_come_with_and_without_exec),
		cmocka_unit_test(mappings_have_an_inode_whatever_another_reader_marks),
		cmocka_unit_test(what_does_not_matter_is_passed_over),
		cmocka_unit_test(lost_records_are_counted),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
