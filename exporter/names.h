/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What frames are called, the same in every output. A location shows as one frame for each of its
 * lines (inlined calls), innermost first, or as one frame without a line when it has none.
 */
#ifndef EXPORTER_NAMES_H
#define EXPORTER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile.h"

struct frame {
	struct location location;
	const struct function *function;       /* all zero without a line */
	const struct profile_mapping *mapping; /* all zero without a mapping */
	uint32_t line, column;		       /* 0 is unknown */
	bool is_inline;			       /* compiled into the next frame, its caller */
	/* The function's name ("libfoo.so+0x1200", by where it begins, with LOCATION_UNNAMED), else
	   its binary's, "[libfoo.so]" as in pprof: a frame for each address would bury the rest;
	   else "[unknown]". Bytes of a target: to be made safe. Lives as long as the profile and
	   this struct; never NULL or "". */
	const char *name;
	char made[256];
};

/* How many frames a location shows; at least 1. */
size_t location_n_frames(const struct profile *p, uint32_t location);
/* Its frame i, counted from the innermost. The struct must not be copied: name may point into it.
 */
void location_frame(const struct profile *p, uint32_t location, size_t i, struct frame *f);

/* A name without its scope and arguments: "a::B<int>::c(int)" is scope "a::B<int>", method "c". */
struct name_parts {
	const char *scope, *method;   /* into the name */
	size_t scope_len, method_len; /* scope_len is 0 when there is none */
};

struct name_parts name_split(const char *name, enum frame_kind kind);

#endif
