/* SPDX-License-Identifier: Apache-2.0 */
/* What `weft jfr` found in recordings, and how it is shown. */
#ifndef CMD_JFR_H
#define CMD_JFR_H

#include <stdint.h>
#include <stdio.h>

#include "jfr/interpreter.h"
#include "jfr/late_scopes.h"
#include "jfr/recording.h"
#include "jfr/summary.h"

struct options;
struct event_lines;
struct profile;

struct jfr_file {   /* that has chunks, or should have */
	char *name; /* safe for a terminal */
	struct recording_report report;
	char *reason;		       /* why it was not read, or not all of it; NULL */
	char *service, *host;	       /* whose it is, by its first chunk; NULL: it has none */
	int64_t jvm_pid, jvm_start_ms; /* as the service; 0: unknown */
};

struct jfr_run {
	const struct options *opt;
	struct interpreter interpreter;
	struct summary summary;
	struct profile *profile;
	struct samples *samples;
	struct event_lines *lines; /* NULL: none are written */
	const char *path;	   /* of the file that is read, as long as it is */
	struct seen_chunks seen;
	struct recording_past past;	       /* of the file that was read last */
	struct late_scopes late, late_of_part; /* of all paths; of what was packed in one */
	struct jfr_file *files;
	size_t n_files, files_cap;
	int64_t start_ns, end_ns; /* of all files; 0, 0 without any */
	uint64_t n_missing;	  /* references that led nowhere */
};

/* What opt asks for, of which some is set already; lines may be NULL. 0 or -ENOMEM; deinit also
   then. */
void jfr_file_deinit(struct jfr_file *file);
int jfr_run_init(struct jfr_run *run, struct event_lines *lines, bool has_profile);
void jfr_run_deinit(struct jfr_run *run);
/* The start of the first chunk, which --from and --to may count from. */
void jfr_run_start(struct jfr_run *run, int64_t start_ns);
/* What --events asks for is neither a group nor a type: EXIT_USAGE. */
int jfr_refuse_events(const char *wrong);
/* Is anything lost, in any file? */
bool jfr_is_damaged(const struct jfr_run *run);
/* All there is to say of it, as text and as a document: 0 or -ENOMEM. Of the profile's default
   sample type. */
int jfr_print_summary(struct jfr_run *run, FILE *out);
int jfr_print_json(const struct jfr_run *run, FILE *out);
void jfr_print_damage(const struct jfr_run *run, FILE *out);

#endif
