/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that come out of a part of a file, which is packed by one decoder. */
#ifndef JFR_STREAM_H
#define JFR_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "core/scoped.h"
#include "jfr/unpack_fault.h"

struct decoder_ops;
struct stream;

#define STREAM_TO_THE_END UINT64_MAX

/* From offset `at` to `end` of a file whose descriptor is borrowed, or to the end it has at that
   time. What can go wrong is kept in *fault, borrowed too: data that end too early as -EBADMSG.
   NULL without memory. */
struct stream *stream_new(const struct decoder_ops *ops, int fd, uint64_t at, uint64_t end,
			  struct unpack_fault *fault);
void stream_free(struct stream *s);
/* The next bytes, less than len only at the end or before a fault. */
size_t stream_read(struct stream *s, void *out, size_t len);
/* How far the file was used, and where the member began that it is in. */
uint64_t stream_offset(const struct stream *s);
uint64_t stream_member_offset(const struct stream *s);

SCOPED_DEFINE(struct stream, stream_free)

#endif
