/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a futex one that threads wait on for CPython's GIL? It is when it lies in the GIL: in the
 * condition variable that says the GIL is free, in the mutex of it, or in those with which a thread
 * that gave it up waits until another one has it. (With glibc: musl's threads wait on futexes on
 * their own stacks.) Compiled for BPF and for the host, like python.bpf.h.
 */
#ifndef UNWINDERS_PYTHON_GIL_BPF_H
#define UNWINDERS_PYTHON_GIL_BPF_H

#include "unwinders/python_slot.bpf.h"

/* Besides the main one, the newest first. A list may lead in a circle, and this is asked while a
   run queue is locked. */
#define PYTHON_MAX_INTERPRETERS 16

static __always_inline int python_gil_is(const struct python_process *p, __u64 gil, __u64 futex)
{
	return gil && futex - gil - p->gil_wait < p->gil_wait_len;
}

static __always_inline int python_gil_has(const struct python_process *p, __u64 futex)
{
	__u64 interp, main_interp;

	if (p->gil)
		return python_gil_is(p, p->gil, futex);
	if (!p->interp_gil || !p->interpreters)
		return 0;
	main_interp = python_read_pointer(p->interpreters + 8);
	if (!main_interp)
		return 0;
	if (python_gil_is(p, python_read_pointer(main_interp + p->interp_gil), futex))
		return 1;
	interp = python_read_pointer(p->interpreters);
	for (int i = 0; i < PYTHON_MAX_INTERPRETERS && interp && interp != main_interp; i++) {
		if (python_gil_is(p, python_read_pointer(interp + p->interp_gil), futex))
			return 1;
		interp = python_read_pointer(interp + p->interp_next);
	}
	return 0;
}

#endif
