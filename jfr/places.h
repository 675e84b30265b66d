/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a file chunks begin, also when their headers are damaged. */
#ifndef JFR_PLACES_H
#define JFR_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "jfr/chunk_header.h"

struct window;

/* The header at an offset: 0, or as chunk_header_parse(), or an error of the file. */
int places_header(struct window *w, uint64_t at, struct chunk_header *h, const char **what);
/* Where the next chunk begins from an offset on, or `end`, the file's. HotSpot ends each flush with
   a checkpoint that has a copy of the header: where it lies no chunk begins. */
int places_next_chunk(struct window *w, uint64_t end, uint64_t from, uint64_t *at);
/* Such a copy, when it is the first header from an offset on, for the chunk that begins at *at, not
   before that offset. */
bool places_copied_header(struct window *w, uint64_t end, uint64_t from, uint64_t *at,
			  struct chunk_header *h);
/* Is there a header, but for the bytes that say so? Its offsets must lead to metadata. */
bool places_mend_header(struct window *w, uint64_t end, uint64_t at, struct chunk_header *h);

#endif
