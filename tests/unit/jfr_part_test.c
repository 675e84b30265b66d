// SPDX-License-Identifier: Apache-2.0
/* From event to event through bytes in memory: from two places the same is found as from one. */
#include "jfr/part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "jfr/chunk.h"
#include "jfr/wire.h"
#include "tests/unit/jfr_world.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define N_ROUNDS 40
#define MAX_EVENTS 20000
#define CHUNK_AT 1000
#define PART_AT 68

/* The last one is too large to stand in a head of two bytes; type 4 is what the filling looks like.
 */
static const unsigned int ids[] = { 2, 4, 60, 127, 128, 300, 5000, 16383, 16384 };

/* What was found: of the file, of the types and of what is wanted. */
struct found {
	uint64_t went, n_unknown;
	bool is_sound;
	uint64_t counts[N(ids)], bytes[N(ids)], own_count, own_bytes;
	struct event *wanted;
	size_t n_wanted;
};

static void *bind(void *ctx, struct metadata *m, const struct jfr_type *type)
{
	(void)m;
	return type->id == 60 || type->id == 300 ? ctx : NULL;
}

static struct metadata *make_metadata(void)
{
	struct jfr_types t = { 0 };
	char name[16];

	types_begin(&t);
	for (size_t i = 0; i < N(ids); i++) {
		snprintf(name, sizeof(name), "app.E%u", ids[i]);
		add_class(&t, ids[i], name, "jdk.jfr.Event");
	}
	/* An event type that has the place of the chunk's own events is none. */
	add_class(&t, 1, "app.Own", "jdk.jfr.Event");
	add_class(&t, 61, "app.NoEvent", NULL);
	return world_parse(&t);
}

/* One whose bytes look like events of 4 bytes, or like nothing. */
static void put_event(struct jfr_bytes *b, unsigned int id, size_t len, bool is_padded)
{
	size_t head = (is_padded || len > 127 ? 4 : 1) + (id < 128 ? 1 : id < 16384 ? 2 : 3);
	bool is_bait = rand() % 2;

	len = len > head ? len : head + 1;
	put_padded(b, len, is_padded || len > 127 ? 4 : 1);
	put_varint(b, id);
	for (size_t i = head; i < len; i++)
		put_u8(b, is_bait ? 4 : (unsigned int)rand() & 0xff);
}

/* One of so many is wanted, at most, and one of so many cannot be gone over by two ways at once. */
static void put_events(struct jfr_bytes *b, size_t n, int one_of_wanted, int one_of_other)
{
	for (size_t i = 0; i < n; i++) {
		unsigned int id = ids[(size_t)rand() % (N(ids) - 1)];
		bool is_other = rand() % one_of_other == 0;

		if ((id == 60 || id == 300) && rand() % one_of_wanted)
			id = 127;
		if (is_other && rand() % 2)
			id = ids[N(ids) - 1];
		put_event(b, id, is_other ? (size_t)rand() % 500 : 4 + (size_t)rand() % 60,
			  is_other && rand() % 2);
	}
}

/* Part after part, as a walk goes, each from one place or from two. */
static struct found find(struct metadata *m, const uint8_t *bytes, size_t len, size_t reach)
{
	struct event_visitor visitor = { .ctx = &visitor, .bind = bind };
	struct event_types *types = event_types_new(m, &visitor);
	struct chunk c = { .at = CHUNK_AT };
	struct part *p = malloc(sizeof(*p));
	struct found f = { .wanted = calloc(MAX_EVENTS, sizeof(*f.wanted)) };

	assert_non_null(types);
	*p = (struct part){ .chunk = &c,
			    .types = types,
			    .start = bytes,
			    .end = bytes + len,
			    .at = PART_AT,
			    .limit = PART_AT + len,
			    .reach = reach };
	do {
		uint64_t went = part_collect(p, &f.is_sound);

		for (size_t i = 0; i < part_n_wanted(p); i++)
			f.wanted[f.n_wanted++] = *part_wanted(p, i);
		f.went += went;
		p->start += went;
		p->at += went;
	} while (f.is_sound && part_is_full(p) && p->start < p->end);
	event_types_add_up(types);
	for (size_t i = 0; i < N(ids); i++) {
		f.counts[i] = event_types_find(types, ids[i])->count;
		f.bytes[i] = event_types_find(types, ids[i])->bytes;
	}
	f.own_count = c.counts[0] + c.counts[1];
	f.own_bytes = c.sizes[0] + c.sizes[1];
	f.n_unknown = c.n_unknown;
	event_types_free(types);
	free(p);
	return f;
}

static void assert_same(const struct found *a, const struct found *b)
{
	assert_int_equal(a->went, b->went);
	assert_int_equal(a->is_sound, b->is_sound);
	assert_memory_equal(a->counts, b->counts, sizeof(a->counts));
	assert_memory_equal(a->bytes, b->bytes, sizeof(a->bytes));
	assert_int_equal(a->own_count, b->own_count);
	assert_int_equal(a->own_bytes, b->own_bytes);
	assert_int_equal(a->n_unknown, b->n_unknown);
	assert_int_equal(a->n_wanted, b->n_wanted);
	for (size_t i = 0; i < a->n_wanted; i++) {
		const struct event *x = &a->wanted[i], *y = &b->wanted[i];

		assert_int_equal(x->at, y->at);
		assert_int_equal(x->size, y->size);
		assert_ptr_equal(x->fields, y->fields);
		assert_int_equal(x->fields_len, y->fields_len);
		assert_true(!i || x[-1].at < x->at);
	}
}

/* What a reader finds that knows nothing but sizes and types. */
static struct found find_slowly(const uint8_t *bytes, size_t len)
{
	struct found f = { .is_sound = true, .wanted = calloc(MAX_EVENTS, sizeof(*f.wanted)) };

	for (const uint8_t *pos = bytes, *next; pos < bytes + len; pos = next) {
		const uint8_t *fields = pos;
		uint64_t size = wire_varint_here(&fields), id = wire_varint_here(&fields);
		size_t i = 0;

		next = pos + size;
		while (i < N(ids) && ids[i] != id)
			i++;
		assert_true(i < N(ids) || id < N_OWN_TYPES);
		if (i < N(ids)) {
			f.counts[i]++;
			f.bytes[i] += size;
		} else {
			f.own_count++;
			f.own_bytes += size;
		}
		if (id == 60 || id == 300)
			f.wanted[f.n_wanted++] = (struct event){
				.at = CHUNK_AT + PART_AT + (uint64_t)(pos - bytes),
				.size = (uint32_t)size,
				.fields = fields,
				.fields_len = (size_t)(next - fields),
			};
		f.went += size;
	}
	return f;
}

static const size_t reaches[] = { 0, 8 << 10, 20 << 10, SIZE_MAX };

static void pad(struct jfr_bytes *b)
{
	const uint8_t padding[WIRE_PADDING] = { 0 };

	put_bytes(b, padding, sizeof(padding));
	b->len -= sizeof(padding);
}

/* However far ahead the second way begins. Takes the bytes. */
static void assert_all_found(struct metadata *m, struct jfr_bytes *b)
{
	struct found slowly, got;

	pad(b);
	slowly = find_slowly(b->data, b->len);
	for (size_t i = 0; i < N(reaches); i++) {
		got = find(m, b->data, b->len, reaches[i]);
		assert_same(&slowly, &got);
		free(got.wanted);
	}
	free(slowly.wanted);
	free(b->data);
}

static void from_two_places_the_same_is_found_as_from_one(void **state)
{
	struct metadata *m = make_metadata();

	(void)state;
	srand(11);
	for (unsigned int round = 0; round < N_ROUNDS; round++) {
		struct jfr_bytes b = { 0 };

		put_events(&b, (size_t)rand() % MAX_EVENTS, 1 << round % 5, round % 2 ? 10 : 20000);
		if (round % 3 == 0)
			put_event(&b, round & 1, 90, true);
		assert_all_found(m, &b);
	}
	metadata_unref(m);
}

/* Many wanted ones in a row, among others that are not; the n-th of them is no small one. */
static void put_burst(struct jfr_bytes *b, size_t before, size_t n)
{
	for (size_t i = 0; i < before; i++)
		put_event(b, 127, 30, false);
	for (size_t i = 0; i < 2 * PART_WANTED; i++)
		put_event(b, 60, 10, i == n);
	for (size_t i = 0; i < 3000 - before; i++)
		put_event(b, 127, 30, false);
}

/* On the first way, on the way ahead, and on both. */
static void where_the_room_for_what_is_wanted_ends_is_where_a_part_ends(void **state)
{
	static const size_t befores[] = { 0, 700, 1200, 1400, 1700, 3000 };
	struct metadata *m = make_metadata();

	(void)state;
	for (size_t i = 0; i < N(befores); i++) {
		for (size_t n = PART_WANTED - 3; n < PART_WANTED + 3; n++) {
			struct jfr_bytes b = { 0 };

			put_burst(&b, befores[i], n);
			assert_all_found(m, &b);
		}
	}
	metadata_unref(m);
}

/* Bytes that look like 16 events, and are none, lie wherever a way ahead may begin. */
static void a_place_ahead_where_no_event_begins_is_found_out(void **state)
{
	struct metadata *m = make_metadata();
	struct jfr_bytes b = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 400; i++) {
		put_u8(&b, 125);
		put_u8(&b, 127);
		for (unsigned int k = 0; k < 30; k++)
			put_bytes(&b, "\x04\x04\x3c\x04", 4);
		put_bytes(&b, "\x04\x04\x3c", 3); /* the next event begins in the fourth byte */
	}
	assert_all_found(m, &b);
	metadata_unref(m);
}

/* Damage before, at and behind the place where the way ahead begins. */
static void damage_ends_a_part_where_it_did_from_one_place(void **state)
{
	struct metadata *m = make_metadata();
	struct jfr_bytes b = { 0 };

	(void)state;
	srand(12);
	put_events(&b, 1500, 4, 100);
	pad(&b);
	for (unsigned int round = 0; round < 300; round++) {
		size_t at = (size_t)rand() % b.len, len = b.len - (size_t)rand() % 200;
		uint8_t was = b.data[at];
		struct found one, two;

		b.data[at] = (uint8_t)rand();
		one = find(m, b.data, len, 0);
		two = find(m, b.data, len, reaches[1 + round % 3]);
		assert_same(&one, &two);
		free(one.wanted);
		free(two.wanted);
		b.data[at] = was;
	}
	free(b.data);
	metadata_unref(m);
}

static void what_is_taken_back_was_never_counted(void **state)
{
	struct event_visitor visitor = { .ctx = &visitor, .bind = bind };
	struct metadata *m = make_metadata();
	struct event_types *types = event_types_new(m, &visitor);
	struct jfr_bytes b = { 0 };
	struct chunk c = { .at = CHUNK_AT };
	struct part *p = malloc(sizeof(*p));
	bool is_sound;

	(void)state;
	srand(13);
	put_events(&b, 2000, 16, 5000);
	pad(&b);
	*p = (struct part){ .chunk = &c,
			    .types = types,
			    .start = b.data,
			    .end = b.data + b.len,
			    .limit = b.len,
			    .reach = SIZE_MAX };
	assert_int_equal(part_collect(p, &is_sound), b.len);
	assert_true(p->wanted[1].n > 0); /* both ways were gone */
	part_uncount(p, 0, b.len);
	event_types_add_up(types);
	for (size_t i = 0; i < N(ids); i++) {
		assert_int_equal(event_types_find(types, ids[i])->count, 0);
		assert_int_equal(event_types_find(types, ids[i])->bytes, 0);
	}
	event_types_free(types);
	free(p);
	free(b.data);
	metadata_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_two_places_the_same_is_found_as_from_one),
		cmocka_unit_test(where_the_room_for_what_is_wanted_ends_is_where_a_part_ends),
		cmocka_unit_test(a_place_ahead_where_no_event_begins_is_found_out),
		cmocka_unit_test(damage_ends_a_part_where_it_did_from_one_place),
		cmocka_unit_test(what_is_taken_back_was_never_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
