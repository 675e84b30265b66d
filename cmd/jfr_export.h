/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of chunks as batches of ProfileEvent lines, and as profiles: what a watch exports by. */
#ifndef CMD_JFR_EXPORT_H
#define CMD_JFR_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct jfr_export;
struct watch_ops;

struct jfr_export_settings {
	const char *output;   /* a directory, or "-" */
	bool lines, profiles; /* of a directory: both may be wanted */
	uint32_t groups;      /* enum event_group, a bit each */
	const char *events;   /* as struct interpreter has it */
	bool shows_secrets, keeps_hidden;
	const char *thread;	   /* NULL: all */
	const char *path_template; /* as workload_template(); NULL: none */
	uint64_t batch_len;	   /* bytes, about */
	bool (*is_stopped)(void);
};

/* NULL after saying why. The settings are borrowed. */
struct jfr_export *jfr_export_new(const struct jfr_export_settings *settings);
void jfr_export_free(struct jfr_export *e); /* NULL is fine */
/* The directory it writes into; NULL without one. */
const struct stat *jfr_export_dir(const struct jfr_export *e);

/* A watch's ops; their context is the export. */
extern const struct watch_ops jfr_export_ops;

#endif
