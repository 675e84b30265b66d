// SPDX-License-Identifier: Apache-2.0
/* Which code objects the kernel half shows to user space, compiled for the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/bpf_fake.h"

/* Everything can be read, and is zeros. */
#define bpf_probe_read_user(to, len, from) (memset((to), 0, (len)), (void)(from), 0L)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf/sample.bpf.h"
#pragma GCC diagnostic pop

#define N_SEEN 1024 /* elements */

static struct python_scratch *scratch;
static struct python_seen seen[N_SEEN];

static int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	memset(seen, 0, sizeof(seen));
	scratch = calloc(1, sizeof(*scratch));
	fake.scratches = &python_scratches;
	fake.scratch = scratch;
	fake.array = &python_seen;
	fake.values = (uint8_t *)seen;
	fake.value_len = sizeof(*seen);
	*(volatile __u32 *)(uintptr_t)&python_seen_mask = N_SEEN - 1;
	return !scratch;
}

static int tear_down(void **state)
{
	(void)state;
	free(scratch);
	return 0;
}

/* Shows a stack of n code objects from number `first` on; how many were sent. */
static uint32_t show(uint32_t first, uint32_t n)
{
	scratch->n_sent = 0;
	fake.ring_len = 0;
	for (uint32_t i = first; i < first + n; i++) {
		struct wire_python_frame f = { .addr = 0x7f0000000000 + 256ull * i,
					       .id = i * 2654435761u + 1 };

		scratch->walk.at = 0x7e0000000000 + 256ull * i;
		python_show(scratch, &f);
	}
	return scratch->n_sent;
}

static void each_is_shown_once_some_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(show(0, 40), PYTHON_CODES_A_SAMPLE);
	assert_int_equal(show(0, 40), PYTHON_CODES_A_SAMPLE);
	assert_int_equal(show(0, 40), 40 - 2 * PYTHON_CODES_A_SAMPLE);
	assert_int_equal(show(0, 40), 0);
	scratch->code.pad = 4711; /* another process: what is known of one says nothing of it */
	assert_int_equal(show(0, 8), 8);
}

static void what_a_lost_sample_showed_is_shown_again(void **state)
{
	(void)state;
	assert_int_equal(show(0, 4), 4);
	assert_int_equal(show(4, 6), 6);
	python_lose();
	assert_int_equal(show(0, 4), 0);
	assert_int_equal(show(4, 6), 6);
	assert_int_equal(show(4, 6), 0);
}

static void what_finds_the_ring_full_is_shown_again(void **state)
{
	(void)state;
	scratch->n_sent = 0;
	fake.ring_len = sizeof(fake.ring);
	python_show(scratch, &(struct wire_python_frame){ .addr = 0x1000, .id = 5 });
	assert_int_equal(scratch->n_sent, 1); /* of the sample's share all the same */
	scratch->n_sent = 0;
	fake.ring_len = 0;
	python_show(scratch, &(struct wire_python_frame){ .addr = 0x1000, .id = 5 });
	assert_int_not_equal(fake.ring_len, 0);
	fake.ring_len = 0;
	python_show(scratch, &(struct wire_python_frame){ .addr = 0x1000, .id = 5 });
	assert_int_equal(fake.ring_len, 0);
}

/* A frame's place says that its code was shown, but only what a sample before this one showed, and
   of this very code in this process. */
static void what_is_near_is_not_looked_up(void **state)
{
	(void)state;
	assert_int_equal(show(0, 8), 8);
	memset(seen, 0, sizeof(seen)); /* as when that sample was lost */
	assert_int_equal(show(0, 8), 8);
	assert_int_equal(show(0, 8), 0);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(show(0, 8), 0);
	scratch->n_sent = 0;
	python_show(scratch, &(struct wire_python_frame){ .addr = 0x1000, .id = 5 });
	assert_int_equal(scratch->n_sent, 1); /* where another one was near */
	scratch->code.pad = 4711;	      /* another process */
	assert_int_equal(show(0, 8), 8);
}

static void neighbours_have_places_of_their_own(void **state)
{
	static bool is_taken[PYTHON_NEAR];

	(void)state;
	for (int kind = PYTHON_ANCHOR_NONE; kind <= PYTHON_ANCHOR_SHIM; kind++) {
		uint64_t len = kind < PYTHON_ANCHOR_ENTRY ? 256 : 64;

		scratch->process.anchor = (uint8_t)kind;
		memset(is_taken, 0, sizeof(is_taken));
		for (uint32_t i = 0; i < PYTHON_NEAR / 2; i++) {
			uint64_t frame = 0x7f0123456740 + len * i;

			assert_false(is_taken[python_place(&scratch->process, frame)]);
			is_taken[python_place(&scratch->process, frame)] = true;
		}
	}
}

/* So many that half of all places are taken: hardly any has to be sent twice. */
static void many_have_their_places(void **state)
{
	uint32_t again = 0;

	(void)state;
	for (uint32_t i = 0; i < N_SEEN; i += 16)
		show(i, 16);
	for (uint32_t i = 0; i < N_SEEN; i += 16)
		again += show(i, 16);
	assert_true(again < N_SEEN / 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_is_shown_once_some_at_a_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_a_lost_sample_showed_is_shown_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_finds_the_ring_full_is_shown_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_near_is_not_looked_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(neighbours_have_places_of_their_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(many_have_their_places, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
