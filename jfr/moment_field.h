/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of an event by their names, for those that are looked at seldom. What an event does
   not have, or not as asked for, is 0 or "". */
#ifndef JFR_MOMENT_FIELD_H
#define JFR_MOMENT_FIELD_H

#include <stdint.h>

#include "jfr/moment.h"

/* `otherwise` when it is not there. */
int64_t moment_number(const struct moment *m, const char *path, int64_t otherwise);
int64_t moment_key(const struct moment *m, const char *path); /* of a constant */
double moment_real(const struct moment *m, const char *path);
/* In nanoseconds; 0 also when it is not known, or for ever. */
int64_t moment_time_at(const struct moment *m, const char *path);
/* Of a string, or of what it refers to; until the room is used again. */
const char *moment_text(const struct moment *m, const char *path, struct text_room *room);
/* The same of "operationName", which spans have that are told of in tens of thousands. */
const char *moment_operation_name(const struct moment *m, struct text_room *room);
/* Has its thread this name, or one of its ids? */
bool moment_is_of_thread(struct moment *m, const char *thread);

#endif
