// SPDX-License-Identifier: Apache-2.0
#include "jfr/workload.h"

#include <ctype.h>
#include <string.h>

#include "jfr/java_command.h"
#include "jfr/jvm_facts.h"
#include "jfr/pod_owner.h"
#include "jfr/workload_name.h"

#define WHOLE SIZE_MAX

struct key {
	const char *key;
	enum workload_field field;
	enum workload_trust trust;
};

static const struct key environment_keys[] = {
	{ "OTEL_SERVICE_NAME", WORKLOAD_SERVICE, TRUST_OTEL },
	{ "DD_SERVICE", WORKLOAD_SERVICE, TRUST_AGENT },
	{ "DD_VERSION", WORKLOAD_VERSION, TRUST_AGENT },
	{ "ELASTIC_APM_SERVICE_NAME", WORKLOAD_SERVICE, TRUST_AGENT },
	{ "ELASTIC_APM_SERVICE_VERSION", WORKLOAD_VERSION, TRUST_AGENT },
	{ "PYROSCOPE_APPLICATION_NAME", WORKLOAD_SERVICE, TRUST_AGENT },
	{ "SPRING_APPLICATION_NAME", WORKLOAD_SERVICE, TRUST_FRAMEWORK },
	{ "SERVICE_NAME", WORKLOAD_SERVICE, TRUST_HABIT },
	{ "APP_NAME", WORKLOAD_SERVICE, TRUST_HABIT },
	{ "HOSTNAME", WORKLOAD_HOST, TRUST_HABIT },
	{ "NODE_NAME", WORKLOAD_NODE, TRUST_HABIT },
	{ "K8S_NODE_NAME", WORKLOAD_NODE, TRUST_HABIT },
	{ "MY_NODE_NAME", WORKLOAD_NODE, TRUST_HABIT },
	{ "POD_NAME", WORKLOAD_POD, TRUST_HABIT },
	{ "K8S_POD_NAME", WORKLOAD_POD, TRUST_HABIT },
	{ "KUBERNETES_POD_NAME", WORKLOAD_POD, TRUST_HABIT },
	{ "MY_POD_NAME", WORKLOAD_POD, TRUST_HABIT },
	{ "POD_UID", WORKLOAD_POD_UID, TRUST_HABIT },
	{ "K8S_POD_UID", WORKLOAD_POD_UID, TRUST_HABIT },
	{ "POD_NAMESPACE", WORKLOAD_NAMESPACE, TRUST_HABIT },
	{ "K8S_NAMESPACE", WORKLOAD_NAMESPACE, TRUST_HABIT },
	{ "K8S_POD_NAMESPACE", WORKLOAD_NAMESPACE, TRUST_HABIT },
	{ "KUBERNETES_NAMESPACE", WORKLOAD_NAMESPACE, TRUST_HABIT },
	{ "MY_POD_NAMESPACE", WORKLOAD_NAMESPACE, TRUST_HABIT },
	{ "CONTAINER_NAME", WORKLOAD_CONTAINER, TRUST_HABIT },
	{ "K8S_CONTAINER_NAME", WORKLOAD_CONTAINER, TRUST_HABIT },
};

static const struct key property_keys[] = {
	{ "otel.service.name", WORKLOAD_SERVICE, TRUST_OTEL_PROPERTY },
	{ "dd.service", WORKLOAD_SERVICE, TRUST_AGENT },
	{ "dd.version", WORKLOAD_VERSION, TRUST_AGENT },
	{ "elastic.apm.service_name", WORKLOAD_SERVICE, TRUST_AGENT },
	{ "elastic.apm.service_version", WORKLOAD_VERSION, TRUST_AGENT },
	{ "pyroscope.application.name", WORKLOAD_SERVICE, TRUST_AGENT },
	{ "spring.application.name", WORKLOAD_SERVICE, TRUST_FRAMEWORK },
	{ "app.name", WORKLOAD_SERVICE, TRUST_HABIT },
	{ "application.name", WORKLOAD_SERVICE, TRUST_HABIT },
	{ "service.name", WORKLOAD_SERVICE, TRUST_HABIT },
};

/* Of OpenTelemetry's semantic conventions; trust is that of the list they are in. */
static const struct key attribute_keys[] = {
	{ "service.name", WORKLOAD_SERVICE, TRUST_NONE },
	{ "service.version", WORKLOAD_VERSION, TRUST_NONE },
	{ "host.name", WORKLOAD_HOST, TRUST_NONE },
	{ "k8s.node.name", WORKLOAD_NODE, TRUST_NONE },
	{ "k8s.namespace.name", WORKLOAD_NAMESPACE, TRUST_NONE },
	{ "k8s.pod.name", WORKLOAD_POD, TRUST_NONE },
	{ "k8s.pod.uid", WORKLOAD_POD_UID, TRUST_NONE },
	{ "k8s.container.name", WORKLOAD_CONTAINER, TRUST_NONE },
	{ "k8s.deployment.name", WORKLOAD_DEPLOYMENT, TRUST_NONE },
};

#define N_KEYS(keys) (sizeof(keys) / sizeof(*(keys)))

static const struct key *find(const struct key *keys, size_t n, const char *key, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(keys[i].key) == len && !memcmp(keys[i].key, key, len))
			return &keys[i];
	return NULL;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

/* "%2C" is a comma. Returns how many bytes it was made to. */
static size_t percent_decode(const char *text, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < size; i++) {
		int high = i + 2 < len && text[i] == '%' ? hex_digit(text[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(text[i + 2]) : -1;

		if (low < 0) {
			out[n++] = text[i];
			continue;
		}
		out[n++] = (char)(high << 4 | low);
		i += 2;
	}
	return n;
}

static void set_attribute(struct workload *w, enum workload_trust trust, const char *pair,
			  size_t len)
{
	const char *equals = memchr(pair, '=', len);
	char value[WORKLOAD_NAME_MAX];
	const struct key *k;
	size_t key_len;

	if (!equals)
		return;
	for (; isspace((unsigned char)*pair); pair++)
		len--;
	key_len = (size_t)(equals - pair);
	while (key_len && isspace((unsigned char)pair[key_len - 1]))
		key_len--;
	k = find(attribute_keys, N_KEYS(attribute_keys), pair, key_len);
	len -= (size_t)(equals + 1 - pair);
	if (k)
		workload_set(w, k->field, trust, value,
			     percent_decode(equals + 1, len, value, sizeof(value)));
}

/* "service.name=orders,k8s.pod.name=orders-0" */
static void set_attributes(struct workload *w, enum workload_trust trust, const char *list,
			   size_t len)
{
	const char *end = list + len, *comma;

	for (; list < end; list = comma + 1) {
		comma = memchr(list, ',', (size_t)(end - list));
		if (!comma)
			comma = end;
		set_attribute(w, trust, list, (size_t)(comma - list));
	}
}

#define ATTRIBUTES_VARIABLE "OTEL_RESOURCE_ATTRIBUTES"
#define ATTRIBUTES_PROPERTY "otel.resource.attributes"
#define KUBERNETES_VARIABLE "KUBERNETES_SERVICE_HOST"
#define COMMAND_PROPERTY "sun.java.command"

bool workload_wants(const char *key, bool is_environment)
{
	if (!is_environment)
		return find(property_keys, N_KEYS(property_keys), key, strlen(key)) ||
		       !strcmp(key, ATTRIBUTES_PROPERTY) || !strcmp(key, COMMAND_PROPERTY);
	return find(environment_keys, N_KEYS(environment_keys), key, strlen(key)) ||
	       !strcmp(key, ATTRIBUTES_VARIABLE) || !strcmp(key, KUBERNETES_VARIABLE);
}

void workload_environment(struct workload *w, const char *key, const char *value)
{
	const struct key *k = find(environment_keys, N_KEYS(environment_keys), key, strlen(key));

	if (k)
		workload_set(w, k->field, k->trust, value, strlen(value));
	else if (!strcmp(key, ATTRIBUTES_VARIABLE))
		set_attributes(w, TRUST_ATTRIBUTES, value, strlen(value));
	else if (!strcmp(key, KUBERNETES_VARIABLE))
		w->is_kubernetes = true;
}

static void set_property(struct workload *w, const char *key, size_t key_len, const char *value,
			 size_t value_len)
{
	const struct key *k = find(property_keys, N_KEYS(property_keys), key, key_len);
	static const char list[] = ATTRIBUTES_PROPERTY;

	if (k)
		workload_set(w, k->field, k->trust, value, value_len);
	else if (key_len == strlen(list) && !memcmp(key, list, key_len))
		set_attributes(w, TRUST_PROPERTY_LIST, value, value_len);
}

void workload_property(struct workload *w, const char *key, const char *value)
{
	if (!strcmp(key, COMMAND_PROPERTY))
		workload_java_arguments(w, value);
	else
		set_property(w, key, strlen(key), value, strlen(value));
}

void workload_jvm_arguments(struct workload *w, const char *arguments)
{
	while (*arguments) {
		size_t len = strcspn(arguments, " ");
		const char *equals = memchr(arguments, '=', len);

		if (len > 2 && !memcmp(arguments, "-D", 2) && equals)
			set_property(w, arguments + 2, (size_t)(equals - arguments) - 2, equals + 1,
				     len - (size_t)(equals + 1 - arguments));
		arguments += len + (arguments[len] == ' ');
	}
}

void workload_java_arguments(struct workload *w, const char *arguments)
{
	struct java_command command;

	java_command_parse(arguments, &command);
	workload_set(w, WORKLOAD_PROGRAM, TRUST_COMMAND, command.name, command.name_len);
	workload_set(w, WORKLOAD_VERSION, TRUST_COMMAND, command.version, command.version_len);
}

void workload_facts(struct workload *w, const struct jvm_facts *facts)
{
	workload_jvm_arguments(w, facts->arguments);
	workload_java_arguments(w, facts->java_arguments);
	for (size_t i = 0; i < facts->n_keys; i++) {
		const struct fact *f = &facts->keys[i];

		if (f->is_environment)
			workload_environment(w, f->key, jvm_facts_value(facts, f));
		else
			workload_property(w, f->key, jvm_facts_value(facts, f));
	}
}

static void forget_derived(struct workload *w)
{
	static const enum workload_field derived[] = { WORKLOAD_SERVICE, WORKLOAD_POD,
						       WORKLOAD_DEPLOYMENT };

	for (size_t i = 0; i < sizeof(derived) / sizeof(*derived); i++)
		if (w->names[derived[i]].trust <= TRUST_DERIVED)
			w->names[derived[i]] = (struct workload_name){ 0 };
}

static void derive(struct workload *w, enum workload_field field, enum workload_trust trust,
		   enum workload_field from, size_t len)
{
	const struct workload_name *name = &w->names[from];

	if (name->trust)
		workload_set(w, field, trust, name->text,
			     len < sizeof(name->text) ? len : strlen(name->text));
}

void workload_finish(struct workload *w)
{
	const char *pod = w->names[WORKLOAD_POD].text, *host = w->names[WORKLOAD_HOST].text;
	struct pod_owner owner;

	forget_derived(w);
	/* In a pod HOSTNAME is its name, unless it has its node's network. */
	if (w->is_kubernetes && pod_owner_of(host).is_random)
		derive(w, WORKLOAD_POD, TRUST_DERIVED, WORKLOAD_HOST, WHOLE);
	owner = pod_owner_of(pod);
	if (owner.is_deployment)
		derive(w, WORKLOAD_DEPLOYMENT, TRUST_DERIVED, WORKLOAD_POD, owner.len);
	derive(w, WORKLOAD_SERVICE, TRUST_DERIVED, WORKLOAD_DEPLOYMENT, WHOLE);
	if (owner.len)
		derive(w, WORKLOAD_SERVICE, TRUST_DERIVED, WORKLOAD_POD, owner.len);
	derive(w, WORKLOAD_SERVICE, TRUST_COMMAND, WORKLOAD_PROGRAM, WHOLE);
	derive(w, WORKLOAD_SERVICE, TRUST_CONTAINER, WORKLOAD_CONTAINER, WHOLE);
}

const char *workload_get(const struct workload *w, enum workload_field field)
{
	return w->names[field].text;
}
