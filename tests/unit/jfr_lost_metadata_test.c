// SPDX-License-Identifier: Apache-2.0
/* A chunk that lost its metadata: whose may stand in for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/jfr_world.h"

static struct metadata *another;

static struct metadata *know_another(void *ctx)
{
	(void)ctx;
	return another;
}

/* The JVM's second chunk, without metadata, behind its first one or in a file of its own. */
static void read_second(struct world_reading *got, bool is_apart)
{
	struct event_visitor visitor = { .ctx = got,
					 .bind = world_bind,
					 .known = know_another,
					 .event = world_event,
					 .end = world_end };
	struct recording_past past = { 0 };
	struct jfr_bytes b = { 0 };
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < 2; i++) {
		struct jfr_chunk c = jfr_chunk_begin(&b, i);

		if (!i)
			world_metadata(&c);
		world_checkpoint(&c, 7, "p/A");
		world_sample(&c, 1, 7);
		jfr_chunk_end(&c);
		if (!i && !is_apart)
			continue;
		assert_int_equal(pwrite(fd, b.data, b.len, 0), b.len);
		assert_int_equal(ftruncate(fd, (off_t)b.len), 0);
		assert_int_equal(recording_read_on(fd, &visitor, &got->seen, &past, &got->report),
				 0);
		b.len = 0;
	}
	recording_past_deinit(&past);
	close(fd);
	free(b.data);
}

static void chunk_without_metadata_has_its_own_jvms(void **state)
{
	struct jfr_types t = { 0 };
	struct world_reading got = { 0 };

	(void)state;
	types_begin(&t); /* of another JVM, where a sample's number is another event's */
	world_primitives(&t);
	add_class(&t, T_SAMPLE, "test.Other", "jdk.jfr.Event");
	for (int i = 0; i < 4; i++)
		add_field(&t, "value", T_LONG, 0);
	another = world_parse(&t);
	read_second(&got, false);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.items[1].method, "p.A.method7:42");
	world_reading_deinit(&got);
	read_second(&got, true);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.report.n_damages, 1);
	assert_string_equal(got.report.damages[0].what,
			    "a chunk without metadata: nothing says what its events are");
	world_reading_deinit(&got);
	metadata_unref(another);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunk_without_metadata_has_its_own_jvms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
