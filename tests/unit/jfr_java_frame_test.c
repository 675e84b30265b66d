// SPDX-License-Identifier: Apache-2.0
#include "jfr/java_frame.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "jfr/constants.h"
#include "jfr/jvms.h"
#include "jfr/metadata.h"
#include "jfr/names_row.h"
#include "tests/unit/jfr_world.h"

#define N_FRAMES 5
#define MISSING 99

/* The method, the line, and in how many bytes each of the two is written at least. */
struct frame {
	uint64_t method, line;
	unsigned int width;
};

static void put_stack(struct jfr_bytes *b, uint64_t key, const struct frame *frames)
{
	put_varint(b, key);
	put_u8(b, 0);
	put_varint(b, N_FRAMES);
	for (size_t i = 0; i < N_FRAMES; i++) {
		put_padded(b, frames[i].method, frames[i].width);
		put_padded(b, frames[i].line, frames[i].width);
		put_varint(b, 7);
		put_varint(b, 1);
	}
}

/* Stacks 11 and 12, and sample after sample for the visitor to look at them. */
static void make(struct jfr_bytes *b, const struct frame *first, const struct frame *second)
{
	struct jfr_chunk c = jfr_chunk_begin(b, 0);
	size_t at;

	world_metadata(&c);
	world_checkpoint(&c, 1, "p/C");
	world_checkpoint(&c, 2, "p/D");
	at = checkpoint_begin(&c, false, 1);
	put_pool(b, T_STACK, 2);
	put_stack(b, 11, first);
	put_stack(b, 12, second);
	event_end(b, at);
	world_sample(&c, 1, 1);
	jfr_chunk_end(&c);
}

static void read_with(const struct frame *first, const struct frame *second,
		      int (*look)(void *ctx, struct chunk *c, const struct event *e))
{
	size_t n_seen = 0;
	struct event_visitor visitor = { .ctx = &n_seen, .bind = world_bind, .event = look };
	struct recording_report report = { 0 };
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct seen_chunks seen = { 0 };
	struct jfr_bytes b = { 0 };

	make(&b, first, second);
	assert_int_equal(write(fd, b.data, b.len), b.len);
	assert_int_equal(recording_read(fd, &visitor, &seen, &report), 0);
	assert_int_equal(n_seen, 1);
	assert_int_equal(report.n_damages, 0);
	recording_report_deinit(&report);
	seen_chunks_deinit(&seen);
	close(fd);
	free(b.data);
}

static const struct frame callers[N_FRAMES] = {
	{ 1, 42, 1 }, { 2, 300, 1 }, { 1, 43, 1 }, { 2, 300, 5 }, { 1, 42, 9 }
};

static void assert_frame(const struct java_frame *f, const char *method, int line)
{
	assert_string_equal(f->method->name, method);
	assert_int_equal(f->line, line);
	assert_int_equal(f->bci, 7);
	assert_int_equal(f->type, JAVA_COMPILED);
}

static int shared(void *ctx, struct chunk *c, const struct event *e)
{
	struct java_stack *a = names_stack(c, T_STACK, 11), *b = names_stack(c, T_STACK, 12);

	(void)e;
	++*(size_t *)ctx;
	assert_int_equal(a->n, N_FRAMES);
	for (size_t i = 0; i < N_FRAMES; i++) {
		assert_frame(a->frames[i], i % 2 ? "method2" : "method1",
			     i % 2    ? 300
			     : i == 2 ? 43
				      : 42);
		assert_frame(b->frames[i], i % 2 ? "method2" : "method1",
			     i % 2    ? 300
			     : i == 2 ? 43
				      : 42);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_ptr_equal(a->frames[i], b->frames[i]);
		assert_true(a->frames[i]->is_shared);
	}
	/* Numbers of nine bytes are read one by one. */
	assert_ptr_not_equal(a->frames[4], b->frames[4]);
	assert_false(a->frames[4]->is_shared);
	assert_ptr_not_equal(a->frames[0], a->frames[2]);
	((struct java_frame *)a->frames[0])->location = 5;
	names_forget(c->names);
	assert_int_equal(b->frames[0]->location, 0);
	return 0;
}

static void frames_of_the_same_bytes_are_one(void **state)
{
	(void)state;
	read_with(callers, callers, shared);
}

static int missing(void *ctx, struct chunk *c, const struct event *e)
{
	struct java_stack *a = names_stack(c, T_STACK, 11), *b = names_stack(c, T_STACK, 12);
	const struct java_frame *own = a->frames[2];

	(void)e;
	++*(size_t *)ctx;
	assert_true(a->is_partial);
	assert_true(b->is_partial);
	assert_string_equal(own->method->name, "[unresolved:method:99]");
	assert_ptr_not_equal(own, b->frames[2]);
	assert_false(own->is_shared);
	assert_ptr_equal(a->frames[1], b->frames[1]);
	/* It is looked for again, and put where it was. */
	names_update(c->names);
	assert_ptr_equal(names_stack(c, T_STACK, 11), a);
	assert_ptr_equal(a->frames[2], own);
	assert_true(a->is_partial);
	return 0;
}

static void a_frame_that_lacks_something_is_the_stacks_own(void **state)
{
	struct frame frames[N_FRAMES];

	(void)state;
	memcpy(frames, callers, sizeof(frames));
	frames[2].method = MISSING;
	read_with(frames, frames, missing);
}

static int name(void *ctx, struct chunk *c, const struct event *e)
{
	struct jvm *jvm = ctx;

	(void)e;
	assert_int_equal(names_stack(c, T_STACK, 11)->n, N_FRAMES);
	assert_int_not_equal(c->names->frames.n_slots, 0);
	if (jvm)
		jvm_keep(jvm, c);
	return jvm ? -ECANCELED : 0;
}

/* Which frames have the same bytes nobody asks of a chunk that was read. */
static void names_that_are_kept_have_no_frames_by_their_bytes(void **state)
{
	struct jvm jvm = { 0 };

	(void)state;
	for (int is_watched = 0; is_watched < 2; is_watched++) {
		struct event_visitor visitor = { .ctx = is_watched ? &jvm : NULL,
						 .bind = world_bind,
						 .event = name };
		int fd = memfd_create("recording", MFD_CLOEXEC);
		struct recording_report report = { 0 };
		struct recording_past past = { 0 };
		struct seen_chunks seen = { 0 };
		struct jfr_bytes b = { 0 };
		struct names *kept;

		make(&b, callers, callers);
		assert_int_equal(write(fd, b.data, b.len), b.len);
		assert_int_equal(recording_read_on(fd, &visitor, &seen, &past, &report),
				 is_watched ? -ECANCELED : 0);
		kept = is_watched ? jvm.older[0] : past.older[0];
		assert_int_equal(kept->frames.n_slots, 0);
		recording_past_deinit(&past);
		recording_report_deinit(&report);
		seen_chunks_deinit(&seen);
		close(fd);
		free(b.data);
	}
	names_free(jvm.older[0]);
	metadata_unref(jvm.metadata);
}
/* Metadata in which frames have more fields. */
static struct metadata *with_longer_frames(void)
{
	struct jfr_types t = { 0 };

	types_begin(&t);
	add_class(&t, T_FRAME, "jdk.types.StackFrame", NULL); /* of two the first one counts */
	add_field(&t, "method", T_METHOD, FIELD_CONSTANT);
	add_field(&t, "lineNumber", T_INT, 0);
	for (unsigned int i = 0; i < 9; i++)
		add_field(&t, "more", T_INT, 0);
	world_primitives(&t);
	world_constants(&t);
	return world_parse(&t);
}

static int relaid(void *ctx, struct chunk *c, const struct event *e)
{
	struct metadata *newer = with_longer_frames();
	struct java_stack *s;

	(void)e;
	++*(size_t *)ctx;
	assert_int_equal(constants_update(names_constants(c->names), newer), 0);
	metadata_unref(newer);
	s = names_stack(c, T_STACK, 11);
	assert_true(s->is_partial);
	assert_int_equal(s->n, 0);
	return 0;
}

static void frames_that_newer_metadata_describe_otherwise_are_left_out(void **state)
{
	(void)state;
	read_with(callers, callers, relaid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_same_bytes_are_one),
		cmocka_unit_test(a_frame_that_lacks_something_is_the_stacks_own),
		cmocka_unit_test(names_that_are_kept_have_no_frames_by_their_bytes),
		cmocka_unit_test(frames_that_newer_metadata_describe_otherwise_are_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jfr/java_frame", tests, NULL, NULL);
}
