/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a sample's values an output shows. */
#ifndef EXPORTER_VALUES_H
#define EXPORTER_VALUES_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct sample;

/* The index of a sample type by its name, or -1. */
int value_index(const struct profile *p, const char *type);
/* The profile's default type, else its last; 0 when it has none. */
uint32_t value_default(const struct profile *p);
/* What counts samples: "samples", else the default. Of several kinds it is the default, as one
   sample may have values of more than one of them. */
uint32_t value_count(const struct profile *p);
/* Is a sample one of the kind that an output of one value shows? A profile may have several kinds:
   CPU, allocations, waits. value: the one shown. */
bool value_is_shown(const struct sample *s, uint32_t value);
/* The sum over the samples that are shown. */
int64_t value_total(const struct profile *p, uint32_t index, uint32_t value);

#endif
