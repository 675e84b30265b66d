/* SPDX-License-Identifier: Apache-2.0 */
/* One recording: what it samples, what it has so far, and what it says at its beginning and end. */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/loop_blocks.h"
#include "cmd/child.h"
#include "cmd/cost.h"
#include "core/options.h"

struct accounting;
struct exporter_ops;
struct profile;
struct source;

#define DEFAULT_FREQ 99

enum end_cause { END_NOT, END_INTERRUPTED, END_DURATION, END_TARGET_GONE, END_FAILED };

struct recording {
	struct options
		opt; /* a copy, with the pids that names and CMD stand for; borrows the rest */
	struct pid_list pids; /* owned; opt.pids is the same list */
	struct child child;
	struct source *src;
	struct profile *profile;
	const struct exporter_ops *exporter;
	char *path;
	struct cost cost;
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	uint64_t duration_ns;	/* of sampling */
	int64_t time_ns;	/* unix time of the start */
	uint64_t cpu_before_ns; /* of the targets */
	uint64_t n_looks;
	char comm[16]; /* of the first pid, while it lived */
	enum end_cause cause;
	struct loop_summary loops; /* when it is over */
	bool is_running;	   /* CMD runs, or there is none */
	bool has_status_line;
};

void recording_init(struct recording *r, const struct options *opt);
void recording_deinit(struct recording *r);
int recording_add_pid(struct recording *r, pid_t pid); /* EXIT_OK or EXIT_FAILED */
/* The profile and its sample types, after the targets are known. EXIT_OK or EXIT_FAILED. */
int recording_prepare(struct recording *r);
void recording_start_clock(struct recording *r);
uint64_t recording_elapsed(const struct recording *r);
char *
recording_path(const struct recording *r); /* -o with its patterns filled in; NULL: no memory */
struct accounting recording_accounting(const struct recording *r); /* so far */
void recording_set_loops(struct recording *r);			   /* while the source is open */
void recording_set_header(struct recording *r); /* what is known at the end only */

void recording_print_start(const struct recording *r);
/* The end line, the reason of an empty result, and the top table. */
void recording_print_end(const struct recording *r, const struct accounting *a);
/* The exit status that the result deserves. */
int recording_judge(const struct recording *r, const struct accounting *a);

#endif
