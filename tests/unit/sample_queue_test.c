// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/sample_queue.h"

#define CPU(n) ((uint64_t)(n) << 40)

static int add_sample(struct sample_queue *q, uint64_t time_ns, uint64_t id)
{
	struct wire_sample s = { .h = { WIRE_SAMPLE, 0, sizeof(s) }, .time_ns = time_ns, .id = id };

	return sample_queue_add(q, &s, sizeof(s));
}

static int add_page(struct sample_queue *q, uint64_t id, uint64_t addr)
{
	struct {
		struct wire_snapshot_page page;
		uint8_t bytes[64];
	} p = { { { WIRE_SNAPSHOT_PAGE, 0, sizeof(p) }, .sample_id = id, .addr = addr, .len = 64 },
		{ 0 } };

	return sample_queue_add(q, &p, sizeof(p));
}

static int add_build_ids(struct sample_queue *q, uint64_t id, uint64_t pc)
{
	struct wire_build_ids ids = {
		.h = { WIRE_BUILD_IDS, 0, sizeof(ids) }, .sample_id = id, .n = 1, .pcs = { pc }
	};

	return sample_queue_add(q, &ids, sizeof(ids));
}

static void samples_come_in_order_of_time(void **state)
{
	static const uint64_t times[] = { 30, 10, 20, 10 };
	static const uint64_t ids[] = { 2, 4, 3,
					1 }; /* as they must come; equal times as they came */
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;

	(void)state;
	assert_int_equal(sample_queue_time(q), UINT64_MAX);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(add_sample(q, times[i], i + 1), 0);
	sample_queue_sort(q);
	assert_int_equal(sample_queue_time(q), 10);
	for (int i = 0; i < 4; i++) {
		assert_true(sample_queue_take(q, &out));
		assert_int_equal(out.sample->id, ids[i]);
	}
	assert_false(sample_queue_take(q, &out));
	sample_queue_free(q);
}

static void pages_find_their_sample(void **state)
{
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;

	(void)state;
	assert_int_equal(add_page(q, CPU(0) | 1, 0x1000), 0);
	assert_int_equal(add_page(q, CPU(1) | 1, 0x2000), 0);
	assert_int_equal(add_page(q, CPU(0) | 1, 0x3000), 0);
	assert_int_equal(add_sample(q, 1, CPU(0) | 1), 0);
	assert_int_equal(add_sample(q, 2, CPU(1) | 1), 0);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.n_pages, 2);
	assert_int_equal(out.pages[0]->addr, 0x1000);
	assert_int_equal(out.pages[1]->addr, 0x3000);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.n_pages, 1);
	assert_int_equal(out.pages[0]->addr, 0x2000);
	sample_queue_free(q);
}

static void build_ids_find_their_sample(void **state)
{
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;

	(void)state;
	assert_int_equal(add_build_ids(q, CPU(1) | 1, 0x2000), 0);
	assert_int_equal(add_page(q, CPU(0) | 1, 0x1000), 0);
	assert_int_equal(add_build_ids(q, CPU(0) | 1, 0x1000), 0);
	assert_int_equal(add_sample(q, 1, CPU(0) | 1), 0);
	assert_int_equal(add_sample(q, 2, CPU(1) | 1), 0);
	assert_int_equal(add_sample(q, 3, CPU(1) | 2), 0);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.n_pages, 1);
	assert_int_equal(out.build_ids->pcs[0], 0x1000);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.build_ids->pcs[0], 0x2000);
	assert_true(sample_queue_take(q, &out));
	assert_null(out.build_ids);
	/* A second one has no place and must not stay. */
	add_build_ids(q, CPU(0) | 2, 0x1000);
	add_build_ids(q, CPU(0) | 2, 0x3000);
	add_sample(q, 4, CPU(0) | 2);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.build_ids->pcs[0], 0x1000);
	sample_queue_free(q);
}

static int add_weight(struct sample_queue *q, uint64_t id, uint64_t weight, size_t len)
{
	struct wire_weight w = { .h = { WIRE_WEIGHT, 0, sizeof(w) },
				 .sample_id = id,
				 .weight = weight };

	return sample_queue_add(q, &w, len);
}

static void a_weight_finds_its_sample_while_it_is_here(void **state)
{
	size_t len = sizeof(struct wire_weight);
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;

	(void)state;
	assert_int_equal(add_weight(q, CPU(0) | 1, 5, len), -ENOENT);
	add_sample(q, 2, CPU(0) | 1);
	add_sample(q, 1, CPU(1) | 1);
	assert_int_equal(add_weight(q, CPU(0) | 1, 1000, len), 0);
	assert_int_equal(add_weight(q, CPU(0) | 1, 2000, len - 1), -EBADMSG);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.sample->weight, 0);
	assert_int_equal(add_weight(q, CPU(1) | 1, 1000, len), -ENOENT);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.sample->weight, 1000);
	sample_queue_free(q);
}

static int add_task(struct sample_queue *q, uint64_t sample_id, uint64_t name)
{
	struct wire_python_task task = { .h = { WIRE_PYTHON_TASK, 0, sizeof(task) },
					 .sample_id = sample_id,
					 .addr = name,
					 .len = WIRE_TASK_NAME_MAX };

	return sample_queue_add(q, &task, sizeof(task));
}

static void tasks_find_their_sample(void **state)
{
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;

	(void)state;
	assert_int_equal(add_task(q, CPU(1) | 1, 0x2000), 0);
	assert_int_equal(add_task(q, CPU(0) | 1, 0x1000), 0);
	assert_int_equal(add_task(q, CPU(0) | 1, 0x3000), 0); /* has no place and must not stay */
	assert_int_equal(add_sample(q, 1, CPU(0) | 1), 0);
	assert_int_equal(add_sample(q, 2, CPU(1) | 1), 0);
	assert_int_equal(add_sample(q, 3, CPU(1) | 2), 0);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.task->addr, 0x1000);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.task->addr, 0x2000);
	assert_true(sample_queue_take(q, &out));
	assert_null(out.task);
	sample_queue_free(q);
}

static int add_span(struct sample_queue *q, uint64_t sample_id, uint8_t first)
{
	struct wire_span span = { .h = { WIRE_SPAN, 0, sizeof(span) },
				  .sample_id = sample_id,
				  .span_id = { first } };

	return sample_queue_add(q, &span, sizeof(span));
}

static void spans_find_their_sample(void **state)
{
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;

	(void)state;
	assert_int_equal(add_span(q, CPU(1) | 1, 2), 0);
	assert_int_equal(add_span(q, CPU(0) | 1, 1), 0);
	assert_int_equal(add_span(q, CPU(0) | 1, 3), 0); /* has no place and must not stay */
	assert_int_equal(add_sample(q, 1, CPU(0) | 1), 0);
	assert_int_equal(add_sample(q, 2, CPU(1) | 1), 0);
	assert_int_equal(add_sample(q, 3, CPU(1) | 2), 0);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.span->span_id[0], 1);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.span->span_id[0], 2);
	assert_true(sample_queue_take(q, &out));
	assert_null(out.span);
	sample_queue_free(q);
}

static void pages_of_lost_samples_go_with_the_next_of_their_cpu(void **state)
{
	struct sample_queue *q = sample_queue_new();
	struct queued_sample out;
	size_t before;

	(void)state;
	add_sample(q, 1, CPU(0) | 1);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	sample_queue_take(q, &out);
	add_page(q, CPU(1) | 7, 0x1000);
	before = sample_queue_memory(q);
	add_page(q, CPU(0) | 2, 0x1000);
	add_sample(q, 2, CPU(0) | 3);
	sample_queue_sort(q);
	assert_true(sample_queue_take(q, &out));
	assert_int_equal(out.n_pages, 0);
	sample_queue_take(q, &out);
	/* The other CPU's page still waits. */
	assert_int_equal(sample_queue_memory(q), before);
	sample_queue_free(q);
}

static void records_that_contradict_themselves_are_refused(void **state)
{
	struct sample_queue *q = sample_queue_new();
	struct wire_sample s = { .h = { WIRE_SAMPLE, 0, sizeof(s) }, .n_user = 1 };
	struct wire_snapshot_page p = { .h = { WIRE_SNAPSHOT_PAGE, 0, sizeof(p) }, .len = 1 };
	struct wire_build_ids ids = { .h = { WIRE_BUILD_IDS, 0, sizeof(ids) },
				      .n = WIRE_MAX_BUILD_IDS + 1 };
	struct wire_python_task task = { .h = { WIRE_PYTHON_TASK, 0, sizeof(task) },
					 .len = WIRE_TASK_NAME_MAX + 1 };
	struct wire_span span = { .h = { WIRE_SPAN, 0, sizeof(span) } };
	struct wire_span named = { .h = { WIRE_SPAN, 0, sizeof(named) }, .name_len = 1 };
	uint8_t long_name[sizeof(named) + WIRE_SPAN_NAME_MAX + 1] = { 0 };
	struct wire_header h = { 99, 0, sizeof(h) };

	(void)state;
	assert_int_equal(sample_queue_add(q, &s, sizeof(s)), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &s, sizeof(s) - 1), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &p, sizeof(p)), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &p, 12), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &ids, sizeof(ids)), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &ids, sizeof(ids) - 1), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &task, sizeof(task)), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &task, sizeof(task) - 1), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &span, sizeof(span) - 1), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &named, sizeof(named)), -EBADMSG);
	named.h.len = sizeof(long_name);
	named.name_len = WIRE_SPAN_NAME_MAX + 1;
	memcpy(long_name, &named, sizeof(named));
	assert_int_equal(sample_queue_add(q, long_name, sizeof(long_name)), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &h, sizeof(h)), -EBADMSG);
	assert_int_equal(sample_queue_add(q, &h, 3), -EBADMSG);
	sample_queue_free(q);
}

/* Adds the first len bytes, with one bit flipped or none, and takes whatever comes out of it. */
static void add_mutated(const void *record, size_t len, size_t bit)
{
	struct sample_queue *q = sample_queue_new();
	uint8_t *copy = malloc(len ? len : 1);
	struct queued_sample out;

	memcpy(copy, record, len);
	if (bit < 8 * len)
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
	add_sample(q, 10, CPU(1) | 1);
	sample_queue_add(q, copy, len);
	free(copy); /* the queue has its own */
	while (sample_queue_take(q, &out))
		;
	sample_queue_free(q);
}

static void survives_mutation(void **state)
{
	static const struct {
		struct wire_sample s;
		uint64_t pcs[3];
	} sample = { .s = { .h = { WIRE_SAMPLE, 0, sizeof(sample) },
			    .time_ns = 5,
			    .id = 7,
			    .n_kernel = 1,
			    .n_user = 2 } };
	static const struct {
		struct wire_snapshot_page page;
		uint8_t bytes[64];
	} page = { .page = { .h = { WIRE_SNAPSHOT_PAGE, 0, sizeof(page) },
			     .sample_id = CPU(1) | 1,
			     .len = 64 } };
	static const struct wire_build_ids ids = { .h = { WIRE_BUILD_IDS, 0, sizeof(ids) },
						   .sample_id = CPU(1) | 1,
						   .n = 2 };
	static const struct wire_python_task task = { .h = { WIRE_PYTHON_TASK, 0, sizeof(task) },
						      .sample_id = CPU(1) | 1,
						      .len = WIRE_TASK_NAME_MAX };
	static const struct {
		struct wire_span s;
		uint8_t name[64];
	} span = { .s = { .h = { WIRE_SPAN, 0, sizeof(span) },
			  .sample_id = CPU(1) | 1,
			  .name_len = 64 } };
	const struct {
		const void *record;
		size_t len;
	} cases[] = { { &sample, sizeof(sample) },
		      { &page, sizeof(page) },
		      { &ids, sizeof(ids) },
		      { &task, sizeof(task) },
		      { &span, sizeof(span) } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t cut = 0; cut <= cases[i].len; cut++)
			add_mutated(cases[i].record, cut, SIZE_MAX);
		for (size_t bit = 0; bit < 8 * cases[i].len; bit++)
			add_mutated(cases[i].record, cases[i].len, bit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_in_order_of_time),
		cmocka_unit_test(pages_find_their_sample),
		cmocka_unit_test(build_ids_find_their_sample),
		cmocka_unit_test(a_weight_finds_its_sample_while_it_is_here),
		cmocka_unit_test(tasks_find_their_sample),
		cmocka_unit_test(spans_find_their_sample),
		cmocka_unit_test(pages_of_lost_samples_go_with_the_next_of_their_cpu),
		cmocka_unit_test(records_that_contradict_themselves_are_refused),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
