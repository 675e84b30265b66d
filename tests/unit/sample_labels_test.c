// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/sample_labels.h"
#include "core/profile.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"

#define SELF 1 /* a process that is known; of the others only the samples are */
#define SHARE (256 << 10)

struct test {
	struct profile *profile;
	struct objects *objects;
	struct processes *processes;
	struct process *self;
	struct sample_labels *labels;
};

static void begin(struct test *t, size_t share)
{
	sample_labels_free(t->labels);
	profile_free(t->profile);
	t->profile = profile_new();
	t->labels = sample_labels_new(t->profile, share);
}

static int set_up(void **state)
{
	struct test *t = calloc(1, sizeof(*t));

	t->objects = objects_new(NULL);
	t->processes = processes_new(t->objects);
	t->self = processes_find(t->processes, getpid(), 0, UINT64_MAX);
	assert_non_null(t->self);
	begin(t, SHARE);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct test *t = *state;

	sample_labels_free(t->labels);
	profile_free(t->profile);
	processes_free(t->processes);
	objects_free(t->objects);
	free(t);
	return 0;
}

/* The labels of a thread whose name nobody else has. */
static uint32_t labels_of_task(struct test *t, uint32_t pid, uint32_t tid, const char *task,
			       enum budget_state state)
{
	struct wire_sample s = { .pid = pid, .tid = tid };
	struct process *proc = pid == SELF ? t->self : NULL;

	snprintf(s.comm, sizeof(s.comm), "t%u", tid);
	return sample_labels_get(t->labels, &(struct queued_sample){ .sample = &s }, proc,
				 t->processes, &(struct sample_names){ .task = task }, state);
}

static uint32_t labels_of(struct test *t, uint32_t pid, uint32_t tid, enum budget_state state)
{
	return labels_of_task(t, pid, tid, NULL, state);
}

static const char *text_of(const struct test *t, uint32_t set, const char *key)
{
	size_t n;
	const struct label *labels = profile_get_labels(t->profile, set, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(profile_get_string(t->profile, labels[i].key), key))
			return profile_get_string(t->profile, labels[i].str);
	return "";
}

static const char *thread_label(struct test *t, const char *comm, const char *name)
{
	struct wire_sample s = { .pid = SELF, .tid = 9 };
	uint32_t set;

	snprintf(s.comm, sizeof(s.comm), "%s", comm);
	set = sample_labels_get(t->labels, &(struct queued_sample){ .sample = &s }, t->self,
				t->processes, &(struct sample_names){ .thread = name },
				BUDGET_FITS);
	return text_of(t, set, "thread");
}

static bool is_any(const struct test *t, uint32_t set)
{
	size_t n;

	profile_get_labels(t->profile, set, &n);
	return n == 1 && !strcmp(text_of(t, set, "process"), "[over memory budget]");
}

static void thread_has_all_its_labels(void **state)
{
	struct test *t = *state;
	uint32_t set = labels_of(t, SELF, 7, BUDGET_FITS);
	size_t n;

	profile_get_labels(t->profile, set, &n);
	assert_int_equal(n, 4);
	assert_string_equal(text_of(t, set, "thread"), "t7");
	assert_string_equal(text_of(t, set, "process"),
			    text_of(t, labels_of(t, SELF, 8, BUDGET_FITS), "process"));
	assert_int_equal(labels_of(t, SELF, 7, BUDGET_FITS), set);
	assert_int_equal(sample_labels_over_budget(t->labels), 0);
}

static void the_runtimes_name_counts_where_the_systems_says_less(void **state)
{
	struct test *t = *state;
	char own[WIRE_COMM_LEN];

	snprintf(own, sizeof(own), "%s", processes_string(t->processes, t->self->comm));
	assert_string_equal(thread_label(t, own, "worker"), "worker");
	assert_string_equal(thread_label(t, own, NULL), own);
	assert_string_equal(thread_label(t, "renamed", "worker"), "renamed");
	assert_string_equal(thread_label(t, "ThreadPoolExecu", "ThreadPoolExecutor-0_1"),
			    "ThreadPoolExecutor-0_1");
	assert_string_equal(thread_label(t, "ThreadPoolExecu", "ThreadPoolOther"),
			    "ThreadPoolExecu");
	assert_string_equal(thread_label(t, own, "other"), "other"); /* renamed meanwhile */
}

static void a_sample_of_a_task_says_so(void **state)
{
	struct test *t = *state;
	uint32_t none = labels_of(t, SELF, 7, BUDGET_FITS), red, blue;

	red = labels_of_task(t, SELF, 7, "red", BUDGET_FITS);
	blue = labels_of_task(t, SELF, 7, "blue", BUDGET_FITS);
	assert_string_equal(text_of(t, red, "task"), "red");
	assert_string_equal(text_of(t, red, "thread"), "t7");
	assert_string_equal(text_of(t, blue, "task"), "blue");
	assert_string_equal(text_of(t, none, "task"), "");
	assert_int_equal(labels_of(t, SELF, 7, BUDGET_FITS), none);
	assert_int_equal(labels_of_task(t, SELF, 7, "red", BUDGET_FAR_OVER), red);
}

/* The labels of a thread in a span, whose ids this number is in. */
static uint32_t labels_of_named(struct test *t, const char *task, const char *name, uint32_t number)
{
	struct wire_sample s = { .pid = SELF, .tid = 7, .comm = "t7" };
	struct wire_span span = { .trace_id = { 0xab, [15] = 1 }, .span_id = { 0, 0xcd } };

	memcpy(span.span_id + 4, &number, sizeof(number));
	return sample_labels_get(t->labels, &(struct queued_sample){ .sample = &s, .span = &span },
				 t->self, t->processes,
				 &(struct sample_names){ .task = task, .span = name }, BUDGET_FITS);
}

static uint32_t labels_of_span(struct test *t, const char *task, uint32_t number)
{
	return labels_of_named(t, task, NULL, number);
}

static void a_sample_in_a_span_has_its_ids_and_name(void **state)
{
	struct test *t = *state;
	uint32_t set = labels_of_span(t, NULL, 0x0f0e0d0c),
		 none = labels_of(t, SELF, 7, BUDGET_FITS);

	assert_string_equal(text_of(t, set, "trace_id"), "ab000000000000000000000000000001");
	assert_string_equal(text_of(t, set, "span_id"), "00cd00000c0d0e0f");
	assert_string_equal(text_of(t, set, "thread"), "t7");
	assert_string_equal(text_of(t, none, "span_id"), "");
	set = labels_of_span(t, "red", 1);
	assert_string_equal(text_of(t, set, "task"), "red");
	assert_string_equal(text_of(t, set, "span_id"), "00cd000001000000");
	assert_string_equal(text_of(t, set, "span_name"), "");
	set = labels_of_named(t, "red", "GET /", 2);
	assert_string_equal(text_of(t, set, "task"), "red");
	assert_string_equal(text_of(t, set, "span_id"), "00cd000002000000");
	assert_string_equal(text_of(t, set, "span_name"), "GET /");
}

static void spans_without_room_for_ids_keep_their_names(void **state)
{
	struct test *t = *state;
	uint32_t last = labels_of_task(t, SELF, 7, "red", BUDGET_FITS);

	for (uint32_t i = 0; i < 20000; i++)
		last = labels_of_named(t, i & 1 ? "red" : NULL, "GET /", i);
	assert_in_range(sample_labels_over_budget(t->labels), 10000, 19990);
	assert_string_equal(text_of(t, last, "span_id"), "");
	assert_string_equal(text_of(t, last, "trace_id"), "");
	assert_string_equal(text_of(t, last, "span_name"), "GET /");
	assert_string_equal(text_of(t, last, "task"), "");
	last = labels_of_named(t, NULL, "PUT /", 20000);
	assert_string_equal(text_of(t, last, "span_name"), "PUT /");
	/* But names that are as many as ids are no better than these. */
	for (uint32_t i = 0; i < 20000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "GET /%u", i);
		last = labels_of_named(t, "red", name, i);
	}
	assert_string_equal(text_of(t, last, "span_name"), "");
	assert_string_equal(text_of(t, last, "task"), "red");
	assert_string_equal(text_of(t, last, "thread"), "t7");
}

static void spans_beyond_half_the_share_leave_their_task(void **state)
{
	struct test *t = *state;
	size_t before = profile_memory(t->profile);
	uint32_t last = labels_of_task(t, SELF, 7, "red", BUDGET_FITS);

	for (uint32_t i = 0; i < 20000; i++)
		last = labels_of_span(t, "red", i);
	assert_in_range(profile_memory(t->profile) - before, SHARE / 4, SHARE);
	assert_in_range(sample_labels_over_budget(t->labels), 10000, 19990);
	assert_string_equal(text_of(t, last, "span_id"), "");
	assert_string_equal(text_of(t, last, "task"), "red");
	last = labels_of_span(t, NULL, 20000);
	assert_string_equal(text_of(t, last, "span_id"), "");
	assert_string_equal(text_of(t, last, "thread"), "t7");
	assert_string_equal(text_of(t, labels_of_span(t, "red", 7), "span_id"), "00cd000007000000");
}

static void tasks_beyond_half_the_share_leave_room_for_threads(void **state)
{
	struct test *t = *state;
	size_t before = profile_memory(t->profile);
	uint32_t last = 0;
	char name[16];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "Task-%d", i);
		last = labels_of_task(t, SELF, 1, name, BUDGET_FITS);
	}
	assert_in_range(profile_memory(t->profile) - before, SHARE / 4, SHARE);
	assert_in_range(sample_labels_over_budget(t->labels), 10000, 19990);
	assert_string_equal(text_of(t, last, "task"), "");
	assert_string_equal(text_of(t, last, "thread"), "t1");
	assert_string_equal(text_of(t, labels_of(t, SELF, 2, BUDGET_FITS), "thread"), "t2");
	/* What was there before is used on. */
	assert_string_equal(text_of(t, labels_of_task(t, SELF, 1, "Task-7", BUDGET_FITS), "task"),
			    "Task-7");
}

static void threads_beyond_the_share_have_their_process_only(void **state)
{
	struct test *t = *state;
	size_t before = profile_memory(t->profile);
	uint32_t first = labels_of(t, SELF, 1, BUDGET_FITS), last = 0;

	for (uint32_t tid = 1; tid <= 100000; tid++)
		last = labels_of(t, SELF, tid, BUDGET_FITS);
	assert_in_range(profile_memory(t->profile) - before, SHARE / 2, 2 * SHARE);
	assert_in_range(sample_labels_over_budget(t->labels), 90000, 99900);
	assert_string_equal(text_of(t, last, "thread"), "");
	assert_string_equal(text_of(t, last, "process"), text_of(t, first, "process"));
	assert_int_equal(labels_of(t, SELF, 77777, BUDGET_FITS), last);
	/* What was there before is used on. */
	assert_int_equal(labels_of(t, SELF, 1, BUDGET_FITS), first);
	assert_int_equal(labels_of(t, SELF, 1, BUDGET_FAR_OVER), first);
}

static void processes_beyond_the_share_have_one_label_for_all(void **state)
{
	struct test *t = *state;
	size_t before = profile_memory(t->profile);
	uint32_t last = 0;

	for (uint32_t pid = 2; pid <= 100000; pid++)
		last = labels_of(t, pid, pid, BUDGET_FITS);
	assert_in_range(profile_memory(t->profile) - before, SHARE / 2, 3 * SHARE);
	assert_true(is_any(t, last));
	assert_string_equal(text_of(t, labels_of(t, 2, 2, BUDGET_FITS), "thread"), "t2");
}

static void little_is_added_when_the_budget_is_used_up(void **state)
{
	struct test *t = *state;
	uint32_t known = labels_of(t, SELF, 1, BUDGET_FITS);
	size_t before = profile_memory(t->profile);

	/* A new process of a few still has its name, */
	assert_string_equal(text_of(t, labels_of(t, 5, 5, BUDGET_OVER), "process"), "t5");
	assert_string_equal(text_of(t, labels_of(t, 5, 5, BUDGET_OVER), "thread"), "");
	for (uint32_t pid = 6; pid <= 20000; pid++)
		labels_of(t, pid, pid, BUDGET_OVER);
	assert_in_range(profile_memory(t->profile) - before, 0, SHARE / 2);
	assert_true(is_any(t, labels_of(t, 20000, 20000, BUDGET_OVER)));
	/* and when nothing may be added, what is there stays. */
	before = profile_memory(t->profile);
	for (uint32_t pid = 30000; pid <= 40000; pid++)
		assert_true(is_any(t, labels_of(t, pid, pid, BUDGET_FAR_OVER)));
	assert_int_equal(profile_memory(t->profile), before);
	assert_int_equal(labels_of(t, SELF, 1, BUDGET_FAR_OVER), known);
}

static void without_a_share_all_threads_have_labels(void **state)
{
	struct test *t = *state;

	begin(t, 0);
	for (uint32_t tid = 1; tid <= 20000; tid++)
		assert_string_not_equal(text_of(t, labels_of(t, SELF, tid, BUDGET_FITS), "thread"),
					"");
	assert_int_equal(sample_labels_over_budget(t->labels), 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(thread_has_all_its_labels),
		TEST(the_runtimes_name_counts_where_the_systems_says_less),
		TEST(a_sample_of_a_task_says_so),
		TEST(a_sample_in_a_span_has_its_ids_and_name),
		TEST(spans_without_room_for_ids_keep_their_names),
		TEST(spans_beyond_half_the_share_leave_their_task),
		TEST(tasks_beyond_half_the_share_leave_room_for_threads),
		TEST(threads_beyond_the_share_have_their_process_only),
		TEST(processes_beyond_the_share_have_one_label_for_all),
		TEST(little_is_added_when_the_budget_is_used_up),
		TEST(without_a_share_all_threads_have_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
