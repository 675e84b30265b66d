// SPDX-License-Identifier: Apache-2.0
/* Recordings that are well but not like most: where metadata and constants lie, how large events
   are, what ids types have; and files that change while they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "core/hurry.h"
#include "jfr/constants.h"
#include "jfr/window.h"
#include "tests/unit/jfr_world.h"

static void read_and_free(struct world_reading *got, struct jfr_bytes *b)
{
	*got = (struct world_reading){ 0 };
	world_read(got, b->data, b->len);
	free(b->data);
	*b = (struct jfr_bytes){ 0 };
	assert_int_equal(got->err, 0);
}

static void all_is_well(struct world_reading *got, size_t n)
{
	assert_int_equal(got->n, n);
	assert_int_equal(got->counted, n);
	assert_int_equal(got->report.n_damages, 0);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(got->items[i].type, "sample"))
			assert_string_equal(got->items[i].method, "p.A.method7:42");
	world_reading_deinit(got);
}

static void metadata_may_come_last_and_several_times(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct jfr_types t = { 0 };
	struct world_reading got;

	(void)state;
	types_begin(&t); /* the first one does not know the note yet */
	world_primitives(&t);
	world_constants(&t);
	put_metadata(&c, &t);
	types_free(&t);
	world_checkpoint(&c, 7, "p/A");
	world_sample(&c, 1, 7);
	world_note(&c, 2, "text");
	world_metadata(&c);
	jfr_chunk_end(&c);
	read_and_free(&got, &b);
	all_is_well(&got, 2);
}

static void checkpoint_that_no_way_leads_to_is_found(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct world_reading got;

	(void)state;
	world_metadata(&c);
	world_checkpoint(&c, 7, "p/A");
	world_sample(&c, 1, 7);
	c.constants_at = 0; /* the next one says that it is the first */
	world_checkpoint(&c, 9, "p/B");
	jfr_chunk_end(&c);
	read_and_free(&got, &b);
	all_is_well(&got, 1);
}

/* As JMC's writer does: ids 0 and 1 are primitive types, too. */
static void types_may_have_the_ids_of_metadata_and_checkpoints(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct jfr_types t = world_types();
	struct world_reading got;

	(void)state;
	add_class(&t, 0, "test.Zero", "jdk.jfr.Event");
	add_class(&t, 1, "test.One", NULL);
	types_end(&t);
	put_metadata(&c, &t);
	types_free(&t);
	world_sample(&c, 1, 7);
	world_checkpoint(&c, 7, "p/A");
	world_note(&c, 2, "text");
	jfr_chunk_end(&c);
	read_and_free(&got, &b);
	assert_int_equal(got.report.counts[0], 1);
	assert_int_equal(got.report.counts[1], 1);
	all_is_well(&got, 2);
}

static void same_key_again_changes_nothing(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct world_reading got;

	(void)state;
	world_metadata(&c);
	world_sample(&c, 1, 7);
	world_checkpoint(&c, 7, "p/A");
	world_checkpoint(&c, 7, "p/A");
	jfr_chunk_end(&c);
	read_and_free(&got, &b);
	all_is_well(&got, 1);
}

static void put_text(struct jfr_chunk *c, size_t len)
{
	char *text = malloc(len + 1);

	memset(text, 'x', len);
	text[len] = '\0';
	world_note(c, 5, text);
	free(text);
}

static void events_may_be_larger_than_the_window(void **state)
{
	static const size_t lens[] = { WINDOW_LEN - 100, WINDOW_LEN, 3 * WINDOW_LEN };

	(void)state;
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		struct jfr_bytes b = { 0 };
		struct jfr_chunk c = jfr_chunk_begin(&b, 0);
		struct world_reading got;

		world_metadata(&c);
		world_sample(&c, 1, 7);
		put_text(&c, lens[i]);
		world_sample(&c, 2, 7);
		put_text(&c, lens[i]);
		world_checkpoint(&c, 7, "p/A");
		world_note(&c, 2, "text");
		jfr_chunk_end(&c);
		read_and_free(&got, &b);
		all_is_well(&got, 5);
	}
}

/* The border lies in every byte of an event and of its head once. */
static void events_may_lie_on_the_borders_of_windows(void **state)
{
	for (size_t shift = 0; shift < 40; shift++) {
		struct jfr_bytes b = { 0 };
		struct jfr_chunk c = jfr_chunk_begin(&b, 0);
		struct world_reading got;
		size_t n = 1;

		(void)state;
		world_metadata(&c);
		put_text(&c, WINDOW_LEN - b.len - 60 - shift);
		for (; n < 30; n++)
			world_sample(&c, (int64_t)n, 7);
		world_checkpoint(&c, 7, "p/A");
		jfr_chunk_end(&c);
		read_and_free(&got, &b);
		all_is_well(&got, n);
	}
}

static void events_behind_a_megabyte_of_garbage_are_found(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct world_reading got;
	unsigned int seed = 1;
	size_t from, to;

	(void)state;
	world_metadata(&c);
	world_sample(&c, 1, 7);
	from = b.len;
	for (int i = 0; i < 1 << 20; i++)
		put_u8(&b, (unsigned int)rand_r(&seed) & 0xff);
	to = b.len;
	for (int i = 0; i < 5; i++)
		world_sample(&c, i, 7);
	world_checkpoint(&c, 7, "p/A");
	jfr_chunk_end(&c);
	read_and_free(&got, &b);
	assert_int_equal(got.report.n_damages, 1);
	assert_int_equal(got.report.damages[0].at, from);
	assert_int_equal(got.report.damages[0].len, to - from);
	got.report.n_damages = 0;
	all_is_well(&got, 6);
}

/* A chain of checkpoints that lie in each other would be read over and over. */
static void checkpoints_of_a_chain_do_not_overlap(void **state)
{
	(void)state;
	for (int is_overlapping = 0; is_overlapping < 2; is_overlapping++) {
		struct jfr_bytes b = { 0 };
		struct jfr_chunk c = jfr_chunk_begin(&b, 0);
		int fd = memfd_create("chain", MFD_CLOEXEC);
		struct chunk_header h;
		struct window window;
		struct chunk *chunk;
		const char *what;
		size_t outer, inner;

		world_metadata(&c);
		outer = checkpoint_begin(&c, true, 0);
		if (!is_overlapping)
			event_end(&b, outer);
		inner = checkpoint_begin(&c, false, 0);
		event_end(&b, inner);
		if (is_overlapping)
			event_end(&b, outer);
		jfr_chunk_end(&c);
		assert_int_equal(write(fd, b.data, b.len), b.len);
		assert_int_equal(chunk_header_parse(b.data, 68, &h, &what), 0);
		assert_int_equal(window_init(&window, fd), 0);
		chunk = chunk_new(&window, 0, &h);
		assert_int_equal(chunk_load(chunk, b.len, NULL), is_overlapping ? -EBADMSG : 0);
		chunk_free(chunk);
		window_deinit(&window);
		close(fd);
		free(b.data);
	}
}

static int cut_after_some(void *ctx, struct chunk *c, const struct event *e)
{
	int *left = ctx;

	(void)e;
	if (!--*left && ftruncate(c->window->fd, (off_t)(c->at + CHUNK_HEADER_LEN + 5000)))
		return -EIO;
	return 0;
}

static void file_that_becomes_shorter_is_read_as_far_as_it_goes(void **state)
{
	struct event_visitor visitor = { .bind = world_bind, .event = cut_after_some };
	struct recording_report report = { 0 };
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct seen_chunks seen = { 0 };
	int fd = memfd_create("shrinks", MFD_CLOEXEC), left = 10;

	(void)state;
	visitor.ctx = &left;
	world_metadata(&c);
	while (b.len < 3 * WINDOW_LEN)
		world_note(&c, 5, "some text to fill the file with");
	world_checkpoint(&c, 7, "p/A");
	jfr_chunk_end(&c);
	assert_int_equal(write(fd, b.data, b.len), b.len);
	assert_int_equal(recording_read(fd, &visitor, &seen, &report), 0);
	assert_int_equal(report.n_damages, 1);
	assert_string_equal(report.damages[0].what, "the file became shorter");
	assert_int_equal(report.damages[0].at + report.damages[0].len, b.len);
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	close(fd);
	free(b.data);
}

static void whoever_is_in_a_hurry_gets_what_was_read(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct world_reading got = { 0 };

	(void)state;
	world_metadata(&c);
	world_sample(&c, 1, 7);
	world_checkpoint(&c, 7, "p/A");
	jfr_chunk_end(&c);
	hurry_set(true);
	world_read(&got, b.data, b.len);
	hurry_set(false);
	assert_int_equal(got.err, -EINTR);
	assert_int_equal(got.n, 0);
	world_reading_deinit(&got);
	free(b.data);
}

/* A class whose name is a method of that class. */
static void names_that_go_in_circles_end(void **state)
{
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct jfr_types t = { 0 };
	struct world_reading got;
	size_t at;

	(void)state;
	types_begin(&t);
	world_primitives(&t);
	add_class(&t, T_CLASS, "java.lang.Class", NULL);
	add_field(&t, "name", T_METHOD, FIELD_CONSTANT);
	add_class(&t, T_METHOD, "jdk.types.Method", NULL);
	add_field(&t, "type", T_CLASS, FIELD_CONSTANT);
	add_field(&t, "name", T_METHOD, FIELD_CONSTANT);
	add_class(&t, T_STACK, "jdk.types.StackTrace", NULL);
	add_field(&t, "frames", T_FRAME, FIELD_ARRAY);
	add_class(&t, T_FRAME, "jdk.types.StackFrame", NULL);
	add_field(&t, "method", T_METHOD, FIELD_CONSTANT);
	add_class(&t, T_THREAD, "java.lang.Thread", NULL);
	add_field(&t, "javaName", T_THREAD, FIELD_CONSTANT);
	add_field(&t, "group", T_CLASS, FIELD_CONSTANT);
	add_class(&t, T_STATE, "jdk.types.ThreadState", NULL);
	world_events(&t);
	put_metadata(&c, &t);
	types_free(&t);
	world_sample(&c, 1, 7);
	at = checkpoint_begin(&c, true, 4);
	put_pool(&b, T_CLASS, 1);
	put_bytes(&b, "\7\7", 2);
	put_pool(&b, T_METHOD, 1);
	put_bytes(&b, "\7\7\7", 3);
	put_pool(&b, T_STACK, 1);
	put_bytes(&b, "\7\1\7", 3);
	put_pool(&b, T_THREAD, 1);
	put_bytes(&b, "\7\7\7", 3);
	event_end(&b, at);
	jfr_chunk_end(&c);
	read_and_free(&got, &b);
	assert_int_equal(got.n, 1);
	assert_true(*got.items[0].thread);
	world_reading_deinit(&got);
}

/* Newer metadata that says nothing about a type leaves the constants as they were. */
static void constants_outlive_metadata_that_does_not_fit(void **state)
{
	struct jfr_types t = { 0 };
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct metadata *older, *newer;
	struct constants *constants;
	const char *what;
	uint64_t where;
	struct reader r;
	size_t second;
	int err;

	(void)state;
	world_metadata(&c);
	older = metadata_parse(b.data + 68, b.len - 68, &err, &what, &where);
	second = b.len;
	types_begin(&t);
	world_primitives(&t);
	add_class(&t, T_THREAD, "java.lang.Thread", NULL);
	put_metadata(&c, &t);
	types_free(&t);
	newer = metadata_parse(b.data + second, b.len - second, &err, &what, &where);
	second = b.len;
	world_checkpoint(&c, 7, "p/A");
	constants = constants_new(older);
	reader_init(&r, b.data + second + 5, b.len - second - 5);
	assert_int_equal(constants_add(constants, &r), 0);
	assert_int_equal(constants_update(constants, newer), -EBADMSG);
	metadata_unref(newer);
	assert_ptr_equal(constants_metadata(constants), older);
	assert_int_equal(layout_n_leaves(pool_layout(constants_pool(constants, T_THREAD))), 6);
	assert_string_equal(
		layout_leaf(pool_layout(constants_pool(constants, T_THREAD)), 0)->field->name,
		"osName");
	assert_non_null(pool_find(constants_pool(constants, T_STACK), 7));
	assert_null(pool_find(constants_pool(constants, T_STACK), 8));
	assert_null(constants_pool(constants, 999));
	constants_free(constants);
	metadata_unref(older);
	free(b.data);
}

static void any_64_bits_may_be_a_key(void **state)
{
	static const int64_t keys[] = { 0, -1, 1, INT64_MIN, INT64_MAX, (int64_t)1 << 33, 77 };
	const size_t n = sizeof(keys) / sizeof(*keys);
	struct jfr_bytes b = { 0 };
	struct jfr_chunk c = jfr_chunk_begin(&b, 0);
	struct constants *constants;
	struct metadata *m;
	const char *what;
	uint64_t where;
	struct reader r;
	size_t at;
	int err;

	(void)state;
	world_metadata(&c);
	m = metadata_parse(b.data + 68, b.len - 68, &err, &what, &where);
	at = checkpoint_begin(&c, true, 1);
	put_pool(&b, T_SYMBOL, n);
	for (size_t i = 0; i < n; i++) {
		put_varint(&b, (uint64_t)keys[i]);
		put_string(&b, 3, "s");
	}
	event_end(&b, at);
	constants = constants_new(m);
	reader_init(&r, b.data + at + 5, b.len - at - 5);
	assert_int_equal(constants_add(constants, &r), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(pool_find(constants_pool(constants, T_SYMBOL), keys[i])->key,
				 keys[i]);
	assert_null(pool_find(constants_pool(constants, T_SYMBOL), 78));
	constants_free(constants);
	metadata_unref(m);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metadata_may_come_last_and_several_times),
		cmocka_unit_test(checkpoint_that_no_way_leads_to_is_found),
		cmocka_unit_test(types_may_have_the_ids_of_metadata_and_checkpoints),
		cmocka_unit_test(same_key_again_changes_nothing),
		cmocka_unit_test(events_may_be_larger_than_the_window),
		cmocka_unit_test(events_may_lie_on_the_borders_of_windows),
		cmocka_unit_test(events_behind_a_megabyte_of_garbage_are_found),
		cmocka_unit_test(checkpoints_of_a_chain_do_not_overlap),
		cmocka_unit_test(file_that_becomes_shorter_is_read_as_far_as_it_goes),
		cmocka_unit_test(whoever_is_in_a_hurry_gets_what_was_read),
		cmocka_unit_test(names_that_go_in_circles_end),
		cmocka_unit_test(constants_outlive_metadata_that_does_not_fit),
		cmocka_unit_test(any_64_bits_may_be_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
