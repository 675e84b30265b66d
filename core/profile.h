/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: one dictionary of strings, functions, mappings, locations, stacks and label sets, and
 * samples that refer to it. It is the dictionary that pprof and OTLP both have; exporters copy it.
 *
 * Ids count from 1 in each table, 0 is "none", rows never move, the same row is stored once.
 * Strings are bytes as the target had them: not necessarily UTF-8, never containing NUL. Exporters
 * make them safe for the place they go to.
 *
 * Addresses of native frames are ELF virtual addresses of their file (what `addr2line -e FILE`
 * takes), so that processes share them; a mapping is one executable segment of one file, not of one
 * process. Addresses of callers already point into the call (return address - 1); a leaf's is
 * exact.
 *
 * No memory is a sticky error: ids come back as 0, profile_error() says so at the end.
 */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/frame_kind.h"

enum location_flags {
	LOCATION_GUESSED = 1,	   /* the walk had no proof that this frame is right */
	LOCATION_FOLDED = 2,	   /* several functions share this code (pprof's is_folded) */
	LOCATION_UNSYMBOLIZED = 4, /* nobody has looked for its lines yet */
	LOCATION_UNNAMED = 8, /* its line is only a stand-in, named after where the function begins
				 ("libfoo.so+0x1200"): it is not symbolized and may be later */
};

#define MAX_VALUES 24 /* sample types of one profile */

/* Rows. No padding: they are compared as bytes. */
struct function {
	uint32_t name;	      /* for people, demangled */
	uint32_t system_name; /* as the linker knows it */
	uint32_t filename;
	uint32_t start_line;
};

struct line { /* innermost inlinee first, the physical function last */
	uint32_t function;
	uint32_t line, column; /* 0 is unknown */
};

struct profile_mapping {
	uint64_t start, limit, offset; /* ELF virtual addresses; file offset of start */
	uint32_t filename;
	uint32_t build_id; /* lower-case hex */
	uint32_t has_functions, has_filenames, has_line_numbers,
		has_inline_frames; /* as read from pprof; writers compute their own */
};

struct location {
	uint64_t address;
	uint32_t mapping;
	uint16_t kind;	/* enum frame_kind */
	uint16_t flags; /* enum location_flags */
	uint32_t lines; /* id of an interned array of struct line */
	uint32_t tag; /* what else makes it another location (a process, for JIT code); 0 mostly */
};

struct label {
	uint32_t key; /* string */
	uint32_t str; /* string, or 0 for a number */
	int64_t num;
	uint32_t num_unit; /* string or 0 */
	uint32_t zero;	   /* always 0 */
};

struct sample {
	uint32_t stack, labels;
	uint64_t time_ns; /* unix time of the first of them; 0 is unknown */
	int64_t values[]; /* one for each sample type */
};

struct value_type {
	uint32_t type, unit; /* strings */
};

/* What pprof calls the profile's own fields, filled by whoever makes the profile. */
struct profile_header {
	struct value_type sample_types[MAX_VALUES];
	uint32_t n_sample_types;
	uint32_t default_sample_type; /* string */
	struct value_type period_type;
	int64_t period;
	int64_t time_ns, duration_ns; /* unix time of the start */
	uint32_t hostname;	      /* string */
};

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *p);
struct profile_header *profile_header(struct profile *p);
/* Sets the sample types: samples/count and type/unit, which is the default and the period's type.
 */
void profile_begin(struct profile *p, const char *type, const char *unit);
const struct profile_header *profile_get_header(const struct profile *p);
uint64_t
profile_serial(const struct profile *p);    /* no two profiles of this program share it; never 0 */
int profile_error(const struct profile *p); /* 0 or -ENOMEM */
size_t profile_memory(const struct profile *p); /* bytes in use */

/* Filling. */
uint32_t profile_string(struct profile *p, const char *s);		 /* NULL and "" are 0 */
uint32_t profile_string_n(struct profile *p, const char *s, size_t len); /* cut at the first NUL */
/* Its id when it is there already, else 0; adds nothing. */
uint32_t profile_find_string_n(const struct profile *p, const char *s, size_t len);
uint32_t profile_function(struct profile *p, const struct function *f);
uint32_t profile_mapping(struct profile *p, const struct profile_mapping *m);
/* The location of what stands for frames: "[truncated]". */
uint32_t profile_mark(struct profile *p, const char *name);
/* lines may be empty; l->lines is ignored. */
uint32_t profile_location(struct profile *p, const struct location *l, const struct line *lines,
			  size_t n);
/* Lines found later, for a location that is in stacks already. Clears LOCATION_UNSYMBOLIZED
   and LOCATION_UNNAMED. */
void profile_set_lines(struct profile *p, uint32_t location, const struct line *lines, size_t n,
		       uint16_t set_flags);
uint32_t profile_stack(struct profile *p, const uint32_t *locations, size_t n); /* leaf first */
/* Its id when it is there already, else 0; adds nothing. */
uint32_t profile_find_stack(const struct profile *p, const uint32_t *locations, size_t n);
uint32_t profile_label_set(struct profile *p, struct label *labels,
			   size_t n); /* sorts them by key */
/* Its id when it is there already, else 0; adds nothing. Sorts them, too. */
uint32_t profile_find_label_set(const struct profile *p, struct label *labels, size_t n);
/* Adds to the sample with this stack and these labels. time_ns 0: unknown; values NULL: nothing.
   From the first one on the number of sample types stays. */
uint32_t profile_add(struct profile *p, uint32_t stack, uint32_t labels, uint64_t time_ns,
		     const int64_t *values); /* its number, for profile_add_more() */
/* The same, without values: those that profile_add_more() brings are all that its samples have room
   for, if they are all added so, until profile_keep_types(). Only then may they be looked at. */
uint32_t profile_add_none(struct profile *p, uint32_t stack, uint32_t labels, uint64_t time_ns);
/* Gives the samples of such a profile room for more types. Two that have room for the same can be
   merged. */
void profile_widen(struct profile *p, uint32_t types);
/* Adds to a sample that is there those values whose bit (1 << index) is in used. */
void profile_add_more(struct profile *p, uint32_t sample, const int64_t *values, uint32_t used);
/* Gives each sample the stack that stack_of() sets in it; false leaves it out. Samples that are the
   same then are one. stack_of() may add to the profile, but no samples. */
void profile_restack(struct profile *p, bool (*stack_of)(void *ctx, struct sample *s), void *ctx);
/* Leaves out the sample types whose bit (1 << index) is not set. */
void profile_keep_types(struct profile *p, uint32_t kept);
/* Accounting that belongs to the profile ("ticks.lost" 3); adds to what is there. */
void profile_count(struct profile *p, const char *name, uint64_t n);
void profile_comment(struct profile *p, const char *text);

/* Reading. Pointers are borrowed until profile_free(); a row of id 0 is all zero, a string "". */
uint32_t profile_n_strings(const struct profile *p);
uint32_t profile_n_functions(const struct profile *p);
uint32_t profile_n_mappings(const struct profile *p);
uint32_t profile_n_locations(const struct profile *p);
uint32_t profile_n_stacks(const struct profile *p);
uint32_t profile_n_label_sets(const struct profile *p);
uint32_t profile_n_samples(const struct profile *p);
uint32_t profile_n_counts(const struct profile *p);
uint32_t profile_n_comments(const struct profile *p);
const char *profile_get_string(const struct profile *p, uint32_t id);
size_t profile_string_len(const struct profile *p, uint32_t id);
const struct function *profile_get_function(const struct profile *p, uint32_t id);
const struct profile_mapping *profile_get_mapping(const struct profile *p, uint32_t id);
/* Its flags and lines are the current ones, whatever they were when the row was made. */
struct location profile_get_location(const struct profile *p, uint32_t id);
const struct line *profile_get_lines(const struct profile *p, uint32_t location, size_t *n);
/* The row as it was made, whatever was set later: what tells it from other locations. */
struct location profile_get_made_location(const struct profile *p, uint32_t id,
					  const struct line **lines, size_t *n);
const uint32_t *profile_get_stack(const struct profile *p, uint32_t id, size_t *n);
const struct label *profile_get_labels(const struct profile *p, uint32_t id, size_t *n);
const struct sample *profile_get_sample(const struct profile *p, uint32_t index);    /* from 0 */
const char *profile_get_count(const struct profile *p, uint32_t index, uint64_t *n); /* from 0 */
const char *profile_get_comment(const struct profile *p, uint32_t index);	     /* from 0 */

#endif
