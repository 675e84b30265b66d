/* SPDX-License-Identifier: Apache-2.0 */
/* Moments that are samples, put into a profile: one sample type for each kind of value. */
#ifndef JFR_SAMPLES_H
#define JFR_SAMPLES_H

#include <stdint.h>

#include "jfr/interpreter.h"

struct profile;
struct samples;

/* What a profile counts of the recordings it was made of: id, name, meaning. */
#define SAMPLE_COUNTS(X)                                                               \
	X(SAMPLES_TAKEN, "jfr.sampled", "events that are samples")                     \
	X(SAMPLES_LOST, "jfr.lost", "samples that the JVM lost, by what it says")      \
	X(STACKS_COMPLETE, "jfr.end.complete", "stacks that are there whole")          \
	X(STACKS_TRUNCATED, "jfr.end.truncated", "stacks deeper than the JVM records") \
	X(STACKS_UNRESOLVED, "jfr.end.unresolved",                                     \
	  "stacks of which the recording lacks something")                             \
	X(STACKS_FAILED, "jfr.end.failed", "stacks that the JVM could not walk")       \
	X(STACKS_NONE, "jfr.end.none", "samples without a stack")

enum sample_count {
#define X(id, name, meaning) id,
	SAMPLE_COUNTS(X)
#undef X
		N_SAMPLE_COUNTS
};

#define BYTES_LOST "jfr.bytes.lost" /* of damaged recordings */

/* Sets the profile's sample types. NULL: no memory. */
struct samples *samples_new(struct profile *p);
void samples_free(struct samples *s); /* NULL is fine */
struct moment_sink samples_sink(struct samples *s);
/* Labels that all samples from here on have ("service", "host"); "" for none. */
void samples_set_label(struct samples *s, const char *key, const char *value);
/* Frames that the JVM itself hides (of lambdas and method handles, the beginnings of virtual
   threads) are left out, unless. */
void samples_keep_hidden(struct samples *s);
/* Adds the samples of recordings that were read behind these, which are only to be freed then. 0 or
   -ENOMEM. */
int samples_merge(struct samples *into, struct samples *from);
/* Leaves out the sample types that nothing came for, and fills the profile's header. */
void samples_finish(struct samples *s, int64_t start_ns, int64_t end_ns);

#endif
