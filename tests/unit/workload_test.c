// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "jfr/jvm_facts.h"
#include "jfr/workload.h"
#include "jfr/workload_name.h"
#include "tests/unit/mutation.h"

#define N_ITEMS(list) (sizeof(list) / sizeof(*(list)))
#define MAX_FACTS 6

/* What a recording says: an environment variable, a property, arguments; or where it lies. */
struct said {
	enum { ENV = 1, PROP, JVM, JAVA, PATH, TEMPLATE } kind;
	const char *key, *value;
};

static void add(struct workload *w, const struct said *f)
{
	switch (f->kind) {
	case ENV:
		workload_environment(w, f->key, f->value);
		break;
	case PROP:
		workload_property(w, f->key, f->value);
		break;
	case JVM:
		workload_jvm_arguments(w, f->key);
		break;
	case JAVA:
		workload_java_arguments(w, f->key);
		break;
	case PATH:
		workload_path(w, f->key);
		break;
	case TEMPLATE:
		assert_true(workload_template(w, f->key, f->value));
		break;
	}
}

static void is_field(const struct said *facts, enum workload_field field, const char *expected)
{
	struct workload forward = { 0 }, backward = { 0 };
	size_t n = 0;

	for (; n < MAX_FACTS && facts[n].kind; n++) {
		add(&forward, &facts[n]);
		workload_finish(&forward);
	}
	assert_string_equal(workload_get(&forward, field), expected);
	while (n)
		add(&backward, &facts[--n]);
	workload_finish(&backward);
	assert_string_equal(workload_get(&backward, field), expected);
}

#define LOG_PATH                                                                               \
	"/var/log/pods/shop_orders-7b5f8d4c9b-x2kpq_0a1b2c3d-0000-4000-8000-123456789abc/app/" \
	"x.jfr"

static void better_source_of_a_service_wins_in_any_order(void **state)
{
	/* Each is better than the ones after it. */
	static const struct {
		struct said fact;
		const char *service;
	} order[] = {
		{ { PROP, "otel.service.name", "otel-property" }, "otel-property" },
		{ { ENV, "OTEL_SERVICE_NAME", "otel-env" }, "otel-env" },
		{ { PROP, "otel.resource.attributes", "a=b,service.name=property-list" },
		  "property-list" },
		{ { ENV, "OTEL_RESOURCE_ATTRIBUTES", "service.name=env-list,x=y" }, "env-list" },
		{ { ENV, "DD_SERVICE", "agents" }, "agents" },
		{ { PROP, "spring.application.name", "springs" }, "springs" },
		{ { PROP, "app.name", "habit" }, "habit" },
		{ { TEMPLATE, "/data/{service}/", "/data/template/x.jfr" }, "template" },
		{ { PATH, LOG_PATH, NULL }, "orders" },
		{ { JAVA, "/app/jar-1.2.jar --password=secret", NULL }, "jar" },
		{ { TEMPLATE, "/data/{container}/", "/data/sidecar/x.jfr" }, "sidecar" },
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(order); i++) {
		for (size_t k = i; k < N_ITEMS(order); k++) {
			const struct said facts[MAX_FACTS] = { order[i].fact, order[k].fact };

			is_field(facts, WORKLOAD_SERVICE, order[i].service);
		}
	}
}

static void each_field_has_its_sources(void **state)
{
	static const struct {
		struct said facts[MAX_FACTS];
		enum workload_field field;
		const char *value;
	} cases[] = {
		{ { { ENV, "HOSTNAME", "web7" } }, WORKLOAD_HOST, "web7" },
		{ { { ENV, "HOSTNAME", "web7" },
		    { ENV, "OTEL_RESOURCE_ATTRIBUTES", "host.name=web7.example.org" } },
		  WORKLOAD_HOST,
		  "web7.example.org" },
		{ { { ENV, "POD_NAME", "orders-7b5f8d4c9b-x2kpq" } },
		  WORKLOAD_DEPLOYMENT,
		  "orders" },
		{ { { ENV, "POD_NAME", "a-pod" }, { PATH, LOG_PATH, NULL } },
		  WORKLOAD_POD,
		  "a-pod" },
		{ { { PATH, LOG_PATH, NULL }, { ENV, "POD_NAME", "bills-7b5f8d4c9b-x2kpq" } },
		  WORKLOAD_DEPLOYMENT,
		  "bills" },
		{ { { PATH, LOG_PATH, NULL } }, WORKLOAD_POD, "orders-7b5f8d4c9b-x2kpq" },
		{ { { PATH, LOG_PATH, NULL } }, WORKLOAD_NAMESPACE, "shop" },
		{ { { PATH, LOG_PATH, NULL } }, WORKLOAD_CONTAINER, "app" },
		{ { { PATH, LOG_PATH, NULL } },
		  WORKLOAD_POD_UID,
		  "0a1b2c3d-0000-4000-8000-123456789abc" },
		{ { { PATH, "/host" LOG_PATH, NULL } }, WORKLOAD_NAMESPACE, "shop" },
		{ { { PATH,
		      "/var/lib/kubelet/pods/0a1b2c3d-0000-4000-8000-123456789abc/volumes/"
		      "kubernetes.io~empty-dir/jfr/x.jfr",
		      NULL } },
		  WORKLOAD_POD_UID,
		  "0a1b2c3d-0000-4000-8000-123456789abc" },
		{ { { PATH, "/var/log/pods/shop_orders_not-a-uid/app/x.jfr", NULL } },
		  WORKLOAD_POD,
		  "" },
		{ { { PATH, "/var/lib/kubelet/pods/../x.jfr", NULL } }, WORKLOAD_POD_UID, "" },
		{ { { ENV, "OTEL_RESOURCE_ATTRIBUTES",
		      " k8s.namespace.name = shop%2C%20two , "
		      "k8s.pod.name=p,k8s.deployment.name=d" } },
		  WORKLOAD_NAMESPACE,
		  "shop, two" },
		{ { { ENV, "OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=p,k8s.deployment.name=d" } },
		  WORKLOAD_DEPLOYMENT,
		  "d" },
		{ { { ENV, "OTEL_RESOURCE_ATTRIBUTES", "k8s.deployment.name=d" } },
		  WORKLOAD_SERVICE,
		  "d" },
		{ { { JVM, "-Xmx1g -Dotel.service.name=orders -Dother.password=x", NULL } },
		  WORKLOAD_SERVICE,
		  "orders" },
		{ { { JVM, "-Dotel.resource.attributes=service.version=3,host.name=h -Xms1g",
		      NULL } },
		  WORKLOAD_HOST,
		  "h" },
		{ { { JAVA, "/app/orders-1.2.jar", NULL } }, WORKLOAD_VERSION, "1.2" },
		{ { { ENV, "NODE_NAME", "node-3" } }, WORKLOAD_NODE, "node-3" },
		/* In a pod the host's name is the pod's, if it looks like one. */
		{ { { ENV, "HOSTNAME", "logs-x2kpq" },
		    { ENV, "KUBERNETES_SERVICE_HOST", "10.0.0.1" } },
		  WORKLOAD_POD,
		  "logs-x2kpq" },
		{ { { ENV, "HOSTNAME", "logs-x2kpq" },
		    { ENV, "KUBERNETES_SERVICE_HOST", "10.0.0.1" } },
		  WORKLOAD_SERVICE,
		  "logs" },
		{ { { ENV, "HOSTNAME", "node-1" }, { ENV, "KUBERNETES_SERVICE_HOST", "10.0.0.1" } },
		  WORKLOAD_POD,
		  "" },
		{ { { ENV, "HOSTNAME", "logs-x2kpq" } }, WORKLOAD_POD, "" },
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++)
		is_field(cases[i].facts, cases[i].field, cases[i].value);
}

static void first_of_two_that_count_the_same_stays(void **state)
{
	struct workload w = { 0 };

	(void)state;
	workload_environment(&w, "POD_NAME", "first");
	workload_environment(&w, "K8S_POD_NAME", "second");
	assert_string_equal(workload_get(&w, WORKLOAD_POD), "first");
}

static void only_known_keys_are_looked_at(void **state)
{
	static const char *const keys[] = {
		"AWS_SECRET_ACCESS_KEY", "PASSWORD", "otel.service.names",
		"OTEL_SERVICE_NAM",	 "",	     "HOSTNAME2"
	};
	struct workload w = { 0 };
	const struct workload nothing = { 0 };

	(void)state;
	for (size_t i = 0; i < N_ITEMS(keys); i++) {
		workload_environment(&w, keys[i], "secret");
		workload_property(&w, keys[i], "secret");
	}
	workload_jvm_arguments(&w, "-Dpassword=secret --module-path secret -D= -D -Dx");
	workload_environment(&w, "OTEL_RESOURCE_ATTRIBUTES", "password=secret,=,,x,service.name");
	workload_finish(&w);
	assert_memory_equal(&w, &nothing, sizeof(w));
}

static void facts_of_a_jvm_say_all_at_once(void **state)
{
	static struct jvm_facts facts = {
		.arguments = "-Ddd.version=7",
		.java_arguments = "/app/orders-1.2.jar",
	};
	struct workload w = { 0 };

	(void)state;
	jvm_facts_set(&facts, true, "HOSTNAME", "orders-7b5f8d4c9b-x2kpq");
	jvm_facts_set(&facts, true, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
	jvm_facts_set(&facts, false, "spring.application.name", "order-service");
	for (size_t i = 0; i < facts.n_keys; i++)
		assert_true(workload_wants(facts.keys[i].key, facts.keys[i].is_environment));
	assert_true(workload_wants("sun.java.command", false));
	assert_false(workload_wants("HOSTNAME", false));
	assert_false(workload_wants("AWS_SECRET_ACCESS_KEY", true));
	workload_facts(&w, &facts);
	workload_finish(&w);
	assert_string_equal(workload_get(&w, WORKLOAD_SERVICE), "order-service");
	assert_string_equal(workload_get(&w, WORKLOAD_VERSION), "7");
	assert_string_equal(workload_get(&w, WORKLOAD_DEPLOYMENT), "orders");
	assert_string_equal(workload_get(&w, WORKLOAD_PROGRAM), "orders");
}

static void agents_own_environment_is_not_looked_at(void **state)
{
	struct workload w = { 0 };

	(void)state;
	setenv("POD_NAME", "agent-x2kpq", 1);
	setenv("OTEL_SERVICE_NAME", "agent", 1);
	workload_path(&w, "/data/x.jfr");
	workload_finish(&w);
	assert_string_equal(workload_get(&w, WORKLOAD_POD), "");
	assert_string_equal(workload_get(&w, WORKLOAD_SERVICE), "");
}

static void values_are_cleaned(void **state)
{
	static const struct {
		const char *value, *expected;
	} cases[] = {
		{ "  orders \n", "orders" },
		{ "a\033[31mb", "a\\x1b[31mb" },
		{ "\xff", "\\xff" },
		{ "", "" },
		{ "   ", "" },
		{ "${SERVICE_NAME}", "" },
		{ "$(POD_NAME)", "" },
		{ "unknown_service:java", "" },
		{ "42", "42" }, /* somebody gave it */
	};
	char lengthy[2000];
	struct workload w = { 0 };

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		const struct said facts[MAX_FACTS] = { { ENV, "OTEL_SERVICE_NAME",
							 cases[i].value } };

		is_field(facts, WORKLOAD_SERVICE, cases[i].expected);
	}
	for (size_t i = 0; i + 1 < sizeof(lengthy); i += 2)
		memcpy(lengthy + i, "\xc3\xa4", 2);
	lengthy[sizeof(lengthy) - 1] = 0;
	workload_environment(&w, "OTEL_SERVICE_NAME", lengthy);
	assert_in_range(strlen(workload_get(&w, WORKLOAD_SERVICE)), 200, WORKLOAD_NAME_MAX - 1);
	assert_true(text_is_utf8(workload_get(&w, WORKLOAD_SERVICE),
				 strlen(workload_get(&w, WORKLOAD_SERVICE))));
	assert_null(strstr(workload_get(&w, WORKLOAD_SERVICE), "\\x"));
}

static void times_and_ids_are_no_names(void **state)
{
	static const struct {
		const char *text;
		bool is_name;
	} cases[] = {
		{ "2026_11_20_23_45", false },
		{ "2026_11_20_23_45_01_4711", false },
		{ "2026-11-20T23-45-00Z", false },
		{ "hotspot-pid-4211-id-1-2026_11_20_23_45_01", false },
		{ "hs_err_pid4711", false },
		{ "4711", false },
		{ "0a1b2c3d-0000-4000-8000-123456789abc", false },
		{ "3f2b6c0a9d1e", false },
		{ "", false },
		{ "orders", true },
		{ "orders-2", true },
		{ "2fa-service", true },
		{ "decade", true },
		{ "b\xc3\xbc"
		  "cher",
		  true },
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++)
		assert_int_equal(workload_is_name(cases[i].text, strlen(cases[i].text)),
				 cases[i].is_name);
}

static void template_names_parts_of_a_path(void **state)
{
	static const struct {
		const char *pattern, *path;
		enum workload_field field;
		const char *value; /* NULL: the path is not so */
	} cases[] = {
		{ "/data/{ns}/{pod}/{service}/", "/data/shop/p1/orders/x.jfr", WORKLOAD_SERVICE,
		  "orders" },
		{ "/data/{ns}/{pod}/{service}/", "/data/shop/p1/orders/x.jfr", WORKLOAD_NAMESPACE,
		  "shop" },
		{ "/data/{namespace}/{pod}", "/data/shop/p1/deeper/x.jfr", WORKLOAD_POD, "p1" },
		{ "/data/*/{service}/*.jfr", "/data/any/orders/x.jfr", WORKLOAD_SERVICE, "orders" },
		{ "/data/{ns}_{pod}_{uid}/", "/data/a_b_c/x.jfr", WORKLOAD_POD_UID, "c" },
		{ "/data/{service}-{version}.jfr", "/data/orders-1.2.jfr", WORKLOAD_VERSION,
		  "1.2" },
		{ "/data/{service}.jfr", "/data/orders.jfr.jfr", WORKLOAD_SERVICE, "orders.jfr" },
		{ "/data//{service}", "//data/orders", WORKLOAD_SERVICE, "orders" },
		{ "/data/{service}", "/data//orders///x", WORKLOAD_SERVICE, "orders" },
		{ "/data/{service}/", "/data/2026_11_20_23_45/x.jfr", WORKLOAD_SERVICE, "" },
		{ "/data/{service}/", "/data/orders", WORKLOAD_SERVICE, NULL },
		{ "/data/{service}/", "/date/orders/x.jfr", WORKLOAD_SERVICE, NULL },
		{ "/data/{service}/", "/data/", WORKLOAD_SERVICE, NULL },
		{ "/data/x{service}", "/data/x", WORKLOAD_SERVICE, NULL },
		{ "/data/{host}/dump", "/data/h/dumps", WORKLOAD_HOST, NULL },
		{ "/data/{host}/dump", "/data/h/dump/x.jfr", WORKLOAD_HOST, "h" },
		{ "/{service}", "", WORKLOAD_SERVICE, NULL },
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		struct workload w = { 0 };
		bool is_so = workload_template(&w, cases[i].pattern, cases[i].path);

		if (is_so != !!cases[i].value)
			print_message("%s %s\n", cases[i].pattern, cases[i].path);
		assert_int_equal(is_so, !!cases[i].value);
		assert_string_equal(workload_get(&w, cases[i].field),
				    cases[i].value ? cases[i].value : "");
	}
}

static void template_that_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"/data/x",
		"data/{service}",
		"/{servce}/",
		"/{service",
		"/service}",
		"/{ser/vice}",
		"/{}",
		"/{{service}}",
		"/{ns}{pod}",
		"/*{pod}",
		"/{ns}-{ns}-{ns}-{ns}-{ns}-{ns}-{ns}-{ns}-{ns}-{ns}-{ns}-"
		"{ns}-{ns}-{ns}-{ns}-{ns}-{ns}"
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(bad); i++) {
		struct workload w = { 0 };

		assert_non_null(workload_template_error(bad[i]));
		assert_false(workload_template(&w, bad[i], "/data/x"));
	}
	assert_null(workload_template_error("/data/{ns}/*/{service}/"));
}

static void process_of_a_root_directory_is_known(void **state)
{
	static const struct {
		const char *path;
		uint32_t pid;
	} cases[] = { { "/proc/4711/root/tmp/x.jfr", 4711 },
		      { "/proc/self/root/tmp/x.jfr", 0 },
		      { "/proc/4711/cwd/x.jfr", 0 },
		      { "/proc/99999999999999999999/root/x.jfr", 0 },
		      { "/proc/-1/root/x.jfr", 0 },
		      { "/srv/proc/4711/root/x.jfr", 0 } };

	(void)state;
	for (size_t i = 0; i < N_ITEMS(cases); i++) {
		struct workload w = { 0 };

		workload_path(&w, cases[i].path);
		assert_int_equal(w.host_pid, cases[i].pid);
	}
}

/* Each of them as everything there is; the bytes end in their own allocation. */
static void take_everywhere(const uint8_t *bytes, size_t len)
{
	struct workload w = { 0 };
	char *text = malloc(len + 1);

	memcpy(text, bytes, len);
	text[len] = 0;
	workload_path(&w, text);
	workload_template(&w, text, LOG_PATH);
	workload_template(&w, "/var/*/{ns}_{pod}_{uid}/{service}.jfr", text);
	workload_java_arguments(&w, text);
	workload_jvm_arguments(&w, text);
	workload_property(&w, "otel.resource.attributes", text);
	workload_environment(&w, "OTEL_RESOURCE_ATTRIBUTES", text);
	workload_environment(&w, "HOSTNAME", text);
	workload_environment(&w, "POD_NAME", text);
	workload_finish(&w);
	for (size_t i = 0; i < WORKLOAD_N_FIELDS; i++)
		assert_true(strlen(workload_get(&w, i)) < WORKLOAD_NAME_MAX);
	free(text);
}

static void survives_mutation(void **state)
{
	static const char *const good[] = {
		LOG_PATH,
		"/var/lib/kubelet/pods/0a1b2c3d-0000-4000-8000-123456789abc/volumes/x.jfr",
		"/proc/4711/root/tmp/x.jfr",
		"/var/*/{pod}/{ns}_{service}_{uid}/*/x.jfr",
		"/app/orders-service-1.2.3-SNAPSHOT.jar x",
		"shop/com.acme.orders.MainKt",
		"-Dotel.resource.attributes=service.name=a%2Cb,k8s.pod.name=c -Ddd.service=d",
		" service.name = orders%20api ,k8s.pod.name=orders-7b5f8d4c9b-x2kpq,host.name=%",
	};

	(void)state;
	for (size_t i = 0; i < N_ITEMS(good); i++)
		mutate(good[i], strlen(good[i]), take_everywhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(better_source_of_a_service_wins_in_any_order),
		cmocka_unit_test(each_field_has_its_sources),
		cmocka_unit_test(first_of_two_that_count_the_same_stays),
		cmocka_unit_test(only_known_keys_are_looked_at),
		cmocka_unit_test(facts_of_a_jvm_say_all_at_once),
		cmocka_unit_test(agents_own_environment_is_not_looked_at),
		cmocka_unit_test(values_are_cleaned),
		cmocka_unit_test(times_and_ids_are_no_names),
		cmocka_unit_test(template_names_parts_of_a_path),
		cmocka_unit_test(template_that_makes_no_sense_is_refused),
		cmocka_unit_test(process_of_a_root_directory_is_known),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
