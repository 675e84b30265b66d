// SPDX-License-Identifier: Apache-2.0
#include "runtimes/runtime.h"

#include "core/profile.h"

const struct runtime_ops *const runtimes[] = {
	&runtime_native, &runtime_kernel, &runtime_jit, &runtime_python, NULL,
};

uint32_t runtime_named_location(const struct runtime_env *env, int kind, uint64_t address,
				const char *name)
{
	struct profile *p = env->profile;
	uint32_t id = profile_string(p, name);
	struct function function = { .name = id, .system_name = id };
	struct line line = { .function = profile_function(p, &function) };
	struct location location = { .address = address, .kind = (uint16_t)kind };

	return profile_location(p, &location, &line, 1);
}

uint32_t runtime_ask(const struct runtime *rt, const struct runtime_ops *other,
		     const struct frame_at *at, enum keep *keep)
{
	for (size_t i = 0; runtimes[i]; i++)
		if (runtimes[i] == other)
			return other->locate(&rt->env->runtimes[i], at, keep);
	return 0;
}
