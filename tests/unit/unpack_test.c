// SPDX-License-Identifier: Apache-2.0
/* Streams that a recording is packed in, and their limits; zip is in zip_test.c, files that are
   none in unpack_file_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "core/hurry.h"
#include "jfr/unpack.h"
#include "tests/unit/mutation.h"
#include "tests/unit/packed.h"
#include "tests/unit/unpacked.h"

#define LEN 300000

static const struct form {
	const char *name;
	struct packed (*pack)(struct packed in);
	size_t checksum_from_end; /* a byte of it */
} forms[] = {
	{ "gzip", pack_gzip, 8 },
	{ "zstd", pack_zstd, 1 },
	{ "lz4", pack_lz4, 1 },
};

#define N_FORMS (sizeof(forms) / sizeof(*forms))

static struct packed joined(struct packed a, const void *b, size_t b_len)
{
	struct packed both = { 0 };

	packed_add(&both, a.data, a.len);
	packed_add(&both, b, b_len);
	return both;
}

/* One part that has the first `len` bytes of the recording. */
static void is_part_of(const struct unpacked *got, struct packed recording, size_t len)
{
	assert_int_equal(got->n, 1);
	assert_int_equal(got->parts[0].len, len);
	assert_memory_equal(got->data[0], recording.data, len);
}

static void content_decides_what_it_is_packed_in(void **state)
{
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording);
		struct unpacked *got = unpack_bytes(packed.data, packed.len);

		is_part_of(got, recording, LEN);
		assert_int_equal(got->parts[0].err, 0);
		assert_false(got->parts[0].is_self);
		assert_false(got->parts[0].is_unsure);
		unpacked_free(got);
		packed_free(&packed);
	}
	packed_free(&recording);
}

static void members_and_frames_follow_each_other(void **state)
{
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording);
		struct packed both = joined(packed, packed.data, packed.len);
		struct unpacked *got = unpack_bytes(both.data, both.len);

		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, 0);
		assert_int_equal(got->parts[0].len, 2 * LEN);
		assert_memory_equal(got->data[0] + LEN, recording.data, LEN);
		unpacked_free(got);
		packed_free(&packed);
		packed_free(&both);
	}
	packed_free(&recording);
}

/* As pzstd writes one before each frame. */
static void frames_without_content_are_skipped_anywhere(void **state)
{
	static const uint8_t skippable[] = { 0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 1; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording), all = { 0 };
		struct unpacked *got;

		packed_add(&all, skippable, sizeof(skippable));
		packed_add(&all, skippable, sizeof(skippable));
		packed_add(&all, packed.data, packed.len);
		packed_add(&all, skippable, sizeof(skippable));
		got = unpack_bytes(all.data, all.len);
		is_part_of(got, recording, LEN);
		assert_int_equal(got->parts[0].err, 0);
		unpacked_free(got);
		packed_free(&packed);
		packed_free(&all);
	}
	packed_free(&recording);
}

static void what_was_cut_keeps_what_came_before(void **state)
{
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording);
		struct unpacked *got = unpack_bytes(packed.data, packed.len / 2);

		assert_int_equal(got->parts[0].err, -EBADMSG);
		assert_non_null(strstr(got->parts[0].reason, "end in the middle"));
		assert_int_equal(got->parts[0].where, packed.len / 2);
		assert_in_range(got->parts[0].len, LEN / 4, 3 * LEN / 4);
		is_part_of(got, recording, got->parts[0].len);
		unpacked_free(got);
		packed_free(&packed);
	}
	packed_free(&recording);
}

static void damage_keeps_what_came_before(void **state)
{
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording);
		struct unpacked *got;

		packed.data[packed.len - forms[i].checksum_from_end] ^= 1;
		got = unpack_bytes(packed.data, packed.len);
		assert_int_equal(got->parts[0].err, -EBADMSG);
		assert_non_null(strstr(got->parts[0].reason, forms[i].name));
		assert_in_range(got->parts[0].where, packed.len - 8, packed.len);
		is_part_of(got, recording, LEN);
		unpacked_free(got);
		packed_free(&packed);
	}
	packed_free(&recording);
}

static void members_behind_damage_are_found(void **state)
{
	struct packed recording = some_recording(LEN), other = some_recording(777);

	(void)state;
	for (size_t i = 0; i < 3 * N_FORMS; i++) {
		struct packed first = forms[i / 3].pack(recording);
		struct packed second = forms[i / 3].pack(other), all;
		size_t cut = i % 3 == 2 ? first.len / 2 : first.len;
		char where[32];
		struct unpacked *got;

		/* Its checksum, its middle, or its end is missing. */
		first.data[i % 3 ? first.len / 2 : first.len - forms[i / 3].checksum_from_end] ^= 1;
		all = joined((struct packed){ first.data, cut }, second.data, second.len);
		got = unpack_bytes(all.data, all.len);
		assert_int_equal(got->n, 2);
		assert_int_equal(got->parts[0].err, -EBADMSG);
		assert_int_equal(got->parts[1].err, 0);
		assert_int_equal(got->parts[1].len, 777);
		assert_memory_equal(got->data[1], other.data, 777);
		snprintf(where, sizeof(where), "@%zu", cut);
		assert_non_null(strstr(got->parts[1].name, where));
		unpacked_free(got);
		packed_free(&first);
		packed_free(&second);
		packed_free(&all);
	}
	packed_free(&recording);
	packed_free(&other);
}

static void search_behind_damage_has_an_end(void **state)
{
	/* A gzip head whose stream ends at once, so often that what follows is not found. */
	static const uint8_t nothing[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 1 };
	struct packed recording = some_recording(777), packed = pack_gzip(recording);
	struct packed all = pack_gzip(recording);
	struct unpacked *got;

	(void)state;
	all.data[all.len - 8] ^= 1;
	for (size_t i = 0; i < 10000; i++)
		packed_add(&all, nothing, sizeof(nothing));
	packed_add(&all, packed.data, packed.len);
	got = unpack_bytes(all.data, all.len);
	is_part_of(got, recording, 777);
	unpacked_free(got);
	packed_free(&packed);
	packed_free(&recording);
	packed_free(&all);
}

static void only_zeros_may_follow(void **state)
{
	static const struct {
		const char *bytes;
		int err;
	} cases[] = { { "\0\0\0\0\0\0\0\0", 0 },
		      { "\0\0\0\0\0\0\0x", -EBADMSG },
		      { "garbage!", -EBADMSG } };
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < 3 * N_FORMS; i++) {
		struct packed packed = forms[i / 3].pack(recording);
		struct packed all = joined(packed, cases[i % 3].bytes, 8);
		struct unpacked *got = unpack_bytes(all.data, all.len);

		is_part_of(got, recording, LEN);
		assert_int_equal(got->parts[0].err, cases[i % 3].err);
		unpacked_free(got);
		packed_free(&packed);
		packed_free(&all);
	}
	packed_free(&recording);
}

static void dictionary_is_refused(void **state)
{
	/* A frame that says so: one segment, dictionary 7 in one byte, 8 bytes in a raw block. */
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 8, 0x41, 0,
					0,    'F',  'L',  'R',	0,    0, 2, 0,	  1 };
	const LZ4F_preferences_t prefs = { .frameInfo = { .dictID = 7 } };
	struct packed recording = some_recording(100), lz4 = pack_lz4_with(recording, &prefs);
	const struct packed refused[] = { { (uint8_t *)zstd, sizeof(zstd) }, lz4 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct unpacked *got = unpack_bytes(refused[i].data, refused[i].len);

		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, -ENOTSUP);
		assert_non_null(strstr(got->parts[0].reason, "needs a dictionary"));
		unpacked_free(got);
	}
	packed_free(&recording);
	packed_free(&lz4);
}

static void window_that_takes_much_memory_is_refused(void **state)
{
	/* A frame of unknown size with a window of 1 GiB, and one of 128 MiB. */
	uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0, 0x41, 0, 0,
			    'F',  'L',	'R',  0,    0, 2,    0,	   1 };
	struct unpacked *got = unpack_bytes(frame, sizeof(frame));

	(void)state;
	assert_int_equal(got->parts[0].err, -E2BIG);
	assert_non_null(strstr(got->parts[0].reason, "128 MiB"));
	unpacked_free(got);
	frame[5] = 0x88;
	got = unpack_bytes(frame, sizeof(frame));
	assert_int_equal(got->parts[0].err, 0);
	assert_int_equal(got->parts[0].len, 8);
	unpacked_free(got);
}

static void recording_may_be_packed_twice_and_not_thrice(void **state)
{
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < N_FORMS * N_FORMS; i++) {
		struct packed once = forms[i % N_FORMS].pack(recording);
		struct packed twice = forms[i / N_FORMS].pack(once);
		struct packed thrice = forms[i % N_FORMS].pack(twice);
		struct unpacked *got = unpack_bytes(twice.data, twice.len);

		is_part_of(got, recording, LEN);
		assert_int_equal(got->parts[0].err, 0);
		unpacked_free(got);
		/* The outer one is cut, and the inner one ends there. */
		got = unpack_bytes(twice.data, twice.len / 2);
		assert_int_equal(got->parts[0].err, -EBADMSG);
		is_part_of(got, recording, got->parts[0].len);
		unpacked_free(got);
		/* Only the outer one's checksum is wrong. */
		twice.data[twice.len - forms[i / N_FORMS].checksum_from_end] ^= 1;
		got = unpack_bytes(twice.data, twice.len);
		is_part_of(got, recording, LEN);
		assert_int_equal(got->parts[0].err, -EBADMSG);
		unpacked_free(got);
		got = unpack_bytes(thrice.data, thrice.len);
		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, -ENOTSUP);
		assert_non_null(strstr(got->parts[0].reason, "packed twice"));
		unpacked_free(got);
		packed_free(&once);
		packed_free(&twice);
		packed_free(&thrice);
	}
	packed_free(&recording);
}

static void what_is_packed_and_no_recording_is_refused(void **state)
{
	struct packed text = { (uint8_t *)"{\"some\": \"text\"}", 16 };

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(text);
		struct unpacked *got = unpack_bytes(packed.data, packed.len);

		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, -ENOTSUP);
		assert_non_null(strstr(got->parts[0].reason, "data, but text"));
		unpacked_free(got);
		packed_free(&packed);
	}
}

/* A million zeros behind the beginning of a recording. */
static struct packed hollow_recording(void)
{
	struct packed p = { calloc(1, 1 << 20), 1 << 20 };

	memcpy(p.data, "FLR\0\0\2\0\1", 8);
	return p;
}

static void bomb_gives_what_the_limits_allow(void **state)
{
	struct unpack_limits by_ratio = unpack_limits_default, by_len = unpack_limits_default;
	struct packed hollow = hollow_recording();

	(void)state;
	by_ratio.free_len = 100000;
	by_ratio.max_ratio = 20;
	by_len.max_len = 300000;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(hollow);
		size_t most = packed.len * 20 > 100000 ? packed.len * 20 : 100000;
		struct unpacked *got = unpack_all(open_bytes(packed.data, packed.len, &by_ratio));

		assert_int_equal(got->parts[0].err, -E2BIG);
		assert_non_null(strstr(got->parts[0].reason, "20 times its size"));
		is_part_of(got, hollow, most);
		unpacked_free(got);
		got = unpack_all(open_bytes(packed.data, packed.len, &by_len));
		assert_int_equal(got->parts[0].err, -E2BIG);
		is_part_of(got, hollow, 300000);
		unpacked_free(got);
		/* Both layers count. */
		struct packed twice = pack_gzip(packed);

		by_len.max_len += packed.len;
		got = unpack_all(open_bytes(twice.data, twice.len, &by_len));
		assert_int_equal(got->parts[0].err, -E2BIG);
		is_part_of(got, hollow, 300000);
		by_len.max_len -= packed.len;
		unpacked_free(got);
		packed_free(&twice);
		packed_free(&packed);
	}
	packed_free(&hollow);
}

static void honest_recording_is_within_the_limits(void **state)
{
	struct packed hollow = hollow_recording(), packed = pack_gzip(hollow);
	struct unpacked *got = unpack_bytes(packed.data, packed.len);

	(void)state;
	assert_int_equal(got->parts[0].err, 0);
	is_part_of(got, hollow, hollow.len);
	unpacked_free(got);
	packed_free(&packed);
	packed_free(&hollow);
}

static void hurry_ends_it(void **state)
{
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording);
		struct unpacked *got;

		hurry_set(true);
		got = unpack_bytes(packed.data, packed.len);
		hurry_set(false);
		assert_int_equal(got->n, 1);
		assert_int_equal(got->parts[0].err, -EINTR);
		unpacked_free(got);
		packed_free(&packed);
	}
	packed_free(&recording);
}

static void unpack_and_look(const uint8_t *bytes, size_t len)
{
	struct unpacked *got = unpack_bytes(bytes, len);

	assert_in_range(got->n, 1, 2);
	for (size_t i = 0; i < got->n; i++)
		assert_true(got->parts[i].len <= 64 << 20);
	unpacked_free(got);
}

static void survives_mutation(void **state)
{
	struct packed recording = some_recording(96);

	(void)state;
	for (size_t i = 0; i < N_FORMS; i++) {
		struct packed packed = forms[i].pack(recording);
		struct packed twice = forms[i].pack(packed);

		mutate(packed.data, packed.len, unpack_and_look);
		mutate(twice.data, twice.len, unpack_and_look);
		packed_free(&packed);
		packed_free(&twice);
	}
	packed_free(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_decides_what_it_is_packed_in),
		cmocka_unit_test(members_and_frames_follow_each_other),
		cmocka_unit_test(frames_without_content_are_skipped_anywhere),
		cmocka_unit_test(what_was_cut_keeps_what_came_before),
		cmocka_unit_test(damage_keeps_what_came_before),
		cmocka_unit_test(members_behind_damage_are_found),
		cmocka_unit_test(search_behind_damage_has_an_end),
		cmocka_unit_test(only_zeros_may_follow),
		cmocka_unit_test(dictionary_is_refused),
		cmocka_unit_test(window_that_takes_much_memory_is_refused),
		cmocka_unit_test(recording_may_be_packed_twice_and_not_thrice),
		cmocka_unit_test(what_is_packed_and_no_recording_is_refused),
		cmocka_unit_test(bomb_gives_what_the_limits_allow),
		cmocka_unit_test(honest_recording_is_within_the_limits),
		cmocka_unit_test(hurry_ends_it),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
