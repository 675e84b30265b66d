/* SPDX-License-Identifier: Apache-2.0 */
/* Whose recording it is, for what is made of it: by its content first, and by its path. */
#ifndef CMD_JFR_WHOSE_H
#define CMD_JFR_WHOSE_H

struct event_lines;
struct jvm_facts;
struct samples;
struct workload;

/* All that is known of it; w is all zero before. */
void jfr_find_whose(const struct jvm_facts *facts, const char *path, const char *template,
		    struct workload *w);
/* Sets the names that lines and samples have from here on; either may be NULL. */
void jfr_set_whose(const struct jvm_facts *facts, const char *path, const char *template,
		   struct event_lines *lines, struct samples *samples);

#endif
