/* SPDX-License-Identifier: Apache-2.0 */
/* What the labels are called that samples of ticks and of sweeps have both: strings of a profile.
 */
#ifndef BPF_LABEL_KEYS_H
#define BPF_LABEL_KEYS_H

#include <stdint.h>

#include "core/profile.h"

struct label_keys {
	uint32_t pid, tid, thread, process, container, task, trace_id, span_id, span_name;
};

static inline struct label_keys label_keys_of(struct profile *p)
{
	return (struct label_keys){
		.pid = profile_string(p, "pid"),
		.tid = profile_string(p, "tid"),
		.thread = profile_string(p, "thread"),
		.process = profile_string(p, "process"),
		.container = profile_string(p, "container"),
		.task = profile_string(p, "task"),
		.trace_id = profile_string(p, "trace_id"),
		.span_id = profile_string(p, "span_id"),
		.span_name = profile_string(p, "span_name"),
	};
}

#endif
