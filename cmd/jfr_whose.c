// SPDX-License-Identifier: Apache-2.0
#include "cmd/jfr_whose.h"

#include <stdio.h>
#include <string.h>

#include "core/scoped.h"
#include "jfr/discover.h"
#include "jfr/event_line.h"
#include "jfr/jvm_facts.h"
#include "jfr/samples.h"
#include "jfr/workload.h"

/* The number of a version within what a JVM says of itself: "17.0.15+6" of "OpenJDK 64-Bit Server
   VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), built on ...". */
static void copy_version(const char *text, char *out, size_t size)
{
	const char *start = strchr(text, '(');

	text = start ? start + 1 : text;
	snprintf(out, size, "%.*s", (int)(start ? strcspn(text, ")") : strlen(text)), text);
}

static void set_lines(struct event_lines *l, const struct workload *w,
		      const struct jvm_facts *facts)
{
	char version[64];
	const struct event_line_key keys[] = {
		{ "serviceName", workload_get(w, WORKLOAD_SERVICE) },
		{ "serviceVersion", workload_get(w, WORKLOAD_VERSION) },
		{ "appName", workload_get(w, WORKLOAD_PROGRAM) },
		{ "hostname", workload_get(w, WORKLOAD_HOST) },
		{ "k8s_namespace", workload_get(w, WORKLOAD_NAMESPACE) },
		{ "k8s_pod_name", workload_get(w, WORKLOAD_POD) },
		{ "k8s_container_name", workload_get(w, WORKLOAD_CONTAINER) },
		{ "k8s_deployment", workload_get(w, WORKLOAD_DEPLOYMENT) },
		{ "k8s_node_name", workload_get(w, WORKLOAD_NODE) },
		{ "process.runtime.name", facts->name },
		{ "process.runtime.version", version },
	};

	copy_version(facts->version, version, sizeof(version));
	event_lines_set_whose(l, keys, sizeof(keys) / sizeof(*keys), facts->pid);
}

static void match_template(struct workload *w, const char *template, const char *path)
{
	SCOPED(free) char *real = discover_real_path(path);

	workload_template(w, template, real ? real : path);
}

void jfr_find_whose(const struct jvm_facts *facts, const char *path, const char *template,
		    struct workload *w)
{
	workload_facts(w, facts);
	workload_path(w, path);
	if (template)
		match_template(w, template, path);
	workload_finish(w);
}

void jfr_set_whose(const struct jvm_facts *facts, const char *path, const char *template,
		   struct event_lines *lines, struct samples *samples)
{
	struct workload w = { 0 };

	jfr_find_whose(facts, path, template, &w);
	if (lines)
		set_lines(lines, &w, facts);
	if (!samples)
		return;
	samples_set_label(samples, "service", workload_get(&w, WORKLOAD_SERVICE));
	samples_set_label(samples, "host", workload_get(&w, WORKLOAD_HOST));
}
