// SPDX-License-Identifier: Apache-2.0
#include "jfr/jvm_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jfr/workload.h"

/* Kubernetes' operators make long lists; what is behind the room for it is left out whole. */
static void long_lists_of_attributes_are_cut_between_two_of_them(void **state)
{
	struct jvm_facts *facts = calloc(1, sizeof(*facts));
	char list[2 * FACT_VALUE_MAX] = "service.name=orders";
	struct workload w = { 0 };
	size_t len = strlen(list);

	(void)state;
	assert_non_null(facts);
	while (len < FACT_VALUE_MAX - 20)
		len += (size_t)snprintf(list + len, sizeof(list) - len, ",key=value");
	snprintf(list + len, sizeof(list) - len, ",k8s.pod.name=orders-7b5f8d4c9b-x2kpq");
	jvm_facts_set(facts, true, "OTEL_RESOURCE_ATTRIBUTES", list);
	workload_facts(&w, facts);
	workload_finish(&w);
	assert_string_equal(workload_get(&w, WORKLOAD_SERVICE), "orders");
	assert_string_equal(workload_get(&w, WORKLOAD_POD), "");
	free(facts);
}

static void values_have_one_room_together(void **state)
{
	struct jvm_facts *facts = calloc(1, sizeof(*facts));
	char value[FACT_VALUE_MAX] = "", key[16];

	(void)state;
	assert_non_null(facts);
	/* Each longer than the one before it, and then keys without an end. */
	for (size_t len = 0; len < sizeof(value) - 1; len++) {
		value[len] = 'x';
		jvm_facts_set(facts, true, "HOSTNAME", value);
	}
	for (int i = 0; i < 2 * MAX_FACT_KEYS; i++) {
		snprintf(key, sizeof(key), "KEY_%d", i);
		jvm_facts_set(facts, true, key, value);
	}
	assert_true(facts->values_len <= FACT_VALUES_MAX && facts->n_keys <= MAX_FACT_KEYS);
	for (size_t i = 0; i < facts->n_keys; i++)
		assert_non_null(memchr(jvm_facts_value(facts, &facts->keys[i]), '\0',
				       FACT_VALUES_MAX - facts->keys[i].value));
	jvm_facts_set(facts, true, "HOSTNAME", "db1");
	assert_string_equal(jvm_facts_value(facts, &facts->keys[0]), "db1");
	free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_lists_of_attributes_are_cut_between_two_of_them),
		cmocka_unit_test(values_have_one_room_together),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/jvm_facts", tests, NULL, NULL);
}
