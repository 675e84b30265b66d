// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/source.h"
#include "exporter/pprof_source.h"
#include "tests/unit/golden.h"
#include "tests/unit/sample_profile.h"

struct fake {
	int pumps;
};

static int closes;

static int fake_open(struct source *src, const struct options *opt)
{
	struct fake *fake = src->priv;

	(void)opt;
	assert_int_equal(fake->pumps, 0);
	return strcmp(src->path, "broken") ? 0 : -EIO;
}

static int fake_pump(struct source *src, struct profile *p, int timeout_ms)
{
	struct fake *fake = src->priv;

	(void)p;
	(void)timeout_ms;
	return ++fake->pumps < 3;
}

static void fake_close(struct source *src)
{
	(void)src;
	closes++;
}

static const struct source_ops fake_source = {
	.name = "fake",
	.priv_size = sizeof(struct fake),
	.open = fake_open,
	.pump = fake_pump,
	.close = fake_close,
};

static void source_is_closed_once_also_after_a_failed_open(void **state)
{
	struct source *src;
	int err = 0;

	(void)state;
	closes = 0;
	assert_null(source_open(&fake_source, "broken", NULL, &err));
	assert_int_equal(err, -EIO);
	assert_int_equal(closes, 1);
	src = source_open(&fake_source, "good", NULL, &err);
	assert_int_equal(err, 0);
	assert_int_equal(source_pump(src, NULL, 0), 1);
	assert_int_equal(source_pump(src, NULL, 0), 1);
	assert_int_equal(source_pump(src, NULL, 0), 0);
	source_close(src);
	assert_int_equal(closes, 2);
	source_close(NULL);
}

/* Opens and pumps a file; the error of whichever failed. */
static int read_file(const char *path, struct profile *p)
{
	int err = 0;
	struct source *src = source_open(&source_pprof, path, NULL, &err);

	if (src)
		err = source_pump(src, p, 0);
	source_close(src);
	return err;
}

static int read_bytes(const void *bytes, size_t len, struct profile *p)
{
	char path[] = "/tmp/weft-source-XXXXXX";
	int fd = mkstemp(path), err;

	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	err = read_file(path, p);
	unlink(path);
	return err;
}

static void pprof_file_becomes_a_profile(void **state)
{
	struct profile *p = sample_profile(), *copy = profile_new();
	size_t len;
	char *bytes = exported("pprof", p, &len);

	(void)state;
	assert_true(source_pprof.sniff(bytes, len));
	assert_int_equal(read_bytes(bytes, len, copy), 0);
	assert_int_equal(profile_n_samples(copy), profile_n_samples(p));
	profile_free(copy);
	profile_free(p);
	free(bytes);
}

static void large_file_is_read_whole(void **state)
{
	struct profile *p = sample_profile_empty(), *copy = profile_new();
	size_t len;
	char *bytes;

	(void)state;
	for (uint32_t i = 0; i < 50000; i++) {
		uint32_t location =
			sample_location(p, FRAME_NATIVE, 0, i * UINT64_C(0x9e3779b97f4a7c15), 0, 0);

		sample_add(p, 0, i, &location, 1);
	}
	bytes = exported("pprof", p, &len);
	assert_true(len > 200000);
	assert_int_equal(read_bytes(bytes, len, copy), 0);
	assert_int_equal(profile_n_samples(copy), 50000);
	assert_int_equal(profile_get_sample(copy, 49999)->values[0], 49999);
	profile_free(copy);
	profile_free(p);
	free(bytes);
}

static void bad_files_are_errors_with_a_reason(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	log_set_level(LOG_QUIET);
	assert_int_equal(read_file("/nonexistent.pb.gz", p), -ENOENT);
	assert_int_equal(read_file("/tmp", p), -EISDIR);
	assert_int_equal(read_bytes("no profile at all", 17, p), -EBADMSG);
	assert_int_equal(read_bytes("\x1f\x8b\x08 cut", 7, p), -EBADMSG);
	profile_free(p);
}

static void other_files_are_not_taken_for_pprof(void **state)
{
	static const struct {
		const char *head;
		size_t len;
		bool is_pprof;
	} cases[] = {
		{ "\x1f\x8b\x08\x00", 4, true },
		{ "\x0a\x04\x08\x01\x10\x02", 6, true },
		{ "\x48\xb7\xb2\x0a\x04\x08\x01\x10\x02", 9, false },
		{ "\x48\xb7\x32\x0a\x04\x08\x01\x10\x02", 9, true }, /* Go's */
		{ "\x48\xb7\x32", 3, false },
		{ "Hello\nmain;f 1\n", 15, false },
		{ "FLR\0\0\2", 6, false },
		{ "{\"a\":1}", 7, false },
		{ "\x7f"
		  "ELF",
		  4, false },
		{ "\nmain;f 1\n", 10, false },
		{ "main;f 1\n", 9, false },
		{ "", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(source_pprof.sniff(cases[i].head, cases[i].len),
				 cases[i].is_pprof);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source_is_closed_once_also_after_a_failed_open),
		cmocka_unit_test(pprof_file_becomes_a_profile),
		cmocka_unit_test(large_file_is_read_whole),
		cmocka_unit_test(bad_files_are_errors_with_a_reason),
		cmocka_unit_test(other_files_are_not_taken_for_pprof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
