/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What newer kernels have for the kernel half and the oldest one that weft runs on has not. The
 * kernel is asked for each of them; nothing depends on version numbers.
 */
#ifndef BPF_KERNEL_FEATURES_H
#define BPF_KERNEL_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_features {
	bool has_cgroup_ancestors; /* bpf_get_current_ancestor_cgroup_id() */
	bool has_task_btf;	   /* bpf_get_current_task_btf() */
	bool has_task_pt_regs;	   /* bpf_task_pt_regs() */
	bool has_large_values;	   /* of arrays: more than KERNEL_SMALL_VALUE_LEN bytes */
};

#define KERNEL_SMALL_VALUE_LEN (4 << 20) /* what kmalloc() gives at most, with pages of 4 KiB */

/* Without the permission for bpf() all seem to be there. */
void kernel_features_probe(struct kernel_features *f);

#define KERNEL_FEATURES_MISSING_MAX 448

/* What is not there, since when it could be, and what that means: for people; "" when nothing is
   missing. Returns out. */
const char *kernel_features_missing(const struct kernel_features *f,
				    char out[KERNEL_FEATURES_MISSING_MAX]);

#endif
