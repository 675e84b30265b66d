// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "tests/unit/mutation.h"
#include "tests/unit/python_debug_offsets.h"
#include "unwinders/python_identity.h"

#define V(minor, micro) PYTHON_VERSION(3, minor, micro)

static const struct said {
	uint32_t version;
	const uint32_t *words;
	size_t n;
	bool is_free_threaded;
} said[] = {
	{ V(13, 0), said_by_313, N_SAID(said_by_313), false },
	{ V(14, 10), said_by_314, N_SAID(said_by_314), false },
	{ V(15, 2), said_by_315, N_SAID(said_by_315), false },
	{ V(13, 0), said_by_313t, N_SAID(said_by_313t), true },
	{ V(14, 10), said_by_314t, N_SAID(said_by_314t), true },
	{ V(15, 2), said_by_315t, N_SAID(said_by_315t), true },
};

static size_t say(const struct said *s, uint8_t bytes[PYTHON_DEBUG_LEN])
{
	return debug_offsets(bytes, s->version, s->is_free_threaded, s->words, s->n);
}

static struct python_layout parsed(const struct said *s)
{
	uint8_t bytes[PYTHON_DEBUG_LEN];
	struct python_layout l;

	assert_int_equal(python_layout_parse(bytes, say(s, bytes), &l), 0);
	return l;
}

static void versions_from_36_to_312_are_known(void **state)
{
	static const struct {
		uint32_t version;
		bool is_free_threaded;
		int err;
	} cases[] = {
		{ V(6, 0), false, 0 },
		{ V(7, 16), false, 0 },
		{ V(12, 99), false, 0 },
		{ V(12, 0) - 0x2f, false, 0 },	      /* rc1 */
		{ V(12, 0) - 0x4f, false, -ENOTSUP }, /* a beta */
		{ V(5, 9), false, -ENOTSUP },
		{ V(13, 0), false, -ENOTSUP },
		{ PYTHON_VERSION(2, 7, 18), false, -ENOTSUP },
		{ V(12, 1), true, -ENOTSUP },
		{ 0, false, -ENOTSUP },
		{ UINT32_MAX, false, -ENOTSUP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct python_layout l = { .version = 1 };

		assert_int_equal(
			python_layout_of_version(cases[i].version, cases[i].is_free_threaded, &l),
			cases[i].err);
		assert_int_equal(l.version, cases[i].err ? 1 : cases[i].version);
	}
}

static void kinds_follow_the_version(void **state)
{
	static const struct {
		unsigned int minor;
		int chain, instr, lines;
	} cases[] = {
		{ 6, PYTHON_FRAME_OBJECTS, PYTHON_INSTR_BYTES, PYTHON_LNOTAB },
		{ 9, PYTHON_FRAME_OBJECTS, PYTHON_INSTR_BYTES, PYTHON_LNOTAB },
		{ 10, PYTHON_CFRAMES, PYTHON_INSTR_UNITS, PYTHON_LINETABLE },
		{ 11, PYTHON_ENTRIES, PYTHON_INSTR_POINTER, PYTHON_LOCATIONS },
		{ 12, PYTHON_SHIMS, PYTHON_INSTR_POINTER, PYTHON_LOCATIONS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct python_layout l;

		assert_int_equal(python_layout_of_version(V(cases[i].minor, 3), false, &l), 0);
		assert_int_equal(l.chain, cases[i].chain);
		assert_int_equal(l.instr, cases[i].instr);
		assert_int_equal(l.lines, cases[i].lines);
	}
	for (size_t i = 0; i < N_SAID(said); i++) {
		struct python_layout l = parsed(&said[i]);

		assert_int_equal(l.chain, PYTHON_SHIMS);
		assert_int_equal(l.lines, PYTHON_LOCATIONS);
	}
}

static void early_37_has_the_thread_elsewhere(void **state)
{
	struct python_layout early, late;

	(void)state;
	assert_int_equal(python_layout_of_version(V(7, 3), false, &early), 0);
	assert_int_equal(python_layout_of_version(V(7, 4), false, &late), 0);
	assert_int_equal(late.runtime.tstate_current - early.runtime.tstate_current, 88);
	assert_int_equal(early.runtime.gil, 0);
	assert_int_not_equal(late.runtime.gil, 0);
}

/* A kernel half reads no more of a code object than this, and finds the same in it. */
static void identity_is_a_short_range_around_all_that_names_a_code_object(void **state)
{
	(void)state;
	for (unsigned int minor = 6; minor <= 15; minor++) {
		struct python_layout l;
		uint16_t end;

		if (minor <= 12)
			assert_int_equal(python_layout_of_version(V(minor, 9), false, &l), 0);
		else
			l = parsed(&said[minor - 13]);
		end = l.code.id_off + l.code.id_len;
		assert_true(l.code.id_len <= PYTHON_IDENTITY_WORDS * 8 && l.code.id_len % 8 == 0);
		assert_true(l.code.first_line >= l.code.id_off && l.code.first_line + 4 <= end);
		assert_true(l.code.filename >= l.code.id_off && l.code.filename + 8 <= end);
		assert_true(l.code.name >= l.code.id_off && l.code.name + 8 <= end);
		assert_true(l.code.linetable >= l.code.id_off && l.code.linetable + 8 <= end);
		assert_true(end <= l.code.size);
		assert_int_equal(l.code.id_needs_name, minor < 12);
	}
}

static void debug_offsets_are_read_in_each_versions_own_shape(void **state)
{
	static const struct {
		uint16_t threads_head, current_frame, base_frame, native_thread_id, owner,
			frame_end, code, filename, tuple_items, ascii_header, state, context,
			tss_key, freed_codes;
	} want[] = {
		{ 7344, 72, 0, 160, 70, 72, 200, 112, 24, 40, 40, 208, 2164, 0 },
		{ 7344, 72, 0, 160, 74, 80, 208, 112, 32, 40, 44, 208, 2340, 7992 },
		{ 7336, 72, 80, 184, 74, 80, 208, 112, 32, 40, 48, 232, 0, 7944 },
		{ 7344, 72, 0, 160, 70, 72, 216, 128, 40, 56, 40, 208, 2164, 0 },
		{ 7344, 72, 0, 160, 78, 80, 232, 128, 48, 56, 44, 208, 2340, 8024 },
		{ 7336, 72, 80, 184, 78, 80, 232, 128, 48, 56, 48, 232, 0, 7952 },
	};

	(void)state;
	for (size_t i = 0; i < N_SAID(said); i++) {
		struct python_layout l = parsed(&said[i]);

		assert_int_equal(l.version, said[i].version);
		assert_int_equal(l.interp.threads_head, want[i].threads_head);
		assert_int_equal(l.thread.current_frame, want[i].current_frame);
		assert_int_equal(l.thread.base_frame, want[i].base_frame);
		assert_int_equal(l.thread.native_thread_id, want[i].native_thread_id);
		assert_int_equal(l.thread.state, want[i].state);
		assert_int_equal(l.thread.context, want[i].context);
		assert_int_equal(l.runtime.tss_key, want[i].tss_key);
		assert_int_equal(l.interp.freed_codes, want[i].freed_codes);
		assert_int_equal(l.frame.owner, want[i].owner);
		assert_int_equal(l.frame.size, want[i].frame_end);
		assert_int_equal(l.frame.code, 0);
		assert_int_equal(l.frame.previous, 8);
		assert_int_equal(l.code.code, want[i].code);
		assert_int_equal(l.code.filename, want[i].filename);
		assert_int_equal(l.tuple.items, want[i].tuple_items);
		assert_int_equal(l.str.ascii_header, want[i].ascii_header);
		assert_int_equal(l.str.compact_header, want[i].ascii_header + 16);
		assert_int_equal(l.type.dictoffset, l.type.name + 264);
	}
}

static void other_structures_are_refused(void **state)
{
	uint8_t bytes[PYTHON_DEBUG_LEN];
	size_t len = debug_offsets(bytes, V(14, 0), false, said_by_314, N_SAID(said_by_314));
	struct python_layout l;

	(void)state;
	bytes[0] ^= 1;
	assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
	bytes[0] ^= 1;
	assert_int_equal(python_layout_parse(bytes, len - 1, &l), -EBADMSG);
	assert_int_equal(python_layout_parse(bytes, 20, &l), -EBADMSG);
	assert_int_equal(python_layout_parse(NULL, 0, &l), -EBADMSG);
	put_word(bytes + 16, 2);
	assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
	debug_offsets(bytes, V(12, 0), false, said_by_314, N_SAID(said_by_314));
	assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
	/* One version's words in another one's shape. */
	debug_offsets(bytes, V(13, 0), false, said_by_314, N_SAID(said_by_314));
	assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
	len = debug_offsets(bytes, V(14, 0), false, said_by_315, N_SAID(said_by_315));
	assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
	/* A code object that says nothing of free threads in a build that says it has them. */
	len = debug_offsets(bytes, V(14, 0), true, said_by_314, N_SAID(said_by_314));
	assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
}

static void offsets_outside_of_their_group_are_refused(void **state)
{
	static const struct {
		size_t word; /* of 3.14, behind the first three */
		uint32_t value;
	} cases[] = {
		{ 3 + 3, 225864 - 4 }, { 3 + 3, 65536 }, { 3 + 3, 0 },	 { 3 + 3, 7343 },
		{ 19 + 4, 152 },       { 28 + 1, 0 },	 { 28 + 5, 88 }, { 28 + 0, 70 },
		{ 36 + 1, 120 },       { 36 + 0, 136 },	 { 36 + 5, 1 },	 { 36 + 1, 8 },
		{ 47 + 0, 17 },	       { 47 + 1, 4 },	 { 74 + 3, 32 }, { 74 + 3, 4096 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t words[N_SAID(said_by_314)];
		uint8_t bytes[PYTHON_DEBUG_LEN];
		struct python_layout l;
		size_t len;

		memcpy(words, said_by_314, sizeof(words));
		words[cases[i].word] = cases[i].value;
		len = debug_offsets(bytes, V(14, 10), false, words, N_SAID(words));
		assert_int_equal(python_layout_parse(bytes, len, &l), -EBADMSG);
	}
}

static void newer_versions_are_not_supported_but_may_be_tried(void **state)
{
	static const uint32_t versions[] = { V(16, 0), V(15, 0) - 0x4f, PYTHON_VERSION(4, 0, 0) };
	uint8_t bytes[PYTHON_DEBUG_LEN + 64] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct python_layout l = { 0 };

		debug_offsets(bytes, versions[i], false, said_by_315, N_SAID(said_by_315));
		assert_int_equal(python_layout_parse(bytes, sizeof(bytes), &l), -ENOTSUP);
		assert_int_equal(l.version, versions[i]);
		assert_int_equal(l.frame.size, 80);
		assert_int_equal(l.chain, PYTHON_SHIMS);
		assert_int_equal(l.thread.current_frame, 72);
		assert_int_equal(l.interp.freed_codes, 0);
	}
	/* Another shape: only what it says of itself. */
	for (size_t i = 0; i < 2; i++) {
		struct python_layout l = { .frame.size = 1 };

		debug_offsets(bytes, V(16, 0), false, said[i].words, said[i].n);
		assert_int_equal(python_layout_parse(bytes, sizeof(bytes), &l), -ENOTSUP);
		assert_int_equal(l.version, V(16, 0));
		assert_int_equal(l.frame.size, 0);
	}
}

static void free_threaded_objects_have_longer_heads(void **state)
{
	(void)state;
	for (size_t i = 3; i < N_SAID(said); i++) {
		struct python_layout l = parsed(&said[i]);
		bool has_copies = PYTHON_MINOR(l.version) >= 14;

		assert_true(l.is_free_threaded);
		assert_int_equal(l.object.type, 24);
		assert_int_equal(l.object.size, 32);
		assert_int_equal(l.str.hash, 40);
		assert_int_equal(l.str.kind_bit, has_copies ? 8 : 2);
		assert_int_equal(l.code.tlbc, has_copies ? 224 : 0);
		assert_int_equal(l.frame.tlbc_index, has_copies ? 72 : 0);
		assert_int_equal(l.code.flags, 64);
		assert_int_equal(l.code.id_off, 80);
		assert_int_equal(l.code.id_len, 80);
		assert_int_equal(l.type.flags, 184);
	}
}

static void words_to_tell_apart(uint64_t words[PYTHON_IDENTITY_WORDS])
{
	for (size_t i = 0; i < PYTHON_IDENTITY_WORDS; i++)
		words[i] = 0x7f0011223340 + 48 * i;
}

/* What a sum that forgot which word is which would not see. */
static void identity_changes_where_words_change_places(void **state)
{
	uint64_t words[PYTHON_IDENTITY_WORDS];
	uint32_t before;

	(void)state;
	words_to_tell_apart(words);
	before = python_code_identity((const __u64 *)words, PYTHON_IDENTITY_WORDS, 7);
	for (size_t i = 0; i < PYTHON_IDENTITY_WORDS; i++) {
		for (size_t k = i + 1; k < PYTHON_IDENTITY_WORDS; k++) {
			words_to_tell_apart(words);
			words[i] = 0x7f0011223340 + 48 * k;
			words[k] = 0x7f0011223340 + 48 * i;
			assert_int_not_equal(python_code_identity((const __u64 *)words,
								  PYTHON_IDENTITY_WORDS, 7),
					     before);
			words_to_tell_apart(words);
			words[i] += 64;
			words[k] -= 64;
			assert_int_not_equal(python_code_identity((const __u64 *)words,
								  PYTHON_IDENTITY_WORDS, 7),
					     before);
		}
	}
}

static void identity_changes_with_every_bit(void **state)
{
	uint64_t words[PYTHON_IDENTITY_WORDS];
	uint32_t before;

	(void)state;
	words_to_tell_apart(words);
	before = python_code_identity((const __u64 *)words, PYTHON_IDENTITY_WORDS, 7);
	for (size_t bit = 0; bit < 64 * PYTHON_IDENTITY_WORDS; bit++) {
		words[bit / 64] ^= 1ull << bit % 64;
		assert_int_not_equal(
			python_code_identity((const __u64 *)words, PYTHON_IDENTITY_WORDS, 7),
			before);
		words[bit / 64] ^= 1ull << bit % 64;
	}
	for (size_t bit = 0; bit < 64; bit++)
		assert_int_not_equal(python_code_identity((const __u64 *)words,
							  PYTHON_IDENTITY_WORDS, 7 ^ 1ull << bit),
				     before);
	assert_int_not_equal(python_code_identity(NULL, 0, 0), 0);
}

/* Whatever a target says: every offset that is taken is small, and its reads stay so. */
static void parse(const uint8_t *bytes, size_t len)
{
	struct python_layout l = { 0 };
	int err = python_layout_parse(bytes, len, &l);

	assert_true(err == 0 || err == -EBADMSG || err == -ENOTSUP);
	if (l.frame.size) {
		assert_true(l.code.id_len <= PYTHON_IDENTITY_WORDS * 8);
		assert_true(l.str.ascii_header <= 128);
	}
}

static void survives_mutation(void **state)
{
	uint8_t bytes[PYTHON_DEBUG_LEN];

	(void)state;
	for (size_t i = 0; i < N_SAID(said); i++) {
		size_t len = say(&said[i], bytes);

		mutate(bytes, len, parse);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_from_36_to_312_are_known),
		cmocka_unit_test(kinds_follow_the_version),
		cmocka_unit_test(early_37_has_the_thread_elsewhere),
		cmocka_unit_test(identity_is_a_short_range_around_all_that_names_a_code_object),
		cmocka_unit_test(debug_offsets_are_read_in_each_versions_own_shape),
		cmocka_unit_test(other_structures_are_refused),
		cmocka_unit_test(offsets_outside_of_their_group_are_refused),
		cmocka_unit_test(newer_versions_are_not_supported_but_may_be_tried),
		cmocka_unit_test(free_threaded_objects_have_longer_heads),
		cmocka_unit_test(identity_changes_with_every_bit),
		cmocka_unit_test(identity_changes_where_words_change_places),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
