/* SPDX-License-Identifier: Apache-2.0 */
/* Events that say which span was current on their thread and from when to when, and what spans are
   called. */
#ifndef JFR_SCOPE_EVENT_H
#define JFR_SCOPE_EVENT_H

#include <stdbool.h>
#include <stddef.h>

struct constants;
struct metadata;
struct moment;
struct span_ids;
struct span_names;
struct span_scope;

/* Is it a type of scopes? Does it say what spans are called? */
bool scope_event_is(const char *type);
bool scope_event_names(const char *type);
/* May a chunk of such metadata and constants have any scopes? NULL: without constants. */
bool scope_events_in(const struct metadata *m, struct constants *c);
/* May metadata, which is not understood yet, have any? */
bool scope_events_in_bytes(const void *bytes, size_t len);

/* Which scope it is, with these ids, whose tag lives as long as the chunk's names; false: none. One
   that leaves all spans for a while has no ids. */
bool scope_event_read(const struct moment *m, struct span_scope *scope, struct span_ids *ids);
/* 0 or -ENOMEM. */
int scope_event_read_name(const struct moment *m, struct span_names *names);

#endif
