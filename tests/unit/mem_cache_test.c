// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/mem_cache.h"

#define PAGE 4096
#define ADDR (UINT64_C(16) * PAGE)
#define N_PAGES 4
#define NO_LIMIT UINT64_MAX

/* Target memory that counts how often it is read. */
struct counted {
	struct mem m;
	uint8_t bytes[N_PAGES * PAGE];
	int n_reads, n_asked; /* pages; times that somebody asked */
};

static int counted_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	struct counted *c = (struct counted *)m;

	c->n_reads++;
	if (addr < ADDR || addr - ADDR > sizeof(c->bytes) || len > sizeof(c->bytes) - (addr - ADDR))
		return -EFAULT;
	memcpy(buf, c->bytes + (addr - ADDR), len);
	return 0;
}

static void counted_read_many(struct mem *m, struct mem_place *places, size_t n)
{
	struct counted *c = (struct counted *)m;

	for (size_t i = 0; i < n; i++)
		places[i].err = counted_read(m, places[i].addr, places[i].buf, places[i].len);
	c->n_asked++;
}

static void counted_free(struct mem *m)
{
	(void)m;
}

static void counted_init(struct counted *c)
{
	static const struct mem_ops ops = { .read = counted_read,
					    .free = counted_free,
					    .read_many = counted_read_many };

	*c = (struct counted){ .m = { &ops } };
	for (size_t i = 0; i < sizeof(c->bytes); i++)
		c->bytes[i] = (uint8_t)(i * 7 + i / PAGE);
}

static void answers_are_those_of_the_memory_below(void **state)
{
	static const struct {
		uint64_t addr;
		size_t len;
		int err;
	} cases[] = {
		{ ADDR, 1, 0 },
		{ ADDR + 5, 8, 0 },
		{ ADDR + PAGE - 3, 6, 0 },
		{ ADDR + 1, 3 * PAGE, 0 },
		{ ADDR + N_PAGES * PAGE - 1, 1, 0 },
		{ ADDR + N_PAGES * PAGE - 1, 2, -EFAULT },
		{ ADDR - 1, 2, -EFAULT },
		{ 0, 8, -EFAULT },
		{ UINT64_MAX, 1, -EFAULT },
		{ UINT64_MAX - 3, 8, -EFAULT },
	};
	struct counted under;
	struct mem *cache;
	uint8_t out[N_PAGES * PAGE];

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, NO_LIMIT);
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		size_t at = i % (sizeof(cases) / sizeof(*cases));

		assert_int_equal(mem_read(cache, cases[at].addr, out, cases[at].len),
				 cases[at].err);
		if (!cases[at].err)
			assert_memory_equal(out, under.bytes + (cases[at].addr - ADDR),
					    cases[at].len);
	}
	mem_free(cache);
}

static void a_page_is_read_once_until_it_is_forgotten(void **state)
{
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, NO_LIMIT);
	for (int i = 0; i < 100; i++)
		assert_int_equal(mem_read(cache, ADDR + (uint64_t)i, &byte, 1), 0);
	assert_int_equal(mem_read(cache, 0, &byte, 1), -EFAULT);
	assert_int_equal(mem_read(cache, 8, &byte, 1), -EFAULT);
	assert_int_equal(under.n_reads, 2);
	under.bytes[0] = 99;
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_not_equal(byte, 99);
	mem_cache_forget(cache);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_equal(byte, 99);
	mem_free(cache);
}

/* Where not all of it can be read, the page is read alone. */
static void what_lies_beside_is_read_with_it(void **state)
{
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, NO_LIMIT);
	mem_cache_read_ahead(cache, true);
	for (int i = N_PAGES - 1; i >= 0; i--) {
		assert_int_equal(mem_read(cache, ADDR + (uint64_t)i * PAGE, &byte, 1), 0);
		assert_int_equal(byte, under.bytes[i * PAGE]);
	}
	assert_int_equal(under.n_reads, 1);
	assert_int_equal(mem_read(cache, ADDR + N_PAGES * PAGE, &byte, 1), -EFAULT);
	assert_int_equal(mem_read(cache, ADDR + N_PAGES * PAGE, &byte, 1), -EFAULT);
	assert_int_equal(under.n_reads, 3);
	mem_free(cache);
	/* One that holds less than that reads page by page. */
	cache = mem_cache_new(&under.m, 2 * PAGE, NO_LIMIT);
	mem_cache_read_ahead(cache, true);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(under.n_reads, 5);
	mem_free(cache);
}

static void what_is_held_is_read_again_at_once(void **state)
{
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, NO_LIMIT);
	assert_int_equal(mem_read(cache, ADDR + 3 * PAGE, &byte, 1), 0);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(mem_read(cache, 8, &byte, 1), -EFAULT);
	assert_int_equal(under.n_reads, 4);
	under.bytes[0] = 99;
	under.bytes[3 * PAGE] = 98;
	mem_cache_refresh(cache);
	assert_int_equal(under.n_reads, 7);
	assert_int_equal(under.n_asked, 1);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_equal(byte, 99);
	assert_int_equal(mem_read(cache, ADDR + 3 * PAGE, &byte, 1), 0);
	assert_int_equal(byte, 98);
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(byte, under.bytes[PAGE]);
	assert_int_equal(under.n_reads, 7);
	/* What was not held is read as ever. */
	assert_int_equal(mem_read(cache, ADDR + 2 * PAGE, &byte, 1), 0);
	assert_int_equal(under.n_reads, 8);
	mem_free(cache);
}

static void what_is_expected_is_renewed_with_what_was_asked_for(void **state)
{
	const uint64_t expected[] = { ADDR / PAGE + 1 };
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, NO_LIMIT);
	mem_cache_expect(cache, expected, 1);
	assert_int_equal(under.n_reads, 1);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_equal(under.n_reads, 2);
	for (int i = 0; i < 2; i++) { /* also when it was not asked for meanwhile */
		under.n_asked = 0;
		under.bytes[PAGE] = (uint8_t)(50 + i);
		mem_cache_renew(cache);
		assert_int_equal(under.n_asked, 1);
	}
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(byte, 51);
	assert_int_equal(under.n_reads, 5);
	mem_free(cache);
}

static void what_was_asked_for_is_told_once_each(void **state)
{
	struct counted under;
	uint64_t pages[2];
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, NO_LIMIT);
	assert_int_equal(mem_cache_asked(cache, pages, 2), 0);
	for (int i = 0; i < 3; i++) {
		mem_cache_forget(cache);
		assert_int_equal(mem_read(cache, ADDR + 2 * PAGE, &byte, 1), 0);
		assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	}
	assert_int_equal(mem_cache_asked(cache, pages, 2), 2);
	assert_int_equal(pages[0], ADDR / PAGE);
	assert_int_equal(pages[1], ADDR / PAGE + 2);
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(mem_cache_asked(cache, pages, 2), 0);
	mem_free(cache);
}

static void what_is_wanted_is_read_at_once(void **state)
{
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, 2);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	mem_cache_want(cache, ADDR, 8);
	mem_cache_want(cache, ADDR + 2 * PAGE - 4, 8); /* of two pages */
	mem_cache_want(cache, ADDR + PAGE, 1);
	mem_cache_want(cache, 8, 8);
	mem_cache_want(cache, UINT64_MAX - 4, 8);
	mem_cache_fetch(cache);
	assert_int_equal(under.n_asked, 1);
	assert_int_equal(under.n_reads, 5);
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(byte, under.bytes[PAGE]);
	assert_int_equal(mem_read(cache, ADDR + 2 * PAGE, &byte, 1), 0);
	assert_int_equal(byte, under.bytes[2 * PAGE]);
	assert_int_equal(mem_read(cache, 8, &byte, 1), -EFAULT);
	assert_int_equal(under.n_reads, 5);
	/* No more than it may, of which wanting is a part. */
	mem_cache_want(cache, ADDR + 3 * PAGE, 1);
	mem_cache_fetch(cache);
	assert_int_equal(mem_read(cache, ADDR + 3 * PAGE, &byte, 1), -E2BIG);
	assert_int_equal(under.n_reads, 5);
	mem_free(cache);
}

static void it_keeps_no_more_than_it_may(void **state)
{
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 2 * PAGE, NO_LIMIT);
	for (int i = 0; i < 3 * N_PAGES; i++) {
		uint64_t at = (uint64_t)(i % N_PAGES) * PAGE;

		assert_int_equal(mem_read(cache, ADDR + at, &byte, 1), 0);
		assert_int_equal(byte, under.bytes[at]);
	}
	assert_int_equal(under.n_reads, 3 * N_PAGES);
	mem_free(cache);
}

static void it_reads_no_more_than_it_may(void **state)
{
	struct counted under;
	struct mem *cache;
	uint8_t byte;

	(void)state;
	counted_init(&under);
	cache = mem_cache_new(&under.m, 1 << 20, 2);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	assert_int_equal(mem_read(cache, ADDR + PAGE, &byte, 1), 0);
	assert_int_equal(mem_read(cache, ADDR + 2 * PAGE, &byte, 1), -E2BIG);
	assert_int_equal(mem_read(cache, ADDR, &byte, 1), 0);
	mem_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_the_memory_below),
		cmocka_unit_test(a_page_is_read_once_until_it_is_forgotten),
		cmocka_unit_test(what_lies_beside_is_read_with_it),
		cmocka_unit_test(what_is_held_is_read_again_at_once),
		cmocka_unit_test(what_is_expected_is_renewed_with_what_was_asked_for),
		cmocka_unit_test(what_was_asked_for_is_told_once_each),
		cmocka_unit_test(what_is_wanted_is_read_at_once),
		cmocka_unit_test(it_keeps_no_more_than_it_may),
		cmocka_unit_test(it_reads_no_more_than_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
