/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording says about its JVM and machine. Texts are as the recording has them: arguments
 * and properties may hold secrets, and whoever shows them decides what of it. What is too long for
 * its room is cut between two parts of it: a half of a name would be a wrong one.
 */
#ifndef JFR_JVM_FACTS_H
#define JFR_JVM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moment;

#define FACT_NAME_MAX 256
#define FACT_ARGUMENTS_MAX 4096
#define FACT_VALUE_MAX 2048 /* OTEL_RESOURCE_ATTRIBUTES is a list */
#define FACT_VALUES_MAX 8192
#define MAX_FACT_KEYS 48

struct fact {
	char key[32];	     /* as the longest that are wanted */
	uint16_t value;	     /* where it is in `values` */
	bool is_environment; /* a variable, else a system property */
};

struct jvm_facts {
	char name[FACT_NAME_MAX], version[FACT_NAME_MAX]; /* of the JVM */
	char os[FACT_NAME_MAX];
	char arguments[FACT_ARGUMENTS_MAX];	 /* of the JVM itself */
	char java_arguments[FACT_ARGUMENTS_MAX]; /* main class or jar, and its arguments */
	char shutdown[FACT_NAME_MAX];		 /* why it ended; "" it did not, or nobody says */
	int64_t pid, start_ms;			 /* 0: unknown */
	int64_t n_threads;			 /* of the hardware */
	int64_t n_container_cpus;		 /* that its container may use; 0: all */
	/* variables and properties that identify a service; no others are kept */
	struct fact keys[MAX_FACT_KEYS];
	size_t n_keys;
	char values[FACT_VALUES_MAX];
	size_t values_len;
};

/* Does an event of this type say anything about it? */
bool jvm_facts_wants(const char *type);
bool jvm_facts_equal(const struct jvm_facts *a, const struct jvm_facts *b);
void jvm_facts_take(struct jvm_facts *f, const struct moment *m);
/* Keeps the value of a variable or property; what there is no room for is left out. */
void jvm_facts_set(struct jvm_facts *f, bool is_environment, const char *key, const char *value);
const char *jvm_facts_value(const struct jvm_facts *f, const struct fact *fact);
/* How many CPUs the JVM counts on, as it tells its own profiler; 0: unknown. */
int64_t jvm_facts_n_cpus(const struct jvm_facts *f);

#endif
