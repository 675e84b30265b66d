// SPDX-License-Identifier: Apache-2.0
#include "jfr/jvm_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jfr/metadata.h"
#include "jfr/moment_field.h"
#include "jfr/workload.h"

bool jvm_facts_wants(const char *type)
{
	static const char *const types[] = {
		"jdk.JVMInformation",
		"jdk.OSInformation",
		"jdk.CPUInformation",
		"jdk.ContainerConfiguration",
		"jdk.InitialEnvironmentVariable",
		"jdk.InitialSystemProperty",
		"jdk.Shutdown",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

/* How much of a text fits, in whole parts. */
static size_t whole_parts(const char *text, size_t room, char separator)
{
	size_t len = strlen(text);
	const char *end = len < room ? NULL : memrchr(text, separator, room);

	return len < room ? len : end ? (size_t)(end - text) : 0;
}

static void take_text(const struct moment *m, const char *path, char *out, size_t size)
{
	struct text_room room = { 0 };
	const char *text = moment_text(m, path, &room);

	snprintf(out, size, "%.*s", (int)whole_parts(text, size, ' '), text);
	free(room.text);
}

#define TAKE_TEXT(m, path, out) take_text(m, path, out, sizeof(out))

static struct fact *find_or_add(struct jvm_facts *f, bool is_environment, const char *key)
{
	struct fact *fact = f->keys;

	for (; fact < f->keys + f->n_keys; fact++)
		if (!strcmp(fact->key, key) && fact->is_environment == is_environment)
			return fact;
	if (f->n_keys == MAX_FACT_KEYS || strlen(key) >= sizeof(fact->key) ||
	    f->values_len == FACT_VALUES_MAX)
		return NULL;
	f->n_keys++;
	*fact = (struct fact){ .value = (uint16_t)f->values_len, .is_environment = is_environment };
	snprintf(fact->key, sizeof(fact->key), "%s", key);
	f->values[f->values_len++] = '\0';
	return fact;
}

void jvm_facts_set(struct jvm_facts *f, bool is_environment, const char *key, const char *value)
{
	struct fact *fact = find_or_add(f, is_environment, key);
	size_t len = whole_parts(value, FACT_VALUE_MAX, ',');
	char *at;

	_Static_assert(FACT_VALUES_MAX <= UINT16_MAX, "a value's place");
	if (!fact)
		return;
	at = f->values + fact->value;
	if (len > strlen(at)) { /* a longer one than before goes behind the others */
		if (len >= FACT_VALUES_MAX - f->values_len) {
			*at = '\0'; /* none is better than what it was before */
			return;
		}
		fact->value = (uint16_t)f->values_len;
		at = f->values + f->values_len;
		f->values_len += len + 1;
	}
	memcpy(at, value, len);
	at[len] = '\0';
}

const char *jvm_facts_value(const struct jvm_facts *f, const struct fact *fact)
{
	return f->values + fact->value;
}

static void take_key(struct jvm_facts *f, const struct moment *m, bool is_environment)
{
	struct text_room key_room = { 0 }, value_room = { 0 };
	const char *key = moment_text(m, "key", &key_room);

	if (workload_wants(key, is_environment))
		jvm_facts_set(f, is_environment, key, moment_text(m, "value", &value_room));
	free(key_room.text);
	free(value_room.text);
}

/* As HotSpot counts them: the CPUs of the container, and no more than its quota is worth. */
static void take_container(struct jvm_facts *f, const struct moment *m)
{
	int64_t n = moment_number(m, "effectiveCpuCount", 0);
	int64_t quota = moment_time_at(m, "cpuQuota"), period = moment_time_at(m, "cpuSlicePeriod");
	int64_t worth = quota > 0 && period > 0 ? quota / period + (quota % period > 0) : 0;

	f->n_container_cpus = n > 0 && (!worth || n < worth) ? n : worth;
}

static void take_jvm(struct jvm_facts *f, const struct moment *m)
{
	int64_t start_ms = moment_number(m, "jvmStartTime", f->start_ms);

	if (start_ms != f->start_ms) /* another JVM, which has not ended */
		f->shutdown[0] = '\0';
	f->start_ms = start_ms;
	TAKE_TEXT(m, "jvmName", f->name);
	TAKE_TEXT(m, "jvmVersion", f->version);
	TAKE_TEXT(m, "jvmArguments", f->arguments);
	TAKE_TEXT(m, "javaArguments", f->java_arguments);
	f->pid = moment_number(m, "pid", f->pid);
}

void jvm_facts_take(struct jvm_facts *f, const struct moment *m)
{
	const char *type = m->type->name;

	if (!strcmp(type, "jdk.JVMInformation"))
		take_jvm(f, m);
	else if (!strcmp(type, "jdk.OSInformation"))
		TAKE_TEXT(m, "osVersion", f->os);
	else if (!strcmp(type, "jdk.CPUInformation"))
		f->n_threads = moment_number(m, "hwThreads", f->n_threads);
	else if (!strcmp(type, "jdk.ContainerConfiguration"))
		take_container(f, m);
	else if (!strcmp(type, "jdk.Shutdown"))
		TAKE_TEXT(m, "reason", f->shutdown);
	else
		take_key(f, m, !strcmp(type, "jdk.InitialEnvironmentVariable"));
}

int64_t jvm_facts_n_cpus(const struct jvm_facts *f)
{
	return f->n_container_cpus ? f->n_container_cpus : f->n_threads;
}

bool jvm_facts_equal(const struct jvm_facts *a, const struct jvm_facts *b)
{
	if (strcmp(a->name, b->name) || strcmp(a->version, b->version) ||
	    strcmp(a->arguments, b->arguments) || strcmp(a->java_arguments, b->java_arguments) ||
	    strcmp(a->os, b->os) || strcmp(a->shutdown, b->shutdown) || a->pid != b->pid ||
	    a->start_ms != b->start_ms || a->n_threads != b->n_threads ||
	    a->n_container_cpus != b->n_container_cpus || a->n_keys != b->n_keys)
		return false;
	for (size_t i = 0; i < a->n_keys; i++) {
		const struct fact *x = &a->keys[i], *y = &b->keys[i];

		if (strcmp(x->key, y->key) || x->is_environment != y->is_environment ||
		    strcmp(jvm_facts_value(a, x), jvm_facts_value(b, y)))
			return false;
	}
	return true;
}
