/* SPDX-License-Identifier: Apache-2.0 */
/* Where -o leads: format, name, and whether it can be written at all. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exporter_ops;
struct options;
struct profile;

/* By --format, else by the extension of path, pprof for "-". NULL after saying what there is. */
const struct exporter_ops *output_format(const struct options *opt, const char *path);

/* What the patterns of -o stand for: %p %c %t %h, and %% for itself. */
struct output_facts {
	pid_t pid;	     /* 0: of weft itself */
	const char *command; /* "all" when there is no one target */
	int64_t time_ns;     /* unix time of the start */
	const char *host;
};

/* The name made of a pattern, allocated; slashes in commands become underscores. NULL: no memory.
 */
char *output_expand(const char *pattern, const struct output_facts *facts);

/* Before the work: 0 or the negative errno that writing would end with. Leaves no file behind. */
int output_check(const char *path);

/* Is what is made of this profile for its owner only, as the profile itself is? */
bool output_is_private(const char *input);

/* Writes the profile, or says why not. EXIT_OK or EXIT_FAILED. is_private as in
   exporter/exporter.h. */
int output_write(const struct exporter_ops *ops, const struct profile *p, const char *path,
		 bool is_private);

#endif
