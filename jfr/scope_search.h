/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recordings ahead, for the scopes of spans that go over from one chunk to the next. */
#ifndef JFR_SCOPE_SEARCH_H
#define JFR_SCOPE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

struct late_scopes;
struct metadata;

/* Adds those of a file, whose number tells it from others; is_only: no other is read with it, else
   late_scopes_sort() is for the caller. They are the same whatever the number of threads.
   *known: metadata of a chunk with scopes, which others may have, too, instead of what is there;
   NULL: nobody wants them. 0 also when there are none; -EINTR (core/hurry.h); or what the file or
   the memory said. */
int scope_search(int fd, size_t file, bool is_only, size_t n_threads, struct late_scopes *found,
		 struct metadata **known);

#endif
