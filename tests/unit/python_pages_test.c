// SPDX-License-Identifier: Apache-2.0
/* Code objects that are read with their neighbours are what they would be read by themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "tests/unit/python_pages.h"

#define BASE 0x7f0000000000
#define N_PAGES 96 /* more than there are places for */
#define ITEM 88

static uint8_t memory[N_PAGES][PYTHON_PAGE_LEN];
static int gone = -1; /* a page that cannot be read */
static int n_reads;

static int read_user(__u64 addr, void *buf, __u32 len)
{
	__u64 at = addr - BASE;

	n_reads++;
	assert_true(at + len <= sizeof(memory));
	memset(buf, 0, len); /* as the kernel does */
	if ((int)(at / PYTHON_PAGE_LEN) == gone)
		return -1;
	memcpy(buf, (const uint8_t *)memory + at, len);
	return 0;
}

#include "unwinders/python_pages.bpf.h"

static void begin(void)
{
	memset(python_pages_get(), 0, sizeof(struct python_pages));
	for (size_t i = 0; i < sizeof(memory); i++)
		((uint8_t *)memory)[i] = (uint8_t)(i * 7 + i / 251);
	gone = -1;
}

/* True: it was read with others. Either way it is what the memory has. */
static bool is_there(uint64_t at, uint32_t sample)
{
	const void *bytes = python_page_bytes(BASE + at, ITEM, sample);

	if (bytes)
		assert_memory_equal(bytes, (const uint8_t *)memory + at, ITEM);
	return bytes != NULL;
}

/* How many of these, 184 bytes apart, were read with others. */
static int n_there(uint64_t at, int n, uint32_t sample)
{
	int n_found = 0;

	for (int i = 0; i < n; i++)
		n_found += is_there(at + 184ull * (uint64_t)i, sample);
	return n_found;
}

static void neighbours_are_read_at_once_from_the_second_sample_on(void **state)
{
	(void)state;
	begin();
	n_reads = 0;
	assert_int_equal(n_there(64, 20, 1), 0);
	assert_int_equal(n_reads, 0);
	for (uint32_t sample = 2; sample < 5; sample++) {
		n_reads = 0;
		memory[0][100] = (uint8_t)sample; /* what is there now, not what was */
		assert_int_equal(n_there(64, 20, sample), 20);
		assert_int_equal(n_reads, 1);
	}
	/* What nobody asked for before is not in it, and is from the next sample on. */
	assert_int_equal(n_there(64, 21, 6), 20);
	assert_int_equal(n_there(64, 21, 7), 21);
	/* Few are not worth a read of all that is between them, and many that were are not for
	 * ever. */
	assert_int_equal(n_there(64, 2, 8), 2);
	n_reads = 0;
	assert_int_equal(n_there(64, 2, 9), 0);
	assert_int_equal(n_reads, 0);
}

static void what_cannot_be_read_at_once_is_left_to_single_reads(void **state)
{
	(void)state;
	begin();
	n_there(64, 20, 1);
	gone = 0;
	assert_int_equal(n_there(64, 20, 2), 0);
	gone = -1;
	assert_int_equal(n_there(64, 20, 3), 20);
	assert_false(is_there(PYTHON_PAGE_LEN - ITEM + 8, 4)); /* on two pages */
	assert_false(is_there(PYTHON_PAGE_LEN - ITEM + 8, 5));
}

/* Stacks of all kinds: pages that give way to others, more than there is room for, programs that
   change their memory between samples. */
static void what_is_there_is_what_the_memory_has(void **state)
{
	uint64_t random = 1;
	int n_found = 0, n_asked = 0;

	(void)state;
	begin();
	for (uint32_t sample = 1; sample < 20000; sample++) {
		for (int i = 0; i < 60; i++, n_asked++) {
			uint64_t page, at;

			random = random * 6364136223846793005ull + 1442695040888963407ull;
			page = (random >> 33) % (sample % 1000 < 500 ? 12 : N_PAGES - 1);
			at = (random >> 48) % (PYTHON_PAGE_LEN / 8) * 8;
			n_found += is_there(page * PYTHON_PAGE_LEN + at, sample);
		}
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		((uint8_t *)memory)[(random >> 33) % sizeof(memory)]++;
		gone = sample % 64 ? -1 : (int)(sample / 64 % N_PAGES);
	}
	assert_in_range(n_found, n_asked / 8, n_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_are_read_at_once_from_the_second_sample_on),
		cmocka_unit_test(what_cannot_be_read_at_once_is_left_to_single_reads),
		cmocka_unit_test(what_is_there_is_what_the_memory_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
