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
		"jdk.JVMInformation",	     "jdk.OSInformation",
		"jdk.CPUInformation",	     "jdk.InitialEnvironmentVariable",
		"jdk.InitialSystemProperty",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static void take_text(const struct moment *m, const char *path, char out[FACT_MAX])
{
	struct text_room room = { 0 };

	snprintf(out, FACT_MAX, "%s", moment_text(m, path, &room));
	free(room.text);
}

static void take_key(struct jvm_facts *f, const struct moment *m, bool is_environment)
{
	char key[FACT_MAX] = "";
	struct fact *fact = NULL;

	take_text(m, "key", key);
	if (!workload_wants(key, is_environment))
		return;
	for (size_t i = 0; i < f->n_keys; i++)
		if (!strcmp(f->keys[i].key, key) && f->keys[i].is_environment == is_environment)
			fact = &f->keys[i];
	if (!fact && f->n_keys < MAX_FACT_KEYS)
		fact = &f->keys[f->n_keys++];
	if (!fact)
		return;
	snprintf(fact->key, sizeof(fact->key), "%.*s", (int)sizeof(fact->key) - 1, key);
	fact->is_environment = is_environment;
	take_text(m, "value", fact->value);
}

void jvm_facts_take(struct jvm_facts *f, const struct moment *m)
{
	const char *type = m->type->name;

	if (!strcmp(type, "jdk.JVMInformation")) {
		take_text(m, "jvmName", f->name);
		take_text(m, "jvmVersion", f->version);
		take_text(m, "jvmArguments", f->arguments);
		take_text(m, "javaArguments", f->java_arguments);
		f->pid = moment_number(m, "pid", f->pid);
		f->start_ms = moment_number(m, "jvmStartTime", f->start_ms);
	} else if (!strcmp(type, "jdk.OSInformation")) {
		take_text(m, "osVersion", f->os);
	} else if (!strcmp(type, "jdk.CPUInformation")) {
		f->n_threads = moment_number(m, "hwThreads", f->n_threads);
	} else {
		take_key(f, m, !strcmp(type, "jdk.InitialEnvironmentVariable"));
	}
}

bool jvm_facts_equal(const struct jvm_facts *a, const struct jvm_facts *b)
{
	if (strcmp(a->name, b->name) || strcmp(a->version, b->version) ||
	    strcmp(a->arguments, b->arguments) || strcmp(a->java_arguments, b->java_arguments) ||
	    strcmp(a->os, b->os) || a->pid != b->pid || a->start_ms != b->start_ms ||
	    a->n_threads != b->n_threads || a->n_keys != b->n_keys)
		return false;
	for (size_t i = 0; i < a->n_keys; i++) {
		const struct fact *x = &a->keys[i], *y = &b->keys[i];

		if (strcmp(x->key, y->key) || strcmp(x->value, y->value) ||
		    x->is_environment != y->is_environment)
			return false;
	}
	return true;
}
