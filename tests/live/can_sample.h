/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: may this program sample here? Only root with BPF can. */
#ifndef TESTS_LIVE_CAN_SAMPLE_H
#define TESTS_LIVE_CAN_SAMPLE_H

#include <stdbool.h>

#include "bpf/live.h"
#include "core/options.h"
#include "core/source.h"

static inline bool can_sample(void)
{
	struct options opt = { .freq = 99, .all = true };
	struct source *src;
	int err;

	src = source_open(&source_live, NULL, &opt, &err);
	source_close(src);
	return src;
}

#endif
