// SPDX-License-Identifier: Apache-2.0
#include "bpf/kernel_features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct kernel_features, name)

static const struct {
	enum bpf_func_id helper; /* 0: asked for in another way */
	size_t field;		 /* a bool of struct kernel_features */
	const char *name, *since, *without;
} rows[] = {
	{ BPF_FUNC_get_current_ancestor_cgroup_id, FIELD(has_cgroup_ancestors),
	  "bpf_get_current_ancestor_cgroup_id", "5.16", "--cgroup costs a little more" },
	{ BPF_FUNC_get_current_task_btf, FIELD(has_task_btf), "bpf_get_current_task_btf", "5.11",
	  "a sample costs a little more" },
	{ BPF_FUNC_task_pt_regs, FIELD(has_task_pt_regs), "bpf_task_pt_regs", "5.15",
	  "weft finds a thread's registers in the kernel itself" },
	{ 0, FIELD(has_large_values), "array values of more than 4 MiB", "6.1 has them",
	  "that much is for unwind tables" },
};

#define N_ROWS (sizeof(rows) / sizeof(*rows))

static bool *field_of(struct kernel_features *f, size_t i)
{
	return (bool *)((char *)f + rows[i].field);
}

/* More of them than any machine has memory for: the size of one is looked at before that. */
static bool has_large_values(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "large", 4, 2 * KERNEL_SMALL_VALUE_LEN,
				1U << 30, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != E2BIG;
}

void kernel_features_probe(struct kernel_features *f)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].helper)
			*field_of(f, i) = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT,
								  rows[i].helper, NULL) == 1;
	f->has_large_values = has_large_values();
}

const char *kernel_features_missing(const struct kernel_features *f,
				    char out[KERNEL_FEATURES_MISSING_MAX])
{
	struct kernel_features copy = *f;
	size_t len = 0;

	*out = 0;
	for (size_t i = 0; i < N_ROWS && len < KERNEL_FEATURES_MISSING_MAX; i++)
		if (!*field_of(&copy, i))
			len += (size_t)snprintf(out + len, KERNEL_FEATURES_MISSING_MAX - len,
						"%sno %s (Linux %s): %s", len ? "; " : "",
						rows[i].name, rows[i].since, rows[i].without);
	return out;
}
