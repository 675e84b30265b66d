/* SPDX-License-Identifier: Apache-2.0 */
/* What the samples of a profile are worth together: all of them, and by what a label of them says.
 */
#ifndef CMD_TOTALS_H
#define CMD_TOTALS_H

#include <stddef.h>
#include <stdint.h>

struct profile;

struct label_total {
	uint32_t text; /* string of the profile; 0: of the samples without that label */
	int64_t value;
};

struct label_totals {
	struct label_total *rows; /* the largest first, and none that is 0 */
	size_t n;
};

/* Of the sample type with this index. */
int64_t total_of(const struct profile *p, uint32_t type);
/* The index of the profile's default sample type. */
uint32_t total_default_type(const struct profile *p);

/* Of the default sample type, by a label whose values are text; 0 or -ENOMEM. */
int label_totals_init(struct label_totals *t, const struct profile *p, const char *label);
void label_totals_deinit(struct label_totals *t);

#endif
