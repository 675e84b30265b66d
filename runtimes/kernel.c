// SPDX-License-Identifier: Apache-2.0
/* Kernel code: named by kallsyms at once, modules and BPF programs included. */
#include <string.h>

#include "core/profile.h"
#include "runtimes/runtime.h"
#include "symbolizer/kallsyms.h"

/* The upper half of the address space; the range of every kernel mapping, whose own is not known.
 */
#define KERNEL_START (UINT64_C(1) << 63)

static uint32_t kernel_mapping(struct profile *p, const char *module)
{
	struct profile_mapping row = { .start = KERNEL_START, .limit = UINT64_MAX };

	row.filename = profile_string(p, *module ? module : "[kernel]");
	return profile_mapping(p, &row);
}

static uint32_t locate_kernel(struct runtime *rt, const struct frame_at *at, enum keep *keep)
{
	struct profile *p = rt->env->profile;
	uint64_t addr = at->frame->addr - !(at->frame->flags & WIRE_FRAME_EXACT), start;
	struct location location = { .address = addr, .kind = FRAME_KERNEL };
	const char *module = "", *name = NULL;
	struct function function = { 0 };
	struct line line = { 0 };

	if (rt->env->kernel)
		name = kallsyms_find(rt->env->kernel, addr, &module, &start);
	*keep = KEEP_WITH_MAPPINGS;
	location.mapping = kernel_mapping(p, name ? module : "");
	function.name = function.system_name = profile_string(p, name ? name : "[kernel unknown]");
	line.function = profile_function(p, &function);
	return profile_location(p, &location, &line, 1);
}

const struct runtime_ops runtime_kernel = {
	.name = "kernel",
	.frame_kind = WIRE_FRAME_KERNEL,
	.locate = locate_kernel,
};
