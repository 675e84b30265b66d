/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source puts samples into a profile: the live kernel sampler, a pprof file, later JFR.
 *
 * source_new() finds private state zeroed; open() may fail half way, close() is called all the
 * same. pump() returns 1 when there is more to come, 0 at the end, a negative errno when it failed;
 * it waits at most timeout_ms. Messages about failures are the source's own (log_error), so that
 * they can say what to do.
 */
#ifndef CORE_SOURCE_H
#define CORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct options;
struct profile;
struct source_ops;

struct source {
	const struct source_ops *ops;
	const char *path; /* files only, borrowed */
	void *priv;
};

struct source_ops {
	const char *name, *help;
	size_t priv_size;
	bool (*sniff)(const void *head, size_t len); /* files only: are these its first bytes? */
	int (*open)(struct source *src, const struct options *opt);
	int (*pump)(struct source *src, struct profile *p, int timeout_ms);
	void (*close)(struct source *src);
};

/* An opened source, or NULL and *err. */
struct source *source_open(const struct source_ops *ops, const char *path,
			   const struct options *opt, int *err);
int source_pump(struct source *src, struct profile *p, int timeout_ms);
void source_close(struct source *src); /* NULL is fine */

#endif
