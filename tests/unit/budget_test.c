// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/budget.h"

#define NS_PER_S UINT64_C(1000000000)

struct parts {
	uint64_t kept, droppable;
	int n_sums, n_flushes;
};

static uint64_t used(void *ctx)
{
	struct parts *p = ctx;

	p->n_sums++;
	return p->kept + p->droppable;
}

static void flush(void *ctx)
{
	struct parts *p = ctx;

	p->n_flushes++;
	p->droppable = 0;
}

/* A sum is made now and then only: asks until it was. */
static enum budget_state check(struct budget *b, uint64_t now_ns)
{
	struct parts *p = b->ctx;
	int before = p->n_sums;

	for (int i = 0; i < 1000 && p->n_sums == before; i++)
		budget_check(b, now_ns);
	return b->state;
}

static void state_is_how_far_the_sum_is_over(void **state)
{
	static const struct {
		uint64_t bytes, used;
		enum budget_state state;
	} cases[] = {
		{ 1600, 0, BUDGET_FITS },	 { 1600, 1500, BUDGET_FITS },
		{ 1600, 1501, BUDGET_OVER },	 { 1600, 1600, BUDGET_OVER },
		{ 1600, 1601, BUDGET_FAR_OVER }, { 1600, UINT64_MAX, BUDGET_FAR_OVER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct parts p = { .kept = cases[i].used };
		struct budget b = {
			.bytes = cases[i].bytes, .used = used, .flush = flush, .ctx = &p
		};

		assert_int_equal(check(&b, NS_PER_S), cases[i].state);
	}
}

static void without_a_budget_nothing_is_over(void **state)
{
	struct parts p = { .kept = UINT64_MAX };
	struct budget b = { .used = used, .flush = flush, .ctx = &p };

	(void)state;
	assert_int_equal(budget_check(&b, NS_PER_S), BUDGET_FITS);
	assert_int_equal(p.n_sums, 0);
}

static void what_can_be_built_again_goes_first_but_not_all_the_time(void **state)
{
	struct parts p = { .kept = 1000, .droppable = 1000 };
	struct budget b = { .bytes = 1600, .used = used, .flush = flush, .ctx = &p };

	(void)state;
	assert_int_equal(check(&b, NS_PER_S), BUDGET_FITS);
	assert_int_equal(p.n_flushes, 1);
	p.droppable = 1000;
	assert_int_equal(check(&b, NS_PER_S + 1), BUDGET_FAR_OVER);
	assert_int_equal(p.n_flushes, 1);
	assert_int_equal(check(&b, 2 * NS_PER_S + 1), BUDGET_FITS);
	assert_int_equal(p.n_flushes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state_is_how_far_the_sum_is_over),
		cmocka_unit_test(without_a_budget_nothing_is_over),
		cmocka_unit_test(what_can_be_built_again_goes_first_but_not_all_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
