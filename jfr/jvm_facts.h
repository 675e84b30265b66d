/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording says about its JVM and machine. Texts are as the recording has them: arguments
 * and properties may hold secrets, and whoever shows them decides what of it.
 */
#ifndef JFR_JVM_FACTS_H
#define JFR_JVM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moment;

#define FACT_MAX 512 /* longer ones are cut */
#define MAX_FACT_KEYS 64

struct fact {
	char key[64];
	char value[FACT_MAX];
	bool is_environment; /* a variable, else a system property */
};

struct jvm_facts {
	char name[FACT_MAX], version[FACT_MAX]; /* of the JVM */
	char arguments[FACT_MAX];		/* of the JVM itself */
	char java_arguments[FACT_MAX];		/* main class or jar, and its arguments */
	char os[FACT_MAX];
	int64_t pid, start_ms; /* 0: unknown */
	int64_t n_threads;     /* of the hardware */
	/* variables and properties that identify a service; no others are kept */
	struct fact keys[MAX_FACT_KEYS];
	size_t n_keys;
};

/* Does an event of this type say anything about it? */
bool jvm_facts_wants(const char *type);
bool jvm_facts_equal(const struct jvm_facts *a, const struct jvm_facts *b);
void jvm_facts_take(struct jvm_facts *f, const struct moment *m);

#endif
