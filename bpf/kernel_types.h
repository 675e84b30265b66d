/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few fields of kernel structures that weft reads; CO-RE finds where the running kernel has
 * them. */
#ifndef BPF_KERNEL_TYPES_H
#define BPF_KERNEL_TYPES_H

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	void *vdso;
} mm_context_t;

struct mm_struct {
	unsigned long exec_vm;
	mm_context_t context;
};

struct thread_struct {
	unsigned long fsbase; /* x86-64 */
};

struct cgroup {
	int level;
	__u64 ancestor_ids[]; /* up to 6.0 */
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	unsigned int __state; /* from 5.14 on */
	void *stack;
	unsigned int flags;
	int pid, tgid;
	struct mm_struct *mm;
	struct css_set *cgroups;
	struct task_struct *group_leader;
	__u64 start_boottime;
	char comm[16];
	struct thread_struct thread;
};

/* arch/x86/include/asm/orc_types.h: one row of how the kernel's own code is unwound. */
struct orc_entry {
	short sp_offset, bp_offset;
	unsigned int sp_reg : 4;
	unsigned int bp_reg : 4;
	unsigned int type : 3;
	unsigned int signal : 1; /* from 6.3 on */
};

struct orc_entry___before_6_4 {
	unsigned int end : 1;
};

struct task_struct___before_5_14 {
	volatile long state;
};

#pragma clang attribute pop

/* task_struct.flags: PF_KTHREAD, the same since 2.6.27, and PF_IO_WORKER, which has its process's
   memory (5.10). */
#define PF_KERNEL_ONLY (0x00200000 | 0x00000010)

#endif
