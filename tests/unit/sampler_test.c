// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "bpf/sampler.h"
#include "core/options.h"
#include "core/profile.h"

static void a_sampler_is_found_by_its_name(void **state)
{
	(void)state;
	assert_string_equal(sampler_find(NULL)->name, "cpu");
	assert_string_equal(sampler_find("cpu")->name, "cpu");
	assert_string_equal(sampler_find("gil")->name, "gil");
	assert_string_equal(sampler_find("cycles")->name, "cycles");
	assert_null(sampler_find("cycle"));
	assert_null(sampler_find("cpu,cycles"));
	assert_null(sampler_find(""));
}

/* The option table stands below bpf/ and cannot ask it. */
static void completion_proposes_what_there_is(void **state)
{
	char names[SAMPLER_NAMES_MAX], words[SAMPLER_NAMES_MAX] = "";
	const struct option_info *table, *event = NULL;
	size_t n;

	(void)state;
	table = options_table(&n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].name, "event"))
			event = &table[i];
	assert_non_null(event);
	for (const char *s = event->words; *s; s++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words),
			 *s == ' ' ? ",%c" : "%c", *s);
	assert_string_equal(words, sampler_names(names));
}

static void a_cpu_profile_has_its_period_from_the_start(void **state)
{
	struct profile *p = profile_new();
	const struct profile_header *h = profile_get_header(p);
	const struct sampler_ops *cpu = sampler_find("cpu");

	(void)state;
	sampler_begin_profile(cpu, p, 10101010);
	sampler_end_profile(cpu, p);
	assert_int_equal(h->n_sample_types, 2);
	assert_string_equal(profile_get_string(p, h->sample_types[0].type), "samples");
	assert_string_equal(profile_get_string(p, h->sample_types[1].type), "cpu");
	assert_string_equal(profile_get_string(p, h->period_type.unit), "nanoseconds");
	assert_int_equal(h->period, 10101010);
	profile_free(p);
}

static void the_period_of_cycles_is_what_a_sample_was_worth(void **state)
{
	const struct sampler_ops *cycles = sampler_find("cycles");
	struct profile *p = profile_new();
	const struct profile_header *h = profile_get_header(p);

	(void)state;
	sampler_begin_profile(cycles, p, 10101010);
	sampler_end_profile(cycles, p);
	assert_int_equal(h->period, 0);
	profile_add(p, 0, 0, 0, (int64_t[MAX_VALUES]){ 1, 1000 });
	profile_add(p, 0, 0, 0, (int64_t[MAX_VALUES]){ 3, 5000 });
	sampler_end_profile(cycles, p);
	assert_int_equal(h->period, 1500);
	assert_string_equal(profile_get_string(p, h->period_type.type), "cycles");
	assert_string_equal(profile_get_string(p, h->period_type.unit), "count");
	assert_string_equal(profile_get_string(p, h->default_sample_type), "cycles");
	profile_free(p);
}

static void the_sum_of_waits_is_exact(void **state)
{
	static const struct {
		uint64_t exact, n_unread;
		int64_t want[3];
	} cases[] = {
		{ 9000, 0, { 1000, 2000, 6000 } },
		{ 18001, 0, { 2000, 4000, 12001 } },
		{ 3, 0, { 0, 1, 2 } },
		/* nothing is known, or not of these samples alone */
		{ 0, 0, { 1000, 2000, 6000 } },
		{ 18000, 1, { 1000, 2000, 6000 } },
	};
	const struct sampler_ops *gil = sampler_find("gil");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = profile_new();
		int64_t sum = 0;

		sampler_begin_profile(gil, p, 10101010);
		for (uint32_t k = 0; k < 3; k++)
			profile_add(p, k + 1, 0, 0,
				    (int64_t[MAX_VALUES]){ 1, (int64_t[]){ 1000, 2000, 6000 }[k] });
		profile_count(p, "gil.ns", cases[i].exact);
		profile_count(p, "samples.unread", cases[i].n_unread);
		sampler_end_profile(gil, p);
		for (uint32_t k = 0; k < 3; k++) {
			const struct sample *s = profile_get_sample(p, k);

			assert_int_equal(s->values[0], 1);
			assert_int_equal(s->values[1], cases[i].want[k]);
			sum += s->values[1];
		}
		assert_int_equal(profile_get_header(p)->period, sum / 3);
		profile_free(p);
	}
}

static void the_profile_of_the_gil_says_why_it_is_empty(void **state)
{
	static const struct {
		uint64_t n_pythons, n_free_threaded, n_waits;
		const char *why;
	} cases[] = {
		{ 0, 0, 0, "there is no CPython in it that weft knows" },
		{ 2, 0, 0, "no thread waited for the GIL" },
		{ 2, 1, 0, "no thread waited for the GIL" },
		{ 2, 2, 0, "its CPython is free-threaded: without a GIL" },
		{ 2, 0, 1,
		  "threads waited for the GIL, but too little for a sample (try a higher --freq)" },
	};
	const struct sampler_ops *gil = sampler_find("gil");

	(void)state;
	assert_null(sampler_find("cpu")->nothing);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = profile_new();

		sampler_begin_profile(gil, p, 10101010);
		profile_count(p, "python.processes", cases[i].n_pythons);
		profile_count(p, "python.free_threaded", cases[i].n_free_threaded);
		profile_count(p, "gil.waits", cases[i].n_waits);
		assert_string_equal(gil->nothing(p), cases[i].why);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sampler_is_found_by_its_name),
		cmocka_unit_test(completion_proposes_what_there_is),
		cmocka_unit_test(a_cpu_profile_has_its_period_from_the_start),
		cmocka_unit_test(the_period_of_cycles_is_what_a_sample_was_worth),
		cmocka_unit_test(the_sum_of_waits_is_exact),
		cmocka_unit_test(the_profile_of_the_gil_says_why_it_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
