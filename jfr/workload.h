/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose recording it is: the service, host, pod and so on of the JVM that wrote it, never of the
 * machine that reads it. Only what is known to name one of them is looked at: environments and
 * properties are full of secrets. What the recording says itself counts more than where its file
 * lies, a name that somebody gave more than one that is guessed:
 *
 *	service: otel.service.name, OTEL_SERVICE_NAME, service.name in otel.resource.attributes and
 *		OTEL_RESOURCE_ATTRIBUTES, the names of other agents, of Spring and of habit; the
 *		user's template; the deployment; the jar or main class; the container
 *	host: host.name of the resource attributes, HOSTNAME, the user's template
 *	pod, namespace, container, ...: resource attributes, POD_NAME and the like, the user's
 *		template, the directories of Kubernetes; of a pod that is not named at all, HOSTNAME
 *	deployment: the pod's name without the two parts that Kubernetes adds
 *
 * All values are safe for a terminal and at most WORKLOAD_NAME_MAX - 1 bytes.
 */
#ifndef JFR_WORKLOAD_H
#define JFR_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jvm_facts;

#define WORKLOAD_NAME_MAX 256 /* what Kubernetes and DNS allow is 253 */

enum workload_field {
	WORKLOAD_SERVICE,
	WORKLOAD_VERSION, /* of the service */
	WORKLOAD_HOST,
	WORKLOAD_NODE,
	WORKLOAD_NAMESPACE,
	WORKLOAD_POD,
	WORKLOAD_POD_UID,
	WORKLOAD_CONTAINER,
	WORKLOAD_DEPLOYMENT,
	WORKLOAD_PROGRAM, /* its jar or main class */
	WORKLOAD_N_FIELDS
};

/* All zero at first. */
struct workload {
	struct workload_name {
		uint8_t trust; /* enum workload_trust of jfr/workload_name.h; 0: unknown */
		char text[WORKLOAD_NAME_MAX];
	} names[WORKLOAD_N_FIELDS];
	bool is_kubernetes;
	uint32_t host_pid; /* of the process in whose root directory the file lies; 0: none */
};

/* What the recording says, in any order and as often as it says so. */
void workload_environment(struct workload *w, const char *key, const char *value);
void workload_property(struct workload *w, const char *key, const char *value);
/* JVMInformation.jvmArguments: properties that are set there. */
void workload_jvm_arguments(struct workload *w, const char *arguments);
/* JVMInformation.javaArguments: the jar or main class; what follows it is not looked at. */
void workload_java_arguments(struct workload *w, const char *arguments);

/* Would it be looked at? For those who keep what recordings say. */
bool workload_wants(const char *key, bool is_environment);
/* All of these at once. */
void workload_facts(struct workload *w, const struct jvm_facts *facts);

/* Where the file lies, by the directories of Kubernetes. */
void workload_path(struct workload *w, const char *path);
/*
 * The same by a template of the user's: "/data/{ns}/{pod}/{service}/". It is the beginning of the
 * path, whole components of it; {name} and * stand for one or more bytes up to what follows them,
 * but no slash. Names: service version host node ns namespace pod uid container deployment. False
 * when the path is not so.
 */
bool workload_template(struct workload *w, const char *pattern, const char *path);
/* NULL, or what is wrong with a template. */
const char *workload_template_error(const char *pattern);

/* Derives what can be derived; more may be added afterwards, and it be called again. */
void workload_finish(struct workload *w);
/* "" for what is not known. */
const char *workload_get(const struct workload *w, enum workload_field field);

#endif
