// SPDX-License-Identifier: Apache-2.0
/* What is kept of scopes that go over from chunk to chunk, however many there are. */
#include "jfr/late_scopes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/clock.h"
#include "core/intern.h"
#include "jfr/chunk.h"
#include "jfr/jvm_facts.h"
#include "jfr/names.h"
#include "jfr/spans.h"

static const struct chunk chunk = {
	.header = { .start_ns = 1000000, .start_ticks = 1000, .ticks_per_s = NS_PER_S }
};
static const struct java_thread thread = { .name = "main", .id = 1, .os_id = 17 };

static void add(struct late_scopes *l, int64_t start, const char *tag)
{
	struct late_owner owner = late_owner(&(struct jvm_facts){ 0 }, 0);
	struct span_ids ids = { .tag = tag };
	struct span_scope scope = { .start_ns = start, .end_ns = 1000001, .ids = &ids };

	if (!tag)
		snprintf(ids.span_id, sizeof(ids.span_id), "%016x", (unsigned int)start);
	assert_int_equal(late_scopes_add(l, owner, &chunk, &thread, &scope), 0);
}

/* Hundreds of bytes each would be gigabytes. */
static void those_for_which_there_is_no_room_are_counted(void **state)
{
	enum { N = 200 * 1000 };
	struct late_scopes l = { 0 };

	(void)state;
	for (int64_t i = 0; i < N; i++)
		add(&l, i, NULL);
	assert_in_range(l.n, 10 * 1000, N / 2);
	assert_int_equal(l.n + l.n_left_out, N);
	assert_in_range(intern_memory(l.texts), 1, 16 << 20);
	late_scopes_deinit(&l);
}

static void long_tags_are_kept_once_and_not_without_end(void **state)
{
	enum { LEN = 1 << 20, N_SAME = 1000, N_OTHER = 100 };
	char *tag = calloc(1, LEN + 1);
	struct late_scopes l = { 0 };

	(void)state;
	memset(tag, 'x', LEN);
	for (int64_t i = 0; i < N_SAME; i++)
		add(&l, i, tag);
	assert_int_equal(l.n, N_SAME);
	for (int64_t i = 0; i < N_OTHER; i++) {
		tag[0] = (char)(i + 1);
		add(&l, i, tag);
	}
	assert_int_equal(l.n + l.n_left_out, N_SAME + N_OTHER);
	assert_in_range(intern_memory(l.texts), LEN, 16 * LEN);
	free(tag);
	late_scopes_deinit(&l);
}

static void copies_of_a_chunk_have_them_once(void **state)
{
	struct late_scopes l = { 0 };

	(void)state;
	for (int64_t i = 0; i < 9; i++)
		add(&l, i % 3, i < 6 ? NULL : "tag");
	late_scopes_sort(&l);
	assert_int_equal(l.n, 6);
	late_scopes_deinit(&l);
}

/* Of what a file's second part found nothing may say whose it is: then it is the first part's. */
static void parts_are_put_together_in_their_order(void **state)
{
	struct late_scopes all = { 0 }, parts[2] = { { 0 }, { 0 } };
	struct late_owner owner = { .pid = 17, .start_ms = 5 };

	(void)state;
	add(&all, 1, "tag");
	add(&parts[0], 2, NULL);
	add(&parts[1], 3, "tag");
	for (int i = 0; i < 2; i++)
		assert_int_equal(late_scopes_append(&all, &parts[i], owner), 0);
	assert_int_equal(all.n, 3);
	late_scopes_sort(&all);
	assert_int_equal(all.n, 3);
	for (int i = 0; i < 2; i++)
		late_scopes_deinit(&parts[i]);
	late_scopes_deinit(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_for_which_there_is_no_room_are_counted),
		cmocka_unit_test(long_tags_are_kept_once_and_not_without_end),
		cmocka_unit_test(copies_of_a_chunk_have_them_once),
		cmocka_unit_test(parts_are_put_together_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
