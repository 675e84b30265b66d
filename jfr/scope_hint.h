/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a chunk may have scopes, by its metadata and the few constants that tell, without its
   being read. */
#ifndef JFR_SCOPE_HINT_H
#define JFR_SCOPE_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listed_chunk;
struct metadata;

struct scope_hint { /* all zero at first */
	/* Of the last chunk whose metadata made sense: how they begin, of no length if there is
	   none; and what they are if they describe scopes. */
	uint64_t metadata_len, metadata_number;
	struct metadata *metadata;
	uint8_t *bytes; /* room for what is looked through */
	size_t cap;
};

void scope_hint_deinit(struct scope_hint *h);
/* Also true when that cannot be told. */
bool scope_hint_has(struct scope_hint *h, int fd, const struct listed_chunk *chunk);

#endif
