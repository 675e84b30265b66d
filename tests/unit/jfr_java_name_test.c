// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jfr/java_name.h"

static void classes_are_named_as_in_java(void **state)
{
	static const struct {
		const char *jvm, *name;
	} cases[] = {
		{ "java/lang/String", "java.lang.String" },
		{ "Load", "Load" },
		{ "", "" },
		{ "Outer$Inner$1", "Outer$Inner$1" },
		{ "[B", "byte[]" },
		{ "[[D", "double[][]" },
		{ "[Z", "boolean[]" },
		{ "[[Ljava/lang/String;", "java.lang.String[][]" },
		{ "[", "[]" },
		{ "[L;", "[]" },
		{ "B", "B" }, /* a class of this name */
		{ "LFoo;", "LFoo;" },
		{ "a/b/café", "a.b.café" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[64];

		assert_string_equal(java_class_name(cases[i].jvm, name, sizeof(name)),
				    cases[i].name);
	}
}

static void what_is_waited_for_is_no_lock(void **state)
{
	static const struct {
		const char *name;
		bool is_waited_for;
	} cases[] = {
		{ "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", true },
		{ "java.util.concurrent.SynchronousQueue$TransferStack", true },
		{ "java.util.concurrent.CompletableFuture$Signaller", true },
		{ "java.util.concurrent.CountDownLatch$Sync", true },
		{ "java.util.concurrent.ForkJoinPool", true },
		{ "java.util.concurrent.locks.ReentrantLock$NonfairSync", false },
		{ "java.util.concurrent.locks.ReentrantReadWriteLock$FairSync", false },
		{ "java.util.concurrent.locks.StampedLock", false },
		{ "java.util.concurrent.Semaphore$NonfairSync", false },
		{ "com.example.OwnLock", false },
		{ "java.util.concurrentish.Queue", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(java_class_is_waited_for(cases[i].name), cases[i].is_waited_for);
}

static void the_number_of_a_hidden_class_is_left_out(void **state)
{
	static const struct {
		const char *jvm, *name;
	} cases[] = {
		{ "Load$$Lambda$76/1234567890", "Load$$Lambda" },		 /* 8, 11 */
		{ "p.Load$$Lambda$103+0x00007f98/268904057", "p.Load$$Lambda" }, /* 17 */
		{ "p.Load$$Lambda/0x0000000033047440", "p.Load$$Lambda" },	 /* 21, 25 */
		{ "java.lang.invoke.LambdaForm$MH+0x00007f/123", "java.lang.invoke.LambdaForm$MH" },
		{ "java/lang/invoke/LambdaForm$DMH/0x000001", "java.lang.invoke.LambdaForm$DMH" },
		{ "java/lang/invoke/LambdaForm$MH$17/0x01", "java.lang.invoke.LambdaForm$MH$17" },
		{ "[Lp.Load$$Lambda/0x0000000033047440;", "p.Load$$Lambda[]" },
		{ "p.Load$$Lambda$3.0x00007f0770002000", "p.Load$$Lambda" }, /* async-profiler */
		{ "p.Load$$Lambda.0x0000000033047440", "p.Load$$Lambda" },
		{ "java.lang.invoke.LambdaForm$MH.0x00007f00", "java.lang.invoke.LambdaForm$MH" },
		/* packages that look like one */
		{ "p/cafe", "p.cafe" },
		{ "p/dead/beef", "p.dead.beef" },
		{ "/1", ".1" },
		{ "p/", "p." },
		{ "Load$$Lambda$76", "Load$$Lambda$76" },
		{ "p.0x", "p.0x" },
		{ "p.00", "p.00" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[64];

		assert_string_equal(java_class_name(cases[i].jvm, name, sizeof(name)),
				    cases[i].name);
	}
}

static void a_name_is_cut_to_its_room(void **state)
{
	static const char *const names[] = { "[[[[Ljava/lang/String;", "[[[[I", "java/lang/String",
					     "p.Load$$Lambda$103+0x00007f98/268904057" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t size = 1; size < 48; size++) {
			char *out = malloc(size);

			assert_non_null(out);
			assert_true(strlen(java_class_name(names[i], out, size)) < size);
			free(out);
		}
}

static void survives_mutation(void **state)
{
	static const char good[] = "[[Lp/Load$$Lambda$103+0x00007f98/268904057;";

	(void)state;
	for (size_t len = 0; len < sizeof(good); len++)
		for (unsigned int bit = 0; bit < 8 * len || !bit; bit++) {
			char *name = strndup(good, len), out[48];

			assert_non_null(name);
			if (len)
				name[bit / 8] = (char)(name[bit / 8] ^ 1 << bit % 8);
			assert_true(strlen(java_class_name(name, out, sizeof(out))) <= len + 8);
			free(name);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_named_as_in_java),
		cmocka_unit_test(the_number_of_a_hidden_class_is_left_out),
		cmocka_unit_test(what_is_waited_for_is_no_lock),
		cmocka_unit_test(a_name_is_cut_to_its_room),
		cmocka_unit_test(survives_mutation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/java_name", tests, NULL, NULL);
}
