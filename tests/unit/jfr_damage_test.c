// SPDX-License-Identifier: Apache-2.0
/* A recording of two chunks with each bit of it flipped and cut off anywhere: what lies outside the
   damage is read, and nothing that was not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "tests/unit/jfr_world.h"

enum part { HEADER, METADATA, CHECKPOINT, EVENT };

#define MAX_PIECES 64

static struct {
	struct jfr_bytes b;
	struct {
		enum part part;
		size_t at, end, chunk_at;
	} pieces[MAX_PIECES];
	size_t n_pieces;
	struct world_reading good;
} recording;

static void piece(enum part part, size_t chunk_at, size_t at)
{
	size_t i = recording.n_pieces++;

	assert_true(i < MAX_PIECES);
	recording.pieces[i].part = part;
	recording.pieces[i].chunk_at = chunk_at;
	recording.pieces[i].at = at;
	recording.pieces[i].end = recording.b.len;
}

static void small_metadata(struct jfr_chunk *c)
{
	struct jfr_types t = { 0 };

	types_begin(&t);
	world_primitives(&t);
	world_constants(&t);
	world_events(&t);
	types_end(&t);
	put_metadata(c, &t);
	types_free(&t);
}

static void put_events(struct jfr_chunk *c, unsigned int id, int64_t ticks)
{
	for (int i = 0; i < 6; i++) {
		size_t at = i % 3 == 2 ? world_note(c, ticks + i, "a note of some length")
				       : world_sample(c, ticks + i, id);

		piece(EVENT, c->at, at);
	}
}

static void put_chunk(int64_t number, unsigned int id)
{
	struct jfr_chunk c = jfr_chunk_begin(&recording.b, number);
	size_t at = recording.b.len;

	piece(HEADER, c.at, c.at);
	small_metadata(&c);
	piece(METADATA, c.at, at);
	put_events(&c, id, 100);
	at = recording.b.len;
	world_checkpoint(&c, id, "p/A");
	piece(CHECKPOINT, c.at, at);
	put_events(&c, id, 200);
	at = recording.b.len;
	world_checkpoint(&c, id + 1, "p/B");
	piece(CHECKPOINT, c.at, at);
	put_events(&c, id + 1, 300);
	jfr_chunk_end(&c);
}

static int make_recording(void **state)
{
	(void)state;
	put_chunk(0, 7);
	put_chunk(1, 8);
	world_read(&recording.good, recording.b.data, recording.b.len);
	return recording.good.n == 36 ? 0 : -1;
}

static int free_recording(void **state)
{
	(void)state;
	free(recording.b.data);
	world_reading_deinit(&recording.good);
	return 0;
}

static bool overlaps(const struct world_event *e, size_t at, size_t end)
{
	return e->at < end && e->at + e->size > at;
}

static const struct world_event *find(const struct world_reading *r, const struct world_event *e)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].at == e->at)
			return &r->items[i];
	return NULL;
}

static size_t damaged; /* the bit, or where it is cut */

static void is_same(const struct world_event *a, const struct world_event *b, bool with_names)
{
	if (!b || strcmp(a->type, b->type) || a->size != b->size)
		fail_msg("damage %zu: %s at %" PRIu64, damaged, a->type, a->at);
	assert_int_equal(a->time_ns, b->time_ns);
	if (!with_names)
		return;
	assert_string_equal(a->thread, b->thread);
	assert_string_equal(a->method, b->method);
}

static void compare(const struct world_reading *got, size_t at, size_t end, bool with_names)
{
	for (size_t i = 0; i < got->n; i++)
		if (!overlaps(&got->items[i], at, end))
			is_same(&got->items[i], find(&recording.good, &got->items[i]), with_names);
	for (size_t i = 0; i < recording.good.n; i++)
		if (!overlaps(&recording.good.items[i], at, end))
			is_same(&recording.good.items[i], find(got, &recording.good.items[i]),
				with_names);
}

static void read_flipped(size_t bit, struct world_reading *got)
{
	uint8_t *copy = malloc(recording.b.len);

	memcpy(copy, recording.b.data, recording.b.len);
	damaged = bit;
	copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
	*got = (struct world_reading){ 0 };
	world_read(got, copy, recording.b.len);
	free(copy);
	assert_int_equal(got->err, 0);
}

static void flip_all(enum part part)
{
	for (size_t i = 0; i < recording.n_pieces; i++) {
		size_t at = recording.pieces[i].at, end = recording.pieces[i].end;

		if (recording.pieces[i].part != part)
			continue;
		for (size_t bit = 8 * at; bit < 8 * end; bit++) {
			struct world_reading got;

			read_flipped(bit, &got);
			compare(&got, at, end, part == EVENT);
			world_reading_deinit(&got);
		}
	}
}

static void damaged_event_costs_no_other(void **state)
{
	(void)state;
	flip_all(EVENT);
}

static void damaged_checkpoint_costs_no_event(void **state)
{
	(void)state;
	flip_all(CHECKPOINT);
}

/* Whatever of it is damaged, the other chunk is read. */
static void damaged_header_or_metadata_costs_no_other_chunk(void **state)
{
	size_t second = recording.pieces[recording.n_pieces / 2].at;

	(void)state;
	for (size_t i = 0; i < recording.n_pieces; i++) {
		bool is_first = recording.pieces[i].at < second;

		if (recording.pieces[i].part != (is_first ? METADATA : HEADER) &&
		    recording.pieces[i].part != HEADER)
			continue;
		for (size_t bit = 8 * recording.pieces[i].at; bit < 8 * recording.pieces[i].end;
		     bit++) {
			struct world_reading got;

			read_flipped(bit, &got);
			for (size_t k = 0; k < recording.good.n; k++)
				if ((recording.good.items[k].at < second) != is_first)
					is_same(&recording.good.items[k],
						find(&got, &recording.good.items[k]), true);
			world_reading_deinit(&got);
		}
	}
}

static void what_lies_before_a_cut_is_read(void **state)
{
	size_t metadata_end[2] = { 0 };

	(void)state;
	for (size_t i = 0, n = 0; i < recording.n_pieces; i++)
		if (recording.pieces[i].part == METADATA)
			metadata_end[n++] = recording.pieces[i].end;
	for (size_t cut = 0; cut < recording.b.len; cut++) {
		uint8_t *copy = malloc(cut + 1);
		struct world_reading got = { 0 };
		size_t n = 0;

		damaged = cut;
		memcpy(copy, recording.b.data, cut);
		world_read(&got, copy, cut);
		free(copy);
		for (size_t i = 0; i < recording.good.n; i++) {
			const struct world_event *e = &recording.good.items[i];

			if (e->at + e->size > cut)
				break;
			is_same(e, find(&got, e), false);
			n++;
		}
		assert_int_equal(got.n, n);
		assert_true(got.report.n_damages || !cut ||
			    cut == recording.pieces[recording.n_pieces / 2].at);
		world_reading_deinit(&got);
	}
	assert_true(metadata_end[1] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_event_costs_no_other),
		cmocka_unit_test(damaged_checkpoint_costs_no_event),
		cmocka_unit_test(damaged_header_or_metadata_costs_no_other_chunk),
		cmocka_unit_test(what_lies_before_a_cut_is_read),
	};

	return cmocka_run_group_tests(tests, make_recording, free_recording);
}
