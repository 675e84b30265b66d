// SPDX-License-Identifier: Apache-2.0
/* Which chunks are worth a search for scopes. */
#include "jfr/scope_hint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "jfr/chunk_list.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct event_shape sample = { 201, "jdk.ExecutionSample", { SAMPLE_FIELDS } };
static const struct event_shape tagged = {
	202,
	"profiler.Span",
	{ START_FIELD, DURATION_FIELD, THREAD_FIELD, { "tag", T_STRING, FIELD_CONSTANT, 0, NULL } }
};
static const struct event_shape scope = { 203,
					  "io.opentelemetry.context.Scope",
					  { START_FIELD, DURATION_FIELD, THREAD_FIELD,
					    TEXT_FIELD("traceId"), TEXT_FIELD("spanId") } };

/* A string for each key, behind the constants of another type. */
static void put_checkpoint(struct jfr_chunk *c, bool is_first, const int64_t *keys, size_t n)
{
	size_t at = checkpoint_begin(c, is_first, 2);

	put_pool(c->b, T_STATE, 1);
	put_varint(c->b, 5);
	put_string(c->b, 3, "STATE_RUNNABLE");
	put_pool(c->b, T_STRING, n);
	for (size_t i = 0; i < n; i++) {
		put_varint(c->b, (uint64_t)keys[i]);
		put_string(c->b, 3, keys[i] ? "a tag" : "");
	}
	event_end(c->b, at);
}

static struct jfr_chunk begin(struct jfr_bytes *b, int64_t number, const struct event_shape *shape)
{
	struct jfr_types t = world_types();
	struct jfr_chunk c;

	add_shape(&t, shape);
	types_end(&t);
	c = jfr_chunk_begin(b, number);
	put_metadata(&c, &t);
	types_free(&t);
	return c;
}

/* A chunk of such events, with strings for keys. */
static void put_chunk(struct jfr_bytes *b, int64_t number, const struct event_shape *shape,
		      const int64_t *keys, size_t n)
{
	struct jfr_chunk c = begin(b, number, shape);

	put_checkpoint(&c, true, keys, n);
	jfr_chunk_end(&c);
}

/* One verdict a chunk, '1' or '0'. */
static const char *verdicts(struct jfr_bytes *b, char *out)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct scope_hint hint = { 0 };
	struct chunk_list l = { 0 };
	size_t i;

	assert_int_equal(write(fd, b->data, b->len), b->len);
	assert_int_equal(chunk_list_read(fd, &l), 0);
	for (i = 0; i < l.n; i++)
		out[i] = scope_hint_has(&hint, fd, &l.items[i]) ? '1' : '0';
	out[i] = '\0';
	scope_hint_deinit(&hint);
	chunk_list_deinit(&l);
	close(fd);
	free(b->data);
	return out;
}

/* Chunks of such events, with the strings from one of the keys up to another. */
struct listed {
	const struct event_shape *shape;
	size_t from, to;
};

static void expect(const char *expected, const struct listed *chunks, size_t n)
{
	static const int64_t keys[] = { 0, 7 };
	struct jfr_bytes b = { 0 };
	char out[8];

	for (size_t i = 0; i < n; i++)
		put_chunk(&b, (int64_t)i, chunks[i].shape, keys + chunks[i].from,
			  chunks[i].to - chunks[i].from);
	assert_string_equal(verdicts(&b, out), expected);
}

static void types_say_whether_there_may_be_any(void **state)
{
	static const struct listed chunks[] = {
		{ &sample, 1, 2 }, { &scope, 0, 0 }, { &scope, 0, 0 }, { &sample, 1, 2 }
	};

	(void)state;
	expect("0110", chunks, N(chunks));
}

static void spans_of_async_profiler_are_there_when_they_are_called_something(void **state)
{
	static const struct listed chunks[] = {
		{ &tagged, 0, 0 }, { &tagged, 0, 1 }, { &tagged, 0, 2 },
		{ &tagged, 1, 2 }, { &tagged, 0, 0 },
	};

	(void)state;
	expect("00110", chunks, N(chunks));
}

static void what_cannot_be_told_is_worth_a_search(void **state)
{
	static const int64_t keys[] = { 0 };
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c;
	char out[8];
	size_t at;

	(void)state;
	c = begin(&b, 0,
		  &tagged); /* there are more constants than those that its header leads to */
	put_checkpoint(&c, true, keys, 1);
	put_checkpoint(&c, false, keys, 1);
	jfr_chunk_end(&c);
	c = begin(&b, 1, &tagged); /* a type that is not described */
	at = checkpoint_begin(&c, true, 1);
	put_pool(&b, 4711, 1);
	event_end(&b, at);
	jfr_chunk_end(&c);
	c = begin(&b, 2, &tagged); /* no constants where they should be */
	c.constants_at = c.metadata_at;
	jfr_chunk_end(&c);
	c = begin(&b, 3, &tagged); /* constants that go on behind their chunk */
	put_checkpoint(&c, true, keys, 1);
	at = b.len;
	jfr_chunk_end(&c);
	memcpy(b.data + c.at + c.constants_at, "\xff\xff\x83\0", 4);
	put_chunk(&b, 4, &tagged, keys, 1);
	assert_true(at - c.at - c.constants_at < 0xffff);
	assert_string_equal(verdicts(&b, out), "11110");
}

/* Metadata of one length, and one with another number. */
static void metadata_are_the_same_by_their_number(void **state)
{
	static const struct event_shape other = { 203,
						  "io.opentelemetry.context.Shape",
						  { START_FIELD, TEXT_FIELD("traceId") } };
	static const struct event_shape same = { 203,
						 "io.opentelemetry.context.Scope",
						 { START_FIELD, TEXT_FIELD("traceId") } };
	struct jfr_bytes b = { 0 };
	const uint8_t *number;
	struct jfr_chunk c;
	char out[8];

	(void)state;
	for (int64_t i = 0; i < 2; i++) {
		c = begin(&b, i, i ? &same : &other);
		put_checkpoint(&c, true, NULL, 0);
		jfr_chunk_end(&c);
		number = b.data + c.at + c.metadata_at + 5; /* behind its size and type */
		wire_varint_here(&number);		    /* its time, */
		b.data[number + 1 - b.data] ^= (uint8_t)i;  /* and duration */
	}
	assert_string_equal(verdicts(&b, out), "01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_say_whether_there_may_be_any),
		cmocka_unit_test(spans_of_async_profiler_are_there_when_they_are_called_something),
		cmocka_unit_test(what_cannot_be_told_is_worth_a_search),
		cmocka_unit_test(metadata_are_the_same_by_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
