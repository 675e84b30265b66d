/* SPDX-License-Identifier: Apache-2.0 */
/* What wrote a frame. */
#ifndef CORE_FRAME_KIND_H
#define CORE_FRAME_KIND_H

/* The order is part of no format. */
enum frame_kind {
	FRAME_UNKNOWN, /* code nobody could explain */
	FRAME_NATIVE,
	FRAME_KERNEL,
	FRAME_JIT, /* named by a perf map or jitdump */
	FRAME_PYTHON,
	FRAME_GO,
	FRAME_JAVA,
	FRAME_MARK, /* not code: [truncated], [broken: no unwind data], ... */
	N_FRAME_KINDS
};

/* "native", "kernel", ... as OTLP's profile.frame.type */
const char *frame_kind_name(enum frame_kind kind);
enum frame_kind frame_kind_of_name(const char *name); /* FRAME_UNKNOWN for others */

#endif
