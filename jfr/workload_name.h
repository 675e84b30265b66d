/* SPDX-License-Identifier: Apache-2.0 */
/* One name of a workload, and how much it is trusted: for the parts of jfr/workload.h. */
#ifndef JFR_WORKLOAD_NAME_H
#define JFR_WORKLOAD_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "jfr/workload.h"

/* The larger one wins, and the first of two that are equal. */
enum workload_trust {
	TRUST_NONE,
	TRUST_CONTAINER, /* the container's name for a service */
	TRUST_COMMAND,	 /* the jar or main class */
	TRUST_DERIVED,	 /* from the pod's name, or the host's */
	TRUST_PATH,
	TRUST_TEMPLATE,
	TRUST_HABIT, /* names that many use, and nothing defines */
	TRUST_FRAMEWORK,
	TRUST_AGENT,	     /* other agents' */
	TRUST_ATTRIBUTES,    /* OTEL_RESOURCE_ATTRIBUTES, */
	TRUST_PROPERTY_LIST, /* otel.resource.attributes, */
	TRUST_OTEL,	     /* OTEL_SERVICE_NAME and */
	TRUST_OTEL_PROPERTY, /* otel.service.name, as OpenTelemetry orders them */
};

/* Keeps len bytes of text for the field, cleaned, if nothing better is known. What is not given but
   found must look like a name: times, numbers, ids and names of recordings do not. */
void workload_set(struct workload *w, enum workload_field field, enum workload_trust trust,
		  const char *text, size_t len);
/* Is it a name that means something, and none that is counted or made of the time? */
bool workload_is_name(const char *text, size_t len);

#endif
