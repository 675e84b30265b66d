/* SPDX-License-Identifier: Apache-2.0 */
/* Events that say which span was current on their thread, and from when to when. */
#ifndef JFR_SCOPE_TYPE_H
#define JFR_SCOPE_TYPE_H

#include <stdbool.h>

struct chunk;

/* Is it such a type? */
bool scope_type_is(const char *type);
/* May a chunk, whose constants are known, have any? */
bool scope_types_in(const struct chunk *c);

#endif
