// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_whose.h"

#include <stdio.h>

#include "jfr/event_line.h"
#include "jfr/jvm_facts.h"
#include "jfr/samples.h"
#include "jfr/workload.h"

static void copy(char out[EVENT_LINE_SERVICE_MAX], const struct workload *w,
		 enum workload_field field)
{
	snprintf(out, EVENT_LINE_SERVICE_MAX, "%s", workload_get(w, field));
}

static void set_lines(struct event_lines *l, const struct workload *w, int64_t pid)
{
	copy(l->service, w, WORKLOAD_SERVICE);
	copy(l->host, w, WORKLOAD_HOST);
	copy(l->namespace, w, WORKLOAD_NAMESPACE);
	copy(l->pod, w, WORKLOAD_POD);
	copy(l->container, w, WORKLOAD_CONTAINER);
	copy(l->deployment, w, WORKLOAD_DEPLOYMENT);
	l->pid = pid;
}

void jfr_set_whose(const struct jvm_facts *facts, const char *path, struct event_lines *lines,
		   struct samples *samples)
{
	struct workload w = { 0 };

	for (size_t i = 0; i < facts->n_keys; i++)
		(facts->keys[i].is_environment ? workload_environment : workload_property)(
			&w, facts->keys[i].key, facts->keys[i].value);
	workload_jvm_arguments(&w, facts->arguments);
	workload_java_arguments(&w, facts->java_arguments);
	workload_path(&w, path);
	workload_finish(&w);
	if (lines)
		set_lines(lines, &w, facts->pid);
	if (!samples)
		return;
	samples_set_label(samples, "service", workload_get(&w, WORKLOAD_SERVICE));
	samples_set_label(samples, "host", workload_get(&w, WORKLOAD_HOST));
}
