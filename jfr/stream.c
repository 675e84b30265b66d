// SPDX-License-Identifier: Apache-2.0
#include "jfr/stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/hurry.h"
#include "jfr/decoder.h"

#define IN_LEN (256 << 10)

struct stream {
	const struct decoder_ops *ops;
	void *priv;
	struct unpack_fault *fault;
	int fd;
	uint64_t at, end; /* of the file: the next byte to read, and behind the last one */
	uint64_t member_at;
	size_t used, len; /* of in */
	bool is_ended, is_in_member, is_later_member;
	uint8_t in[IN_LEN];
};

struct stream *stream_new(const struct decoder_ops *ops, int fd, uint64_t at, uint64_t end,
			  struct unpack_fault *fault)
{
	struct stream *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct stream, in));
	s->ops = ops;
	s->fd = fd;
	s->at = at;
	s->end = end;
	s->fault = fault;
	s->priv = ops->new ();
	if (!s->priv) {
		free(s);
		return NULL;
	}
	return s;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	s->ops->free(s->priv);
	free(s);
}

uint64_t stream_offset(const struct stream *s)
{
	return s->at - (s->len - s->used);
}

uint64_t stream_member_offset(const struct stream *s)
{
	return s->member_at;
}

/* At least `least` bytes to decode, if the file has them. False after a fault. */
static bool fill(struct stream *s, size_t least)
{
	memmove(s->in, s->in + s->used, s->len - s->used);
	s->len -= s->used;
	s->used = 0;
	while (s->len < least && s->at < s->end) {
		size_t room = sizeof(s->in) - s->len;
		size_t want = s->end - s->at < room ? (size_t)(s->end - s->at) : room;
		ssize_t n = pread(s->fd, s->in + s->len, want, (off_t)s->at);

		if (n < 0 && errno == EINTR && !hurry_is_on())
			continue;
		if (n < 0) {
			unpack_fault_set(s->fault, -errno, s->at, "cannot be read: %s",
					 strerror(errno));
			return false;
		}
		if (!n)
			break;
		s->at += (uint64_t)n;
		s->len += (size_t)n;
	}
	return true;
}

/* Is all that follows the last member zeros? As tapes and some disks leave it. */
static bool is_padding(struct stream *s)
{
	while (s->len > s->used) {
		for (; s->used < s->len; s->used++)
			if (s->in[s->used])
				return false;
		if (hurry_is_on())
			unpack_fault_set(s->fault, -EINTR, stream_offset(s), "was interrupted");
		if (s->fault->err || !fill(s, 1))
			return false;
	}
	return true;
}

/* At the end of a member, or before the first one. */
static void begin_member(struct stream *s)
{
	const char *reason = NULL;
	int status;

	if (s->len - s->used < DECODER_HEAD_LEN && !fill(s, DECODER_HEAD_LEN))
		return;
	s->member_at = stream_offset(s);
	if (s->len == s->used && s->is_later_member) {
		s->is_ended = true;
		return;
	}
	status = s->ops->sniff(s->in + s->used, s->len - s->used, &reason);
	if (status < 0) {
		unpack_fault_set(s->fault, status, stream_offset(s), "%s data %s", s->ops->name,
				 reason);
	} else if (status) {
		if (s->is_later_member)
			s->ops->reset(s->priv);
		s->is_in_member = s->is_later_member = true;
	} else if (s->is_later_member && is_padding(s)) {
		s->is_ended = true;
	} else {
		unpack_fault_set(s->fault, -EBADMSG, stream_offset(s),
				 "something else follows the %s data", s->ops->name);
	}
}

static void step(struct stream *s, struct decoder_io *io)
{
	const char *reason = NULL;
	size_t out_len = io->out_len, in_len;
	int status;

	if (s->used == s->len && !fill(s, 1))
		return;
	io->in = s->in + s->used;
	in_len = io->in_len = s->len - s->used;
	status = s->ops->step(s->priv, io, &reason);
	s->used += in_len - io->in_len;
	if (status < 0) {
		unpack_fault_set(s->fault, status, stream_offset(s), "%s%s data: %s",
				 status == -EBADMSG ? "damaged " : "", s->ops->name,
				 reason ? reason : "no reason given");
	} else if (status) {
		s->is_in_member = false;
		s->is_ended = s->ops->is_single;
	} else if (!in_len && io->out_len == out_len) {
		s->is_ended =
			s->ops->is_unmarked && (s->at == s->end || s->end == STREAM_TO_THE_END);
		if (!s->is_ended)
			unpack_fault_set(s->fault, -EBADMSG, stream_offset(s),
					 "the %s data end in the middle", s->ops->name);
	}
}

size_t stream_read(struct stream *s, void *out, size_t len)
{
	struct decoder_io io = { .out = out, .out_len = len };

	while (io.out_len && !s->is_ended && !s->fault->err) {
		if (hurry_is_on())
			unpack_fault_set(s->fault, -EINTR, stream_offset(s), "was interrupted");
		else if (!s->is_in_member)
			begin_member(s);
		else
			step(s, &io);
	}
	return len - io.out_len;
}
