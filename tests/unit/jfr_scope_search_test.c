// SPDX-License-Identifier: Apache-2.0
/* Scopes and names of spans that are written in a later chunk than what was in them. */
#include "jfr/scope_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "jfr/late_scopes.h"
#include "tests/unit/jfr_meaning.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define CHUNK_NS ((int64_t)WRITER_DURATION_NS)
#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define OUTER "00f067aa0ba902b7"
#define INNER "b7ad6b7169203331"

enum shape { SAMPLE, SCOPE, SPAN, INFORMATION };

static const struct event_shape shapes[] = {
	[SAMPLE] = { 201, "jdk.ExecutionSample", { SAMPLE_FIELDS } },
	[SCOPE] = { 203,
		    "io.opentelemetry.context.Scope",
		    { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("traceId"),
		      TEXT_FIELD("spanId") } },
	[SPAN] = { 204,
		   "io.opentelemetry.trace.Span",
		   { START_FIELD, DURATION_FIELD, THREAD_FIELD, TEXT_FIELD("operationName"),
		     TEXT_FIELD("traceId"), TEXT_FIELD("spanId") } },
	[INFORMATION] = { 206,
			  "jdk.JVMInformation",
			  { START_FIELD, TEXT_FIELD("jvmName"), TEXT_FIELD("jvmArguments"),
			    NUMBER_FIELD("pid") } },
};

/* Times count from the first chunk's start, in the chunks behind it too. */
static void begin_chunk(struct meaning *m, int64_t pid)
{
	int64_t number = m->n_chunks;

	if (number)
		jfr_chunk_end(&m->c);
	meaning_begin(m, shapes, N(shapes));
	m->c.start_ticks += TICKS(number * CHUNK_NS);
	if (pid)
		EVENT(m, &shapes[INFORMATION], AT(number * CHUNK_NS), { .text = "a JVM" },
		      { .text = "" }, { .n = pid });
}

static void put_thread(struct meaning *m, unsigned int key, unsigned int id)
{
	size_t at = checkpoint_begin(&m->c, false, 1);
	char name[32];

	snprintf(name, sizeof(name), "thread-%u", id);
	put_pool(m->c.b, T_THREAD, 1);
	put_varint(m->c.b, key);
	put_string(m->c.b, 3, name);
	put_varint(m->c.b, 1000 + id);
	put_string(m->c.b, 5, name);
	put_varint(m->c.b, id);
	put_varint(m->c.b, 0);
	put_u8(m->c.b, 0);
	event_end(m->c.b, at);
}

static void sample(struct meaning *m, int64_t at, int64_t thread)
{
	EVENT(m, &shapes[SAMPLE], AT(at), { .n = thread }, { .n = 1 }, { .n = 5 });
}

static void scope(struct meaning *m, int64_t from, int64_t to, int64_t thread, const char *span)
{
	EVENT(m, &shapes[SCOPE], AT(from), { .n = TICKS(to - from) }, { .n = thread },
	      { .text = TRACE }, { .text = span });
}

static void name(struct meaning *m, int64_t from, int64_t to, const char *text, const char *span)
{
	EVENT(m, &shapes[SPAN], AT(from), { .n = TICKS(to - from) }, { .n = 1 }, { .text = text },
	      { .text = TRACE }, { .text = span });
}

static void look_ahead(struct meaning *m, struct late_scopes *late, size_t n_threads)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	jfr_chunk_end(&m->c);
	assert_int_equal(write(fd, m->b.data, m->b.len), m->b.len);
	assert_int_equal(scope_search(fd, 0, true, n_threads, late, &m->in.known), 0);
	close(fd);
	m->in.late = late;
	m->in.groups = 1u << GROUP_CPU;
}

static void read_ahead(struct meaning *m, struct late_scopes *late, size_t n_threads)
{
	look_ahead(m, late, n_threads);
	meaning_read(m);
}

static void check(const struct seen_moment *m, const char *span, const char *text)
{
	assert_string_equal(m->span_id, span);
	assert_string_equal(m->trace_id, *span ? TRACE : "");
	assert_string_equal(m->span_name, text);
}

static void scopes_go_over_several_chunks(void **state)
{
	static const int64_t end = 2 * CHUNK_NS + 500;
	struct late_scopes late = { 0 };
	struct meaning m = { 0 };

	(void)state;
	begin_chunk(&m, 17);
	sample(&m, 100, 1);
	sample(&m, 1000, 1);
	sample(&m, 1000, 2);
	scope(&m, 1500, 1600, 1, INNER);
	sample(&m, 1550, 1);
	begin_chunk(&m, 17);
	sample(&m, CHUNK_NS + 10, 1);
	put_thread(&m, 30, 1);
	sample(&m, CHUNK_NS + 20, 30);
	begin_chunk(&m, 17);
	scope(&m, 200, end, 1, OUTER);
	name(&m, 90, end, "GET /", OUTER);
	name(&m, 1500, end, "SELECT", INNER);
	sample(&m, end - 1, 1);
	sample(&m, end, 1);
	read_ahead(&m, &late, 1);
	assert_int_equal(m.n, 8);
	check(&m.items[0], "", "");
	check(&m.items[1], OUTER, "GET /");
	check(&m.items[2], "", "");
	check(&m.items[3], INNER, "SELECT");
	check(&m.items[4], OUTER, "GET /");
	check(&m.items[5], OUTER, "GET /"); /* another key of this thread */
	check(&m.items[6], OUTER, "GET /");
	check(&m.items[7], "", "");
	late_scopes_deinit(&late);
	meaning_deinit(&m);
}

/* Threads of two JVMs have the same numbers. */
static void scopes_are_those_of_the_same_jvm_only(void **state)
{
	for (int64_t pid = 17; pid <= 18; pid++) {
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		begin_chunk(&m, 17);
		sample(&m, 1000, 1);
		begin_chunk(&m, pid);
		scope(&m, 200, CHUNK_NS + 5, 1, OUTER);
		read_ahead(&m, &late, 1);
		check(&m.items[0], pid == 17 ? OUTER : "", "");
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

/* Each has chunks whose scopes are another's business, and of another JVM, which only the first
   chunk of each says. */
static void several_threads_find_the_same(void **state)
{
	enum { N_CHUNKS = 12, N_OF_FIRST = 5 };

	for (size_t n = 1; n <= 3; n++) {
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		for (int64_t i = 0; i < N_CHUNKS; i++) {
			begin_chunk(&m, i == N_OF_FIRST ? 18 : i ? 0 : 17);
			sample(&m, i * CHUNK_NS + 50, 1);
			if (i)
				scope(&m, i * CHUNK_NS - CHUNK_NS + 40, i * CHUNK_NS + 10, 1,
				      OUTER);
		}
		read_ahead(&m, &late, n);
		for (int64_t i = 0; i < N_CHUNKS; i++)
			check(&m.items[i], i + 1 < N_CHUNKS && i + 1 != N_OF_FIRST ? OUTER : "",
			      "");
		assert_int_equal(late.n, N_CHUNKS - 1);
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

/* A span that several events name has the name of the one that is written last. */
static void last_of_several_names_counts_whoever_finds_it(void **state)
{
	enum { N_CHUNKS = 12 };

	for (size_t n = 1; n <= 3; n++) {
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };
		char text[32];

		(void)state;
		for (int64_t i = 0; i < N_CHUNKS; i++) {
			begin_chunk(&m, 17);
			if (!i)
				sample(&m, 50, 1);
			snprintf(text, sizeof(text), "name %d", (int)i);
			if (i)
				name(&m, 40, i * CHUNK_NS + 10, text, OUTER);
		}
		scope(&m, 40, (N_CHUNKS - 1) * CHUNK_NS + 10, 1, OUTER);
		read_ahead(&m, &late, n);
		check(&m.items[0], OUTER, "name 11");
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

/* The second chunk's clock was set before it began; or corrected, as it is all the time. */
static void clocks_that_were_set_lend_nothing(void **state)
{
	static const struct {
		int64_t set_ns;
		const char *early, *just_before, *in;
	} cases[] = {
		{ -CHUNK_NS / 2, "", "", "" },
		{ CHUNK_NS / 2, "", "", "" },
		{ -1000000, "", "", OUTER },
		{ 1000000, "", "", OUTER },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		begin_chunk(&m, 17);
		sample(&m, CHUNK_NS / 2, 1);
		sample(&m, CHUNK_NS / 10 * 9 - 500000, 1);
		sample(&m, CHUNK_NS / 10 * 9 + 500000, 1);
		begin_chunk(&m, 17);
		m.c.start_ns += cases[i].set_ns;
		scope(&m, CHUNK_NS / 10 * 9, CHUNK_NS / 10 * 11, 1, OUTER);
		read_ahead(&m, &late, 1);
		check(&m.items[0], cases[i].early, "");
		check(&m.items[1], cases[i].just_before, "");
		check(&m.items[2], cases[i].in, "");
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

/* Its application went, and the types with it. */
static void scopes_are_found_when_the_last_chunk_knows_no_such_type(void **state)
{
	struct late_scopes late = { 0 };
	struct meaning m = { 0 };

	(void)state;
	begin_chunk(&m, 17);
	sample(&m, 1000, 1);
	begin_chunk(&m, 17);
	scope(&m, 200, CHUNK_NS + 5, 1, OUTER);
	jfr_chunk_end(&m.c);
	meaning_begin(&m, &shapes[SAMPLE], 1);
	m.c.start_ticks += TICKS(2 * CHUNK_NS);
	read_ahead(&m, &late, 1);
	check(&m.items[0], OUTER, "");
	late_scopes_deinit(&late);
	meaning_deinit(&m);
}

/* Chunk after chunk, whenever it is of. */
static void begin_at(struct meaning *m, int64_t number, int64_t pid)
{
	if (m->n_chunks)
		jfr_chunk_end(&m->c);
	meaning_begin(m, shapes, N(shapes));
	m->c.start_ticks = WRITER_START_TICKS + TICKS(number * CHUNK_NS);
	m->c.start_ns = WRITER_START_NS + number * CHUNK_NS;
	if (pid)
		EVENT(m, &shapes[INFORMATION], AT(number * CHUNK_NS), { .text = "a JVM" },
		      { .text = "" }, { .n = pid });
}

/* The oldest chunk is not looked at, wherever it is. */
static void chunks_may_be_in_any_order(void **state)
{
	for (int64_t is_turned = 0; is_turned < 2; is_turned++) {
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		begin_at(&m, is_turned, 17);
		scope(&m, is_turned ? 200 : -200, is_turned * CHUNK_NS + 5, 1, OUTER);
		jfr_chunk_end(&m.c);
		meaning_begin(&m, &shapes[SAMPLE], 1);
		m.c.start_ns = WRITER_START_NS + !is_turned * CHUNK_NS;
		m.c.start_ticks = WRITER_START_TICKS + TICKS(!is_turned * CHUNK_NS);
		sample(&m, !is_turned * CHUNK_NS + 1000, 1);
		read_ahead(&m, &late, 1);
		assert_int_equal(late.n, is_turned);
		check(&m.items[0], is_turned ? OUTER : "", "");
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

/* Whose the recording is stands behind the damage, and nowhere else. */
static void first_chunk_may_be_damaged(void **state)
{
	struct late_scopes late = { 0 };
	struct meaning m = { 0 };
	size_t damaged;

	(void)state;
	begin_at(&m, 0, 0);
	for (int64_t i = 0; i < 10; i++)
		sample(&m, 100 + i, 1);
	damaged = m.b.len;
	for (int64_t i = 0; i < 10; i++)
		sample(&m, 200 + i, 1);
	memset(m.b.data + damaged, 0, 4);
	EVENT(&m, &shapes[INFORMATION], AT(300), { .text = "a JVM" }, { .text = "" }, { .n = 17 });
	begin_at(&m, 1, 0);
	sample(&m, CHUNK_NS + 1000, 1);
	begin_at(&m, 2, 0);
	scope(&m, CHUNK_NS + 200, 2 * CHUNK_NS + 200, 1, OUTER);
	look_ahead(&m, &late, 1);
	meaning_tell(&m, (struct moment_sink){
				 .ctx = &m, .wants = meaning_wants, .take = meaning_take });
	assert_int_equal(m.report.n_damages, 1);
	check(&m.items[m.n - 1], OUTER, "");
	late_scopes_deinit(&late);
	meaning_deinit(&m);
}

/* One thread under many keys, with many scopes: one chunk's times the other's. A small chunk costs
   little, as there may be many. */
static void what_is_lent_to_a_chunk_is_bounded(void **state)
{
	enum { N_SCOPES = 3000 };
	static const struct {
		unsigned int n_keys, most;
	} cases[] = { { 100, 10 * 1000 }, { 3000, 80 * 1000 } };

	for (size_t c = 0; c < N(cases); c++) {
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		begin_chunk(&m, 17);
		for (unsigned int i = 0; i < cases[c].n_keys; i++)
			put_thread(&m, 30 + i, 1);
		sample(&m, 1000000, 1);
		begin_chunk(&m, 17);
		for (int64_t i = 0; i < N_SCOPES; i++)
			scope(&m, 100 + 2 * i, CHUNK_NS + 10, 1, OUTER);
		read_ahead(&m, &late, 1);
		assert_int_equal(late.n, N_SCOPES);
		assert_in_range(m.in.spans.cap, N_SCOPES, cases[c].most);
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

/* Nor is one of which the end is missing. */
static void one_chunk_is_not_read_ahead(void **state)
{
	for (size_t n_cut = 0; n_cut < 2; n_cut++) {
		int fd = memfd_create("recording", MFD_CLOEXEC);
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		begin_chunk(&m, 17);
		scope(&m, -5, 20, 1, OUTER);
		sample(&m, 10, 1);
		jfr_chunk_end(&m.c);
		assert_int_equal(write(fd, m.b.data, m.b.len - n_cut), m.b.len - n_cut);
		assert_int_equal(scope_search(fd, 0, true, 1, &late, NULL), 0);
		assert_int_equal(late.n, 0);
		assert_int_equal(scope_search(fd, 0, false, 1, &late, NULL), 0);
		assert_int_equal(late.n, 1);
		close(fd);
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

static void remember_metadata(void *ctx, struct chunk *chunk)
{
	*(struct metadata **)ctx = metadata_ref(chunk->metadata);
}

/* Unless they are others. */
static void metadata_of_the_search_are_not_parsed_again(void **state)
{
	for (size_t is_other = 0; is_other < 2; is_other++) {
		struct metadata *used = NULL, *known;
		struct late_scopes late = { 0 };
		struct meaning m = { 0 };

		(void)state;
		begin_chunk(&m, 17);
		begin_chunk(&m, 17);
		look_ahead(&m, &late, 1);
		assert_non_null(m.in.known);
		known = metadata_ref(m.in.known);
		free(m.b.data);
		m.b = (struct jfr_bytes){ 0 };
		m.n_chunks = 0;
		if (is_other)
			meaning_begin(&m, &shapes[SAMPLE], 1);
		else
			begin_chunk(&m, 17);
		meaning_tell(&m, (struct moment_sink){ .ctx = &used, .begin = remember_metadata });
		assert_int_equal(m.err, 0);
		assert_int_equal(used == known, !is_other);
		metadata_unref(used);
		metadata_unref(known);
		late_scopes_deinit(&late);
		meaning_deinit(&m);
	}
}

static void find_and_lend(int fd)
{
	struct late_scopes late = { 0 };
	struct interpreter in = { .groups = UINT32_MAX, .late = &late };
	struct event_visitor visitor = interpreter_visitor(&in);
	struct recording_report report = { 0 };
	struct seen_chunks seen = { 0 };

	scope_search(fd, 0, true, 1, &late, &in.known);
	recording_read(fd, &visitor, &seen, &report);
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	interpreter_deinit(&in);
	late_scopes_deinit(&late);
}

static void survives_mutation(void **state)
{
	enum { STEP = 83 }; /* of bits and bytes, as each reads the file twice */
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct meaning m = { 0 };

	(void)state;
	begin_chunk(&m, 17);
	begin_chunk(&m, 17);
	scope(&m, 200, CHUNK_NS + 10, 1, OUTER);
	name(&m, 90, CHUNK_NS + 10, "GET /", OUTER);
	jfr_chunk_end(&m.c);
	assert_int_equal(write(fd, m.b.data, m.b.len), m.b.len);
	for (size_t bit = 0; bit < 8 * m.b.len; bit += STEP) {
		uint8_t byte = (uint8_t)(m.b.data[bit / 8] ^ 1u << bit % 8);

		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
		find_and_lend(fd);
		assert_int_equal(pwrite(fd, &m.b.data[bit / 8], 1, (off_t)(bit / 8)), 1);
	}
	for (size_t n = m.b.len; n > STEP && !ftruncate(fd, (off_t)n); n -= STEP)
		find_and_lend(fd);
	close(fd);
	meaning_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scopes_go_over_several_chunks),
		cmocka_unit_test(scopes_are_those_of_the_same_jvm_only),
		cmocka_unit_test(several_threads_find_the_same),
		cmocka_unit_test(last_of_several_names_counts_whoever_finds_it),
		cmocka_unit_test(clocks_that_were_set_lend_nothing),
		cmocka_unit_test(scopes_are_found_when_the_last_chunk_knows_no_such_type),
		cmocka_unit_test(chunks_may_be_in_any_order),
		cmocka_unit_test(first_chunk_may_be_damaged),
		cmocka_unit_test(what_is_lent_to_a_chunk_is_bounded),
		cmocka_unit_test(one_chunk_is_not_read_ahead),
		cmocka_unit_test(metadata_of_the_search_are_not_parsed_again),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
