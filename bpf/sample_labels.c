// SPDX-License-Identifier: Apache-2.0
#include "bpf/sample_labels.h"

#include <stdlib.h>
#include <string.h>

#include "core/profile.h"
#include "runtimes/process.h"

#define N_CACHED 1024 /* threads; a power of two */

struct cached {
	uint32_t pid, tid, comm, container; /* comm and container of the process */
	char thread[WIRE_COMM_LEN];
	uint32_t labels;
};

struct sample_labels {
	struct profile *profile;
	uint32_t pid, tid, thread, process, container; /* keys */
	struct cached cache[N_CACHED];
};

struct sample_labels *sample_labels_new(struct profile *p)
{
	struct sample_labels *sl = calloc(1, sizeof(*sl));

	if (!sl)
		return NULL;
	sl->profile = p;
	sl->pid = profile_string(p, "pid");
	sl->tid = profile_string(p, "tid");
	sl->thread = profile_string(p, "thread");
	sl->process = profile_string(p, "process");
	sl->container = profile_string(p, "container");
	return sl;
}

void sample_labels_free(struct sample_labels *sl)
{
	free(sl);
}

static uint32_t make(struct sample_labels *sl, const struct cached *c, const struct processes *ps)
{
	struct label labels[5] = {
		{ .key = sl->pid, .num = c->pid },
		{ .key = sl->tid, .num = c->tid },
	};
	uint32_t thread = profile_string_n(sl->profile, c->thread, sizeof(c->thread));
	uint32_t process =
		c->comm ? profile_string(sl->profile, processes_string(ps, c->comm)) : thread;
	size_t n = 2;

	if (thread)
		labels[n++] = (struct label){ .key = sl->thread, .str = thread };
	if (process)
		labels[n++] = (struct label){ .key = sl->process, .str = process };
	if (c->container)
		labels[n++] = (struct label){
			.key = sl->container,
			.str = profile_string(sl->profile, processes_string(ps, c->container)),
		};
	return profile_label_set(sl->profile, labels, n);
}

uint32_t sample_labels_get(struct sample_labels *sl, const struct wire_sample *s,
			   const struct process *proc, const struct processes *ps)
{
	struct cached *slot = &sl->cache[s->tid & (N_CACHED - 1)];
	struct cached wanted = {
		.pid = s->pid,
		.tid = s->tid,
		.comm = proc ? proc->comm : 0,
		.container = proc ? proc->container : 0,
		.labels = slot->labels,
	};

	memcpy(wanted.thread, s->comm, strnlen(s->comm, sizeof(wanted.thread)));
	if (slot->labels && !memcmp(&wanted, slot, sizeof(wanted)))
		return slot->labels;
	wanted.labels = make(sl, &wanted, ps);
	*slot = wanted;
	return wanted.labels;
}
