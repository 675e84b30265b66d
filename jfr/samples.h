/* SPDX-License-Identifier: Apache-2.0 */
/* Moments that are samples, put into a profile: one sample type for each kind of value. */
#ifndef JFR_SAMPLES_H
#define JFR_SAMPLES_H

#include <stdint.h>

#include "jfr/interpreter.h"

struct profile;
struct samples;

/* Sets the profile's sample types. NULL: no memory. */
struct samples *samples_new(struct profile *p);
void samples_free(struct samples *s); /* NULL is fine */
struct moment_sink samples_sink(struct samples *s);
/* Labels that all samples from here on have ("service", "host"); "" for none. */
void samples_set_label(struct samples *s, const char *key, const char *value);
/* Frames that the JVM itself hides (of lambdas and method handles, the beginnings of virtual
   threads) are left out, unless. */
void samples_keep_hidden(struct samples *s);
/* Leaves out the sample types that nothing came for, and fills the profile's header. */
void samples_finish(struct samples *s, int64_t start_ns, int64_t end_ns);

#endif
