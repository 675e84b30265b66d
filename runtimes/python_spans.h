/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry in a CPython process, 3.7 to 3.15: what the kernel half must know to read the span
 * that a thread is in, and the spans of contexts that no thread is in. It is where the API's own
 * context has it, which an SDK is not needed for.
 */
#ifndef RUNTIMES_PYTHON_SPANS_H
#define RUNTIMES_PYTHON_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_heap.h"
#include "runtimes/python_layout.h"
#include "runtimes/python_look.h"
#include "unwinders/python_span.h"

/* What was found in a process. Zeros before it was looked for. */
struct python_otel {
	struct python_look look;
	struct python_spans spans; /* var is 0: not imported */
};

/* Is it time to look? */
bool python_otel_is_due(const struct python_otel *o, const struct python_layout *l,
			uint64_t now_ns);
/* Whether the API was imported meanwhile; looks only when modules came or went, and a small share
   of the time. runtime: address of _PyRuntime. True: something else is known now. */
bool python_otel_look(struct python_otel *o, struct python_part *part, struct mem *m,
		      const struct python_layout *l, uint64_t runtime, uint64_t now_ns);

/* How objects lie, of which reading attributes takes no more. */
void python_spans_set_layout(const struct python_layout *l, const struct python_heap_layout *at,
			     struct python_spans *out);
/* Searches in one interpreter, whose sys.modules these are. True: all of it was found. *is_half:
   only a part was. */
bool python_spans_find(struct python_heap *h, uint64_t modules, struct python_spans *out,
		       bool *is_half);
#define PYTHON_ID_LEN 33 /* of an id in hex, with its NUL */

/* An id as W3C Trace Context writes it: len bytes, at most 16. */
void python_id_text(const uint8_t *id, size_t len, char out[PYTHON_ID_LEN]);
/* The span that a contextvars.Context is in, as it is now. False: in none. *name: what the span has
   as its name, mostly a str; 0: nothing. */
bool python_span_of(struct mem *m, const struct python_spans *spans, uint64_t context,
		    struct python_span_ids *out, uint64_t *name);

#endif
