/* SPDX-License-Identifier: Apache-2.0 */
/* What an event is worth: the values that it adds to a profile, by the rule of its row. */
#ifndef JFR_WEIGHT_H
#define JFR_WEIGHT_H

#include "jfr/place.h"

struct chunk;
struct event_row;
struct moment;
struct settings;
struct worth;

/* Which of an event's fields say it. */
struct weight_places {
	struct place weight, scale, bytes, samples, time_span, failed;
	uint64_t class; /* the type of the constant that it is about */
};

struct weight_places weight_places(const struct layout *l, const struct event_row *row);
/* Of a moment that is read but for what it is worth. */
void weigh(const struct weight_places *w, struct moment *m, const struct settings *s);
/* What it says by RULE_EXECUTION, which needs no more than the thread's state. */
void weigh_execution(const struct settings *s, const char *state, struct worth *out);
/* The same by RULE_WALL, of what its fields say; 0: they do not. */
void weigh_wall(const struct settings *s, int64_t n_samples, int64_t span_ns, struct worth *out);

#endif
