/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples a report is about: --focus, --ignore and --label. Borrows profile and options. */
#ifndef CMD_FILTER_H
#define CMD_FILTER_H

#include <stdbool.h>

struct filter;
struct options;
struct profile;
struct sample;

struct filter *filter_new(const struct profile *p, const struct options *opt); /* NULL: no memory */
void filter_free(struct filter *f);
bool filter_keeps(const struct filter *f, const struct sample *s);
bool filter_is_active(const struct filter *f);

#endif
