/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exporter is a pure function: a finished profile as bytes on a stream. It returns 0 or a
 * negative errno (-EIO for a stream that failed); it does not close the stream and says nothing.
 * All text in a profile may come from a target: each format makes it safe for itself.
 */
#ifndef EXPORTER_EXPORTER_H
#define EXPORTER_EXPORTER_H

#include <stdbool.h>
#include <stdio.h>

struct profile;

struct exporter_ops {
	const char *name;      /* of --format */
	const char *extension; /* of -o, with the dot; the longest that fits wins */
	const char *help;
	int (*write)(const struct profile *p, FILE *out);
};

/* All of them; ends with a NULL. */
extern const struct exporter_ops *const exporters[];

const struct exporter_ops *exporter_by_name(const char *name);
const struct exporter_ops *exporter_by_path(const char *path); /* by its extension, or NULL */
/* Writes a new file that appears at path when it is complete (exporter/replacement.h); "-" is
   stdout. An existing file that is no regular file (a device, a FIFO) is written to directly.
   is_private: only its owner may read it. */
int exporter_write_file(const struct exporter_ops *ops, const struct profile *p, const char *path,
			bool is_private);

#endif
