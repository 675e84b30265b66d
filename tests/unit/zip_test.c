// SPDX-License-Identifier: Apache-2.0
/* Recordings in zip archives, as jfr/unpack.h hands them on. */
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
#define STREAMED ZIP_IMAGE_STREAMED
#define ENCRYPTED ZIP_IMAGE_ENCRYPTED

/* Part i is the whole recording. */
static void is_whole(const struct unpacked *got, size_t i, struct packed recording)
{
	assert_true(i < got->n);
	assert_int_equal(got->parts[i].err, 0);
	assert_int_equal(got->parts[i].len, recording.len);
	assert_memory_equal(got->data[i], recording.data, recording.len);
}

static void is_named(const struct unpacked *got, size_t i, const char *entry)
{
	const char *colon = strrchr(got->parts[i].name, ':');

	assert_non_null(colon);
	assert_string_equal(colon + 1, entry);
}

static void entries_that_are_recordings_by_content_are_found(void **state)
{
	struct packed recording = some_recording(LEN), other = some_recording(777);
	struct packed text = { (uint8_t *)"notes about it", 14 }, nothing = { 0 };

	(void)state;
	for (int is_zip64 = 0; is_zip64 < 2; is_zip64++) {
		struct zip_image z = { .is_zip64 = is_zip64 };
		struct packed zip;
		struct unpacked *got;

		zip_image_add(&z, "dir/", nothing, 0, 0);
		zip_image_add(&z, "a.jfr", text, 8, 0);
		zip_image_add(&z, "stored", recording, 0, 0);
		zip_image_add(&z, "deflated", other, 8, 0);
		zip_image_add(&z, "zstd", recording, 93, 0);
		zip_image_add(&z, "streamed", other, 8, STREAMED);
		zip_image_add(&z, "stored and streamed", recording, 0, STREAMED);
		zip = zip_image_end(&z, "a comment PK\5\6 with the magic");
		got = unpack_bytes(zip.data, zip.len);
		assert_int_equal(got->n, 5);
		is_whole(got, 0, recording);
		is_named(got, 0, "stored");
		is_whole(got, 1, other);
		is_whole(got, 2, recording);
		is_whole(got, 3, other);
		is_named(got, 3, "streamed");
		is_whole(got, 4, recording);
		unpacked_free(got);
		packed_free(&zip);
	}
	packed_free(&recording);
	packed_free(&other);
}

static void names_of_entries_are_only_said(void **state)
{
	static const struct {
		const char *name, *said;
	} names[] = {
		{ "../../../../tmp/evil.jfr", "../../../../tmp/evil.jfr" },
		{ "/etc/passwd", "/etc/passwd" },
		{ "a\033[2Jb\n", "a\\x1b[2Jb\\x0a" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "", "" },
	};
	struct packed recording = some_recording(LEN);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct zip_image z = { 0 };
		struct packed zip;
		struct unpacked *got;

		zip_image_add(&z, names[i].name, recording, 8, 0);
		zip = zip_image_end(&z, "");
		got = unpack_bytes(zip.data, zip.len);
		assert_int_equal(got->n, 1);
		is_whole(got, 0, recording);
		is_named(got, 0, names[i].said);
		unpacked_free(got);
		packed_free(&zip);
	}
	packed_free(&recording);
}

static void entries_may_be_packed_themselves(void **state)
{
	struct packed recording = some_recording(LEN), inner_zip = pack_zip(recording);
	struct packed gzip = pack_gzip(recording), twice = pack_zstd(gzip), outer;
	struct zip_image z = { 0 };
	struct unpacked *got;

	(void)state;
	zip_image_add(&z, "x.jfr", gzip, 0, 0);
	zip_image_add(&z, "y.zip", inner_zip, 8, 0);
	zip_image_add(&z, "z", twice, 8, 0);
	zip_image_add(&z, "last", recording, 8, 0);
	outer = zip_image_end(&z, "");
	got = unpack_bytes(outer.data, outer.len);
	assert_int_equal(got->n, 4);
	is_whole(got, 0, recording);
	is_whole(got, 1, recording);
	assert_non_null(strstr(got->parts[1].name, ":y.zip:inner.jfr"));
	assert_int_equal(got->parts[2].err, -ENOTSUP);
	is_whole(got, 3, recording);
	unpacked_free(got);
	packed_free(&gzip);
	gzip = pack_gzip(inner_zip);
	got = unpack_bytes(gzip.data, gzip.len);
	assert_int_equal(got->n, 1);
	is_whole(got, 0, recording);
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&inner_zip);
	packed_free(&gzip);
	packed_free(&twice);
	packed_free(&outer);
}

static void archive_without_its_end_is_searched(void **state)
{
	static const struct {
		uint16_t method, flags;
	} cases[] = { { 0, 0 }, { 8, 0 }, { 8, STREAMED }, { 93, 0 } };
	struct packed recording = some_recording(LEN), other = some_recording(777);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct zip_image z = { 0 };
		struct packed zip;
		size_t cut;
		struct unpacked *got;

		zip_image_add(&z, "first", other, cases[i].method, cases[i].flags);
		zip_image_add(&z, "second", recording, cases[i].method, cases[i].flags);
		cut = z.all.len - 20000;
		zip = zip_image_end(&z, "");
		got = unpack_bytes(zip.data, cut);
		assert_int_equal(got->n, 3);
		assert_int_equal(got->parts[0].err, -EBADMSG);
		assert_non_null(strstr(got->parts[0].reason, "no directory"));
		is_whole(got, 1, other);
		is_named(got, 1, "first");
		assert_int_equal(got->parts[2].err, -EBADMSG);
		assert_in_range(got->parts[2].len, LEN / 4, LEN - 1);
		assert_memory_equal(got->data[2], recording.data, got->parts[2].len);
		unpacked_free(got);
		packed_free(&zip);
	}
	packed_free(&recording);
	packed_free(&other);
}

/* What is in them may look like headers of entries. */
static void bytes_of_entries_are_not_searched(void **state)
{
	struct zip_image inner = { 0 }, outer = { 0 };
	struct packed recording = some_recording(LEN), noise = { malloc(5000), 5000 }, zip;
	unsigned int seed = 1;
	struct unpacked *got;

	(void)state;
	/* So that deflate leaves the header as it is. */
	for (size_t i = 0; i < noise.len; i++)
		noise.data[i] = (uint8_t)rand_r(&seed);
	memcpy(noise.data, recording.data, 8);
	zip_image_add(&inner, "once", noise, 0, 0);
	zip = zip_image_end(&inner, "");
	zip_image_add(&outer, "inner.zip", zip, 8, STREAMED);
	zip_image_add(&outer, "last", recording, 8, STREAMED);
	packed_free(&outer.directory);
	got = unpack_bytes(outer.all.data, outer.all.len);
	assert_int_equal(got->n, 3);
	is_whole(got, 1, noise);
	is_whole(got, 2, recording);
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&noise);
	packed_free(&zip);
	packed_free(&outer.all);
}

static void damaged_directory_is_replaced_by_a_search(void **state)
{
	struct packed recording = some_recording(LEN), zip;
	struct zip_image z = { 0 };
	size_t second_at;
	struct unpacked *got;

	(void)state;
	zip_image_add(&z, "first", recording, 8, 0);
	second_at = z.directory.len;
	zip_image_add(&z, "second", recording, 8, 0);
	second_at += z.all.len;
	zip = zip_image_end(&z, "");
	zip.data[second_at] ^= 1;
	got = unpack_bytes(zip.data, zip.len);
	assert_int_equal(got->n, 3);
	is_whole(got, 0, recording);
	assert_int_equal(got->parts[1].err, -EBADMSG);
	assert_int_equal(got->parts[1].where, second_at);
	is_whole(got, 2, recording);
	is_named(got, 2, "second");
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&zip);
}

static void one_bad_entry_leaves_the_others(void **state)
{
	struct packed recording = some_recording(LEN);
	static const struct {
		uint16_t method, flags;
		size_t damage_at; /* 0: nowhere */
		int err;
		const char *reason;
	} cases[] = {
		{ 8, ENCRYPTED, 0, -ENOTSUP, "encrypted" },
		{ 14, 0, 0, -ENOTSUP, "method 14" },
		{ 9, 0, 0, -ENOTSUP, "method 9" },
		{ 0, 0, 5000, -EBADMSG, "checksum" },
		{ 8, 0, 37, -EBADMSG, "damaged deflate data: invalid block type" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct zip_image z = { 0 };
		struct packed zip;
		struct unpacked *got;

		zip_image_add(&z, "bad", recording, cases[i].method, cases[i].flags);
		zip_image_add(&z, "good", recording, 8, 0);
		zip = zip_image_end(&z, "");
		if (cases[i].damage_at)
			memset(zip.data + cases[i].damage_at, 0xff, 16);
		got = unpack_bytes(zip.data, zip.len);
		assert_int_equal(got->n, 2);
		assert_int_equal(got->parts[0].err, cases[i].err);
		assert_non_null(strstr(got->parts[0].reason, cases[i].reason));
		is_whole(got, 1, recording);
		unpacked_free(got);
		packed_free(&zip);
	}
	packed_free(&recording);
}

static void entry_without_a_header_leaves_the_others(void **state)
{
	struct packed recording = some_recording(LEN), zip;
	struct zip_image z = { 0 };
	size_t second_at;
	struct unpacked *got;

	(void)state;
	zip_image_add(&z, "first", recording, 8, 0);
	second_at = z.all.len;
	zip_image_add(&z, "second", recording, 8, 0);
	zip_image_add(&z, "third", recording, 8, 0);
	zip = zip_image_end(&z, "");
	zip.data[second_at] ^= 1;
	got = unpack_bytes(zip.data, zip.len);
	assert_int_equal(got->n, 3);
	is_whole(got, 0, recording);
	assert_int_equal(got->parts[1].err, -EBADMSG);
	assert_int_equal(got->parts[1].where, second_at);
	is_whole(got, 2, recording);
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&zip);
}

static void archive_without_a_recording_says_so(void **state)
{
	struct packed text = { (uint8_t *)"notes about it", 14 }, zip;
	struct zip_image z = { 0 };
	struct unpacked *got;

	(void)state;
	zip_image_add(&z, "recording.jfr", text, 8, 0);
	zip = zip_image_end(&z, "");
	got = unpack_bytes(zip.data, zip.len);
	assert_int_equal(got->n, 1);
	assert_int_equal(got->parts[0].err, -ENOTSUP);
	assert_non_null(strstr(got->parts[0].reason, "no entry"));
	unpacked_free(got);
	packed_free(&zip);
}

static void entries_have_one_limit_together(void **state)
{
	struct unpack_limits limits = unpack_limits_default;
	struct packed recording = some_recording(LEN), zip;
	struct zip_image z = { 0 };
	struct unpacked *got;
	size_t len;

	(void)state;
	zip_image_add(&z, "kernel", recording, 8, 0);
	/* The directory names the same bytes again and again, as the best of zip bombs do. */
	len = z.directory.len;
	for (int i = 0; i < 4; i++) {
		struct packed again = { 0 };

		packed_add(&again, z.directory.data, len);
		packed_add(&z.directory, again.data, len);
		packed_free(&again);
	}
	zip = zip_image_end(&z, "");
	limits.max_len = 2 * LEN + 5000;
	got = unpack_all(open_bytes(zip.data, zip.len, &limits));
	assert_int_equal(got->n, 3);
	is_whole(got, 1, recording);
	assert_int_equal(got->parts[2].err, -E2BIG);
	assert_int_equal(got->parts[2].len, 5000);
	unpacked_free(got);
	limits = unpack_limits_default;
	limits.max_entries = 2;
	got = unpack_all(open_bytes(zip.data, zip.len, &limits));
	assert_int_equal(got->n, 3);
	assert_int_equal(got->parts[2].err, -E2BIG);
	assert_non_null(strstr(got->parts[2].reason, "more than 2 entries"));
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&zip);
}

static void hurry_ends_it(void **state)
{
	struct packed recording = some_recording(LEN), zip = pack_zip(recording);
	struct unpacked *got;

	(void)state;
	hurry_set(true);
	got = unpack_bytes(zip.data, zip.len);
	hurry_set(false);
	assert_int_equal(got->n, 1);
	assert_int_equal(got->parts[0].err, -EINTR);
	unpacked_free(got);
	packed_free(&recording);
	packed_free(&zip);
}

static void unpack_and_look(const uint8_t *bytes, size_t len)
{
	struct unpacked *got = unpack_bytes(bytes, len);

	assert_in_range(got->n, 1, 6);
	for (size_t i = 0; i < got->n; i++)
		assert_true(got->parts[i].len <= 64 << 20);
	unpacked_free(got);
}

static void survives_mutation(void **state)
{
	struct packed recording = some_recording(40);

	(void)state;
	for (int is_zip64 = 0; is_zip64 < 2; is_zip64++) {
		struct zip_image z = { .is_zip64 = is_zip64 };
		struct packed zip;

		zip_image_add(&z, "a", recording, 0, 0);
		zip_image_add(&z, "b", recording, 8, STREAMED);
		zip = zip_image_end(&z, "c");
		mutate(zip.data, zip.len, unpack_and_look);
		packed_free(&zip);
	}
	packed_free(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_that_are_recordings_by_content_are_found),
		cmocka_unit_test(names_of_entries_are_only_said),
		cmocka_unit_test(entries_may_be_packed_themselves),
		cmocka_unit_test(archive_without_its_end_is_searched),
		cmocka_unit_test(bytes_of_entries_are_not_searched),
		cmocka_unit_test(damaged_directory_is_replaced_by_a_search),
		cmocka_unit_test(one_bad_entry_leaves_the_others),
		cmocka_unit_test(entry_without_a_header_leaves_the_others),
		cmocka_unit_test(archive_without_a_recording_says_so),
		cmocka_unit_test(entries_have_one_limit_together),
		cmocka_unit_test(hurry_ends_it),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
