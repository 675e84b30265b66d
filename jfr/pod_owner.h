/* SPDX-License-Identifier: Apache-2.0 */
/* What Kubernetes adds to the name of what a pod belongs to, taken off again. */
#ifndef JFR_POD_OWNER_H
#define JFR_POD_OWNER_H

#include <stdbool.h>
#include <stddef.h>

struct pod_owner {
	size_t len; /* of the owner's name at the pod name's beginning; 0: it cannot be said */
	bool is_deployment; /* or another that makes pods */
	bool is_random;	    /* the name ends in what Kubernetes draws for each pod */
};

/*
 * "orders-7b5f8d4c9b-x2kpq" is of the deployment orders: a hash of a replica set and five random
 * characters. "logs-x2kpq" is of a daemon set or job, "report-29384756-x2kpq" of a cron job,
 * "kafka-0" of a stateful set.
 */
struct pod_owner pod_owner_of(const char *pod);

#endif
