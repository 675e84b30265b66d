// SPDX-License-Identifier: Apache-2.0
#include "jfr/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void what_programs_were_started_with_is_secret(void **state)
{
	static const struct {
		const char *event, *field;
		bool is_secret;
	} cases[] = {
		{ "jdk.InitialEnvironmentVariable", "value", true },
		{ "jdk.InitialEnvironmentVariable", "key", false },
		{ "com.oracle.jdk.InitialSystemProperty", "value", true },
		{ "jdk.SystemProcess", "commandLine", true },
		{ "jdk.SystemProcess", "pid", false },
		{ "jdk.JVMInformation", "jvmArguments", true },
		{ "jdk.JVMInformation", "javaArguments", true },
		{ "jdk.JVMInformation", "jvmVersion", false },
		{ "jdk.JavaExceptionThrow", "message", true },
		{ "jdk.VirtualThreadSubmitFailed", "exceptionMessage", true },
		{ "jdk.StringFlag", "value", true },
		{ "jdk.LongFlag", "value", false },
		{ "jdk.ActiveSetting", "value", false },
		{ "InitialSystemProperty", "value", true },
		{ "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(secret_is(cases[i].event, cases[i].field), cases[i].is_secret);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_programs_were_started_with_is_secret),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/secret", tests, NULL, NULL);
}
