/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks with headers as JVMs write them and bodies of numbers: what a watch decides depends on
 * nothing else. An "event" is 16 bytes: the chunk's start and its number in the chunk.
 */
#ifndef TESTS_UNIT_JFR_TOY_H
#define TESTS_UNIT_JFR_TOY_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define TOY_HEAD 68
#define TOY_EVENT 16

struct toy_header {
	uint64_t size, constants_at, metadata_at, start_ns, duration_ns, start_ticks;
	uint8_t state;
	bool is_last; /* its JVM's last chunk */
};

static inline void toy_be(uint8_t *at, uint64_t value, int len)
{
	for (int i = 0; i < len; i++)
		at[i] = (uint8_t)(value >> 8 * (len - 1 - i));
}

static inline void toy_head(const struct toy_header *h, uint8_t out[TOY_HEAD])
{
	memset(out, 0, TOY_HEAD);
	memcpy(out, "FLR", 4);
	toy_be(out + 4, 2, 2);
	toy_be(out + 6, 1, 2);
	toy_be(out + 8, h->size, 8);
	toy_be(out + 16, h->constants_at, 8);
	toy_be(out + 24, h->metadata_at, 8);
	toy_be(out + 32, h->start_ns, 8);
	toy_be(out + 40, h->duration_ns, 8);
	toy_be(out + 48, h->start_ticks, 8);
	toy_be(out + 56, 1000000000, 8);
	out[64] = h->state;
	toy_be(out + 66, h->is_last ? 3 : 1, 2);
}

/* What its JVM has said of a chunk with so many events, the first n_flushed of them flushed. */
static inline struct toy_header toy_live(uint64_t start_ns, unsigned int n_flushed)
{
	return (struct toy_header){ .size = TOY_HEAD + (uint64_t)n_flushed * TOY_EVENT,
				    .constants_at = n_flushed ? TOY_HEAD : 0,
				    .metadata_at = n_flushed ? TOY_HEAD : 0,
				    .start_ns = start_ns,
				    .duration_ns = n_flushed,
				    .start_ticks = start_ns,
				    .state = 1 };
}

static inline struct toy_header toy_final(uint64_t start_ns, unsigned int n)
{
	struct toy_header h = toy_live(start_ns, n);

	h.state = 0;
	return h;
}

static inline void toy_write_head(int fd, uint64_t at, const struct toy_header *h)
{
	uint8_t bytes[TOY_HEAD];

	toy_head(h, bytes);
	if (pwrite(fd, bytes, sizeof(bytes), (off_t)at) < 0)
		abort();
}

static inline void toy_write_events(int fd, uint64_t at, uint64_t start_ns, unsigned int from,
				    unsigned int to)
{
	for (unsigned int i = from; i < to; i++) {
		uint8_t bytes[TOY_EVENT];

		toy_be(bytes, start_ns, 8);
		toy_be(bytes + 8, i, 8);
		if (pwrite(fd, bytes, sizeof(bytes),
			   (off_t)(at + TOY_HEAD + (uint64_t)i * TOY_EVENT)) < 0)
			abort();
	}
}

/* A finished chunk at an offset; its end is returned. */
static inline uint64_t toy_write_chunk(int fd, uint64_t at, uint64_t start_ns, unsigned int n)
{
	struct toy_header h = toy_final(start_ns, n);

	toy_write_head(fd, at, &h);
	toy_write_events(fd, at, start_ns, 0, n);
	return at + h.size;
}

/* The same, of a JVM that ends with it. */
static inline void toy_write_last(int fd, uint64_t start_ns, unsigned int n)
{
	struct toy_header h = toy_final(start_ns, n);

	h.is_last = true;
	toy_write_events(fd, 0, start_ns, 0, n);
	toy_write_head(fd, 0, &h);
}

static inline int toy_open(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

#endif
