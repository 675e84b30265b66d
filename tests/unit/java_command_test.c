// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "jfr/java_command.h"

#define N_ITEMS(list) (sizeof(list) / sizeof(*(list)))

static void command_is_called_as_people_call_it(void **state)
{
	static const struct {
		const char *command, *name, *version;
	} cases[] = {
		{ "/app/orders-1.2.jar", "orders", "1.2" },
		{ "orders-service-1.2.3-SNAPSHOT.jar --server.port=80", "orders-service",
		  "1.2.3-SNAPSHOT" },
		{ "/opt/orders-v2.jar", "orders", "v2" },
		{ "orders-2fa-server.jar", "orders-2fa-server", "" },
		{ "orders-1-SNAPSHOT.jar", "orders", "1-SNAPSHOT" },
		{ "/Program Files/orders.jar x.jar", "orders", "" },
		{ "C:\\apps\\orders-all.jar", "orders", "" },
		{ "orders-runner.jar", "orders", "" },
		{ "quarkus-run.jar", "", "" },
		{ "app.jar", "app", "" },
		{ ".jar", "jar", "" },
		{ "com.acme.Orders --password=secret", "Orders", "" },
		{ "com.acme.orders.Main", "orders", "" },
		{ "com.acme.orders.server.MainKt", "orders", "" },
		{ "com.Application", "Application", "" },
		{ "com.acme.OrdersKt", "Orders", "" },
		{ "Main", "Main", "" },
		{ "shop.orders/com.acme.Orders", "Orders", "" },
		{ "jdk.compiler/com.sun.tools.javac.launcher.Main L.java x.jar", "javac", "" },
		{ "org.springframework.boot.loader.launch.JarLauncher", "", "" },
		{ "io.quarkus.bootstrap.runner.QuarkusEntryPoint", "", "" },
		{ "org.apache.catalina.startup.Bootstrap start", "tomcat", "" },
		{ "/opt/wildfly/jboss-modules.jar -mp /x", "wildfly", "" },
		{ "kafka.Kafka config/server.properties", "Kafka", "" },
		{ "", "", "" },
		{ "   ", "", "" },
		{ "/", "", "" },
		{ "...", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		struct java_command c;

		java_command_parse(cases[i].command, &c);
		if (c.name_len != strlen(cases[i].name))
			print_message("%s: %.*s\n", cases[i].command, (int)c.name_len, c.name);
		assert_int_equal(c.name_len, strlen(cases[i].name));
		assert_memory_equal(c.name, cases[i].name, c.name_len);
		assert_int_equal(c.version_len, strlen(cases[i].version));
		assert_memory_equal(c.version, cases[i].version, c.version_len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_is_called_as_people_call_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
