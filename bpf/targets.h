/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is sampled: the options' pids (and their children), threads, command names and cgroups, put
 * into the maps that bpf/target.bpf.h looks at; and the same question asked about a process in the
 * side-band's events. Sampling of other tasks costs one filtered tick.
 */
#ifndef BPF_TARGETS_H
#define BPF_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/pid_set.h"
#include "core/options.h"

struct process_event;
struct weft_bpf;

struct targets {
	uint32_t flags;	       /* enum target_flags */
	struct pid_set pids;   /* of which events matter, when flags has TARGET_PIDS alone */
	struct pid_set ending; /* that said they exit, and may be at it still */
	bool follows_children;
	const char *const *cgroups; /* of the options, which outlive this */
	size_t n_cgroups;
	struct string_list comms; /* the options'; borrowed */
	int pids_fd;		  /* the map target_pids; borrowed */
};

/* What the options ask for; before the kernel half is loaded. -ENOENT: no such cgroup (logged). */
int targets_init(struct targets *t, const struct options *opt);
/* Sizes the maps; before loading. */
void targets_configure(const struct targets *t, struct weft_bpf *skel);
/* Fills the maps; after loading, with the fork program attached, so that no child is missed. */
int targets_fill(struct targets *t, struct weft_bpf *skel, const struct options *opt);
void targets_deinit(struct targets *t);

/* Follows forks; true when the event is of a process that may be sampled. */
bool targets_want(struct targets *t, const struct process_event *ev);
/* False: the whole machine, or as good as that. */
bool targets_are_few(const struct targets *t);
/* True when a process whose events are wanted is surely a target, by its name if that matters. */
bool targets_are_listed(const struct targets *t, const char *comm);
/* Forgets targets that are gone, and looks who joined a version 1 cgroup, in both halves; to be
 * called now and then. */
void targets_settle(struct targets *t);

#endif
