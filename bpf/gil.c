// SPDX-License-Identifier: Apache-2.0
/* The sampler of time blocked on CPython's GIL: what loads and attaches gil.bpf.c. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/counters.h"
#include "bpf/sampler.h"
#include "core/log.h"
#include "core/profile.h"
#include "weft.skel.h"

/* Threads that waited lately: more than a machine's Pythons have. 1 MB. */
#define MAX_WAITS 8192

static int log_missing(int err)
{
	log_error("cannot measure waits for the GIL: the tracepoint sched_switch: %s\n"
		  "  it needs a kernel with BTF and BPF_EVENTS; -e cpu works without, and its "
		  "samples "
		  "have the label gil",
		  strerror(err));
	return -ENOTSUP;
}

static int configure_gil(const struct sampler_ops *s, struct weft_bpf *skel)
{
	(void)s;
	if (libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP) <= 0)
		return log_missing(ENOENT);
	bpf_program__set_autoload(skel->progs.cpu_tick, false);
	bpf_program__set_autoload(skel->progs.gil_switch, true);
	bpf_map__set_max_entries(skel->maps.gil_waits, MAX_WAITS);
	skel->rodata->is_user_only = true;
	return 0;
}

static int attach_gil(const struct sampler_ops *s, struct weft_bpf *skel, uint64_t period_ns,
		      struct ticker *ticker)
{
	int err;

	(void)s;
	(void)period_ns;
	(void)ticker;
	skel->links.gil_switch = bpf_program__attach(skel->progs.gil_switch);
	if (skel->links.gil_switch)
		return 0;
	err = errno;
	if (err != EPERM && err != EACCES)
		return log_missing(err);
	log_error("cannot measure waits for the GIL: sched_switch: %s\n  see: weft doctor",
		  strerror(err));
	return -EPERM;
}

/* Switches are made with preemption off: those under way have ended after a grace period of RCU. */
static void detach_gil(struct weft_bpf *skel)
{
	if (!skel->links.gil_switch)
		return;
	bpf_link__destroy(skel->links.gil_switch);
	skel->links.gil_switch = NULL;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static const char *nothing_gil(const struct profile *p)
{
	uint64_t n = sampler_count(p, "python.processes");

	if (!n)
		return "there is no CPython in it that weft knows";
	if (sampler_count(p, "python.free_threaded") == n)
		return "its CPython is free-threaded: without a GIL";
	if (sampler_count(p, "gil.waits"))
		return "threads waited for the GIL, but too little for a sample (try a higher "
		       "--freq)";
	return "no thread waited for the GIL";
}

const struct sampler_ops sampler_gil = {
	.name = "gil",
	.type = "gil_wait",
	.unit = "nanoseconds",
	.is_weighted = true,
	.sum = "gil.ns",
	.is_user_only = true,
	.is_of_known = true,
	.shown_only = "python", /* all wait in the same functions of C */
	.configure = configure_gil,
	.attach = attach_gil,
	.detach = detach_gil,
	.nothing = nothing_gil,
};
