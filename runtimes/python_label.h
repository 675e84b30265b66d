/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the kernel half copied with a sample, of asyncio tasks and of spans, as labels. */
#ifndef RUNTIMES_PYTHON_LABEL_H
#define RUNTIMES_PYTHON_LABEL_H

#include <stdbool.h>

#include "bpf/weft.h"
#include "runtimes/python_layout.h"

#define PYTHON_LABEL_MAX 640 /* bytes, with the NUL, for all that is copied of a name */

/* What names look like in a process. */
struct python_name_format {
	const struct python_layout *layout;
	uint64_t str, integer; /* the types that names have: exactly these two; 0: not known */
};

/* A name longer than what was copied of it ends in "…". False: it is no name. The lengths in what
   was sent were checked (bpf/sample_queue.c). */
bool python_task_label(const struct wire_python_task *task, const struct python_name_format *format,
		       char out[PYTHON_LABEL_MAX]);
bool python_span_label(const struct wire_span *span, const struct python_name_format *format,
		       char out[PYTHON_LABEL_MAX]);

struct python_heap;

/* The name of a span that is in the process's memory as such a label, to be freed; NULL: it is
   none. */
char *python_span_name(struct python_heap *h, uint64_t name);

#endif
