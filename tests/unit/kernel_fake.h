/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the kernel, for one test program: the table memory is a memfd, the map of processes
 * an array (these definitions win over libbpf's), and the clock of unwind tables stands still until
 * a test moves it.
 */
#ifndef TESTS_UNIT_KERNEL_FAKE_H
#define TESTS_UNIT_KERNEL_FAKE_H

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/shared.h"
#include "bpf/unwind_maps.h"
#include "core/clock.h"

#define FAKE_PROCESSES_FD 12345
#define FAKE_MAX_PROCESSES 8

static uint64_t fake_now_ns = 1000 * NS_PER_S;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_MONOTONIC_COARSE && clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, out);
	out->tv_sec = (time_t)(fake_now_ns / NS_PER_S);
	out->tv_nsec = (long)(fake_now_ns % NS_PER_S);
	return 0;
}

struct fake_process {
	uint32_t pid; /* 0: free */
	struct unwind_process entry;
};

static struct fake_process fake_processes[FAKE_MAX_PROCESSES];
static size_t fake_n_updates;

static struct fake_process *fake_slot(uint32_t pid)
{
	for (size_t i = 0; i < FAKE_MAX_PROCESSES; i++) {
		if (fake_processes[i].pid == pid)
			return &fake_processes[i];
	}
	return NULL;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct fake_process *p;
	uint32_t pid;

	(void)flags;
	memcpy(&pid, key, sizeof(pid));
	p = fake_slot(pid) ? fake_slot(pid) : fake_slot(0);
	if (fd != FAKE_PROCESSES_FD || !p) {
		errno = E2BIG;
		return -E2BIG;
	}
	p->pid = pid;
	memcpy(&p->entry, value, sizeof(p->entry));
	fake_n_updates++;
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct fake_process *p;
	uint32_t pid;

	memcpy(&pid, key, sizeof(pid));
	p = fd == FAKE_PROCESSES_FD ? fake_slot(pid) : NULL;
	if (!p)
		return -ENOENT;
	*p = (struct fake_process){ 0 };
	return 0;
}

/* The maps over a table memory of so many words; unwind_maps_free() frees all of it. */
static inline struct unwind_maps *fake_maps(uint32_t n_words)
{
	int fd = memfd_create("table_words", MFD_CLOEXEC);
	struct unwind_maps *m;

	memset(fake_processes, 0, sizeof(fake_processes));
	fake_n_updates = 0;
	if (fd < 0 || ftruncate(fd, (off_t)n_words * 4))
		return NULL;
	m = unwind_maps_new(fd, n_words, FAKE_PROCESSES_FD, -1);
	close(fd);
	return m;
}

/* What the kernel half would find for a process; NULL: it was not told, or its vector is gone. */
static inline const struct unwind_vector *fake_vector(const struct unwind_maps *m, pid_t pid)
{
	const struct fake_process *p = fake_slot((uint32_t)pid);
	const struct unwind_vector *v;

	if (!p)
		return NULL;
	v = (const void *)unwind_maps_words(m, p->entry.vector);
	return v->generation && v->generation == p->entry.generation ? v : NULL;
}

/* The mapping of a process that holds an address, as the kernel half would find it. */
static inline const struct unwind_mapping *fake_mapping(const struct unwind_maps *m, pid_t pid,
							uint64_t addr)
{
	const struct unwind_vector *v = fake_vector(m, pid);

	for (uint32_t i = 0; v && i < v->n_mappings; i++) {
		if (addr - v->mappings[i].start < v->mappings[i].len)
			return &v->mappings[i];
	}
	return NULL;
}

#endif
