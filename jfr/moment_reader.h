/* SPDX-License-Identifier: Apache-2.0 */
/* How the events of one type are understood: what jfr/moment.c and jfr/moment_look.c share. */
#ifndef JFR_MOMENT_READER_H
#define JFR_MOMENT_READER_H

#include "jfr/moment_look.h"
#include "jfr/place.h"
#include "jfr/weight.h"

struct moment_reader {
	const struct jfr_type *type;
	const struct event_row *row;
	struct layout *layout;
	struct jfr_value *values;
	struct place start, duration, thread, stack, state, class, mode, operation;
	const int64_t *keys[4]; /* thread to class, where they are read to; 0 where there is none */
	struct place trace_id, trace_high, trace_low, span_id, root_id, operation_name;
	bool has_ids;	       /* any of these */
	struct text_room room; /* of a class that is a string */
	struct weight_places weight;
	struct look_plan look;
};

void moment_look_init(struct moment_reader *r);

#endif
