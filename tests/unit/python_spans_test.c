// SPDX-License-Identifier: Apache-2.0
/* The current span from both halves: what user space finds of OpenTelemetry in memory made here,
   and what the kernel half's code, run here, reads with that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtimes/python_spans.h"
#include "tests/unit/mutation.h"
#include "tests/unit/python_otel.h"
#include "tests/unit/python_part.h"

#define OLDEST 7
#define NEWEST 15
#define SECOND UINT64_C(1000000000)
#define NONE ""

static const struct otel_id trace = { 0xf123456789abcdefull, 0xfedcba9876543210ull };
static const uint64_t span = 0xc0ffee1234567890ull;
#define IDS "f123456789abcdeffedcba9876543210 c0ffee1234567890"

static struct world world; /* made anew by every test */
static struct otel otel;

static uint64_t name_addr; /* of the span that was read last */

/* The ids of the context's span in hex. */
static const char *ids_of(const struct python_spans *spans, uint64_t context)
{
	static char text[64];
	struct python_span_ids ids;
	char *at = text;

	name_addr = 0;
	if (!python_span_of(&world.m, spans, context, &ids, &name_addr))
		return NONE;
	for (size_t i = 0; i < sizeof(ids.trace_id); i++)
		at += sprintf(at, "%02x", ids.trace_id[i]);
	*at++ = ' ';
	for (size_t i = 0; i < sizeof(ids.span_id); i++)
		at += sprintf(at, "%02x", ids.span_id[i]);
	return text;
}

static struct python_spans find(void)
{
	struct python_otel found = { 0 };

	python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR, SECOND);
	return found.spans;
}

/* A program that has imported the API. */
static struct python_spans begin(unsigned int minor)
{
	otel_init(&otel, &world, minor);
	otel_import(&otel);
	return find();
}

/* A context in which the current span is this one, among n other variables. */
static uint64_t context_of(uint64_t current, size_t n)
{
	uint32_t seed = 1;

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		otel_set(&otel, seed ^ seed >> 16, WORLD_ADDR + 8 * i + 1, WORLD_ADDR + 8 * i);
	}
	if (current)
		otel_set(&otel, otel_hash(&otel), otel.var, otel_value(&otel, current));
	return otel_context(&otel);
}

static void the_span_is_found_in_every_version(void **state)
{
	static const size_t n_vars[] = { 0, 1, 5, 16, 17, 41, 500 };

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (size_t i = 0; i < sizeof(n_vars) / sizeof(*n_vars); i++) {
			struct python_spans spans = begin(minor);
			uint64_t context = otel_span_context(&otel, trace, span), at;

			assert_int_equal(spans.var, otel.var);
			at = context_of(otel_span(&otel, context, false), n_vars[i]);
			assert_string_equal(ids_of(&spans, at), IDS);
			assert_int_equal(name_addr, otel.span_name);
		}
	}
}

static void a_span_whose_attributes_somebody_asked_for_is_found(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_spans spans = begin(minor);
		uint64_t context = otel_span_context(&otel, trace, span);

		assert_string_equal(ids_of(&spans, context_of(otel_span(&otel, context, true), 3)),
				    IDS);
		assert_int_equal(name_addr, otel.span_name);
	}
}

static void a_span_without_an_sdk_has_ids_and_no_name(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_spans spans = begin(minor);
		uint64_t type = otel_type(&world, "NonRecordingSpan", 0), bare;
		uint64_t context = otel_span_context(&otel, trace, span);

		otel_instances(&world, type, 1, &otel.context_key);
		bare = otel_instance(&world, type, 1, &otel.context_key, &context, minor & 1);
		assert_string_equal(ids_of(&spans, context_of(bare, 0)), IDS);
		assert_int_equal(name_addr, 0);
	}
}

static void where_nobody_says_names_there_are_ids(void **state)
{
	struct python_spans spans = begin(13);
	uint64_t context = otel_span_context(&otel, trace, span);

	(void)state;
	assert_int_equal(spans.name_key, otel.name_key);
	spans.name_key = 0;
	assert_string_equal(ids_of(&spans, context_of(otel_span(&otel, context, false), 3)), IDS);
	assert_int_equal(name_addr, 0);
}

static void a_context_without_a_span_has_none(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_spans spans = begin(minor);
		uint64_t key = otel.name_key;

		assert_string_equal(ids_of(&spans, 0), NONE);
		assert_string_equal(ids_of(&spans, context_of(0, 0)), NONE);
		assert_string_equal(ids_of(&spans, context_of(0, 5)), NONE);
		assert_string_equal(ids_of(&spans, context_of(0, 40)), NONE);
		/* A Context in which something else is. */
		otel_set(&otel, otel_hash(&otel), otel.var, otel_dict(&world, 1, &key, &key));
		assert_string_equal(ids_of(&spans, otel_context(&otel)), NONE);
	}
}

static void variables_with_the_same_hash_are_told_apart(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 3; n++) {
		struct python_spans spans = begin(12);
		uint64_t context = otel_span_context(&otel, trace, span);

		for (size_t i = 0; i < n; i++)
			otel_set(&otel, otel_hash(&otel), WORLD_ADDR + 8 * i, WORLD_ADDR);
		assert_string_equal(ids_of(&spans, otel_context(&otel)), NONE);
		assert_string_equal(ids_of(&spans, context_of(otel_span(&otel, context, false), 2)),
				    IDS);
	}
}

/* Hashes that differ in the last bits only lead down to the last level. */
static void a_trie_may_be_as_deep_as_a_hash_is_long(void **state)
{
	struct python_spans spans = begin(13);
	uint64_t context = otel_span_context(&otel, trace, span);

	(void)state;
	otel_set(&otel, otel_hash(&otel) ^ 1u << 31, WORLD_ADDR, WORLD_ADDR);
	assert_string_equal(ids_of(&spans, context_of(otel_span(&otel, context, false), 0)), IDS);
}

static void ids_that_are_not_valid_are_none(void **state)
{
	static const struct {
		struct otel_id trace;
		uint64_t span;
		const char *ids;
	} cases[] = {
		{ { 7, 7 }, 0, NONE },
		{ { 0, 0 }, 7, NONE },
		{ { 0, 0 }, 0, NONE },
		{ { 0, 1 }, 1, "00000000000000000000000000000001 0000000000000001" },
		{ { 1ull << 63, 0 },
		  1ull << 63,
		  "80000000000000000000000000000000 8000000000000000" },
	};

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct python_spans spans = begin(minor);
			uint64_t context = otel_span_context(&otel, cases[i].trace, cases[i].span);

			context = context_of(otel_span(&otel, context, false), 0);
			assert_string_equal(ids_of(&spans, context), cases[i].ids);
		}
	}
}

static void numbers_that_are_no_ids_are_none(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		bool is_old = minor < 12;
		const struct {
			uint64_t digits[2]; /* where, what */
			uint64_t n;
		} cases[] = {
			{ { 0, 1u << 30 }, 5 }, /* no digit */
			{ { 4, 1u << 8 }, 5 },	/* 129 bits */
			{ { 0, 1 }, 6 },
			{ { 0, 1 }, (uint64_t)-5 }, /* negative up to 3.11, else more than any */
		};

		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			struct python_spans spans = begin(minor);
			uint64_t context = otel_span_context(&otel, trace, span), id, at;

			at = context_of(otel_span(&otel, context, false), 0);
			memcpy(&id, world.made + (context + world.l.tuple.items - WORLD_ADDR), 8);
			world_word(&world, id + world.l.integer.tag,
				   is_old ? cases[i].n : cases[i].n << 3);
			world_put(&world, id + world.l.integer.digits + 4 * cases[i].digits[0],
				  cases[i].digits[1], 4);
			assert_string_equal(ids_of(&spans, at), NONE);
		}
	}
}

static void what_only_looks_like_a_span_is_none(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_spans spans = begin(minor);
		uint64_t items[2] = { otel_int(&world, trace),
				      otel_int(&world, (struct otel_id){ 0, span }) };
		uint64_t tuple = world_tuple(&world, 2, items), at;

		/* Any tuple; no object at all; a number that is of another type. */
		assert_string_equal(ids_of(&spans, context_of(otel_span(&otel, tuple, false), 0)),
				    NONE);
		assert_string_equal(ids_of(&spans, context_of(7, 0)), NONE);
		at = otel_span_context(&otel, trace, span);
		memcpy(items, world.made + (at + world.l.tuple.items - WORLD_ADDR), sizeof(items));
		world_word(&world, items[1] + world.l.object.type,
			   world_type_based(&world, "bool", 0));
		assert_string_equal(ids_of(&spans, context_of(otel_span(&otel, at, false), 0)),
				    NONE);
	}
}

static void the_api_is_found_when_it_is_imported(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		struct python_otel found = { 0 };
		uint64_t now = SECOND, name, modules;

		otel_init(&otel, &world, minor);
		name = world_str(&world, "opentelemetry.context");
		modules = otel_module(&world, 1, &name, &name);
		assert_true(python_otel_is_due(&found, &world.l, now));
		assert_false(python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					      now));
		assert_false(python_otel_is_due(&found, &world.l, now));
		/* It has begun; its variables come after it. */
		world_word(&world, world.interp + world.l.interp.modules,
			   otel_dict(&world, 1, &name, &modules));
		assert_false(python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					      now += SECOND));
		otel_import(&otel);
		assert_true(python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					     now += SECOND));
		assert_int_equal(found.spans.var, otel.var);
		assert_false(python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					      now += SECOND));
	}
}

static void what_stays_half_done_is_asked_for_less_and_less(void **state)
{
	struct python_otel found = { 0 };
	uint64_t name, module, now = SECOND;

	(void)state;
	otel_init(&otel, &world, 12);
	name = world_str(&world, "opentelemetry.context");
	module = otel_module(&world, 1, &name, &name);
	world_word(&world, world.interp + world.l.interp.modules,
		   otel_dict(&world, 1, &name, &module));
	for (int i = 0; i < 20; i++)
		assert_false(python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR,
					      now));
	assert_false(python_otel_is_due(&found, &world.l, now + 4 * SECOND));
	assert_true(python_otel_is_due(&found, &world.l, now + 5 * SECOND));
}

/* Memory of which a page is not to be had now. */
static uint64_t late_page;

static int late_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	return addr / WORLD_PAGE == late_page ? -ETIMEDOUT : world_read(m, addr, buf, len);
}

static void what_could_not_be_read_is_asked_for_again(void **state)
{
	static const struct mem_ops ops = { .read = late_read, .free = world_free };
	uint64_t last;

	(void)state;
	otel_init(&otel, &world, 12);
	otel_import(&otel);
	world.m.ops = &ops;
	last = (world.next - 1) / WORLD_PAGE;
	for (uint64_t page = WORLD_ADDR / WORLD_PAGE; page <= last; page++) {
		struct python_otel found = { 0 };

		late_page = page;
		python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR, SECOND);
		late_page = 0;
		python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR, 2 * SECOND);
		assert_int_equal(found.spans.var, otel.var);
		/* And what was known stays. */
		late_page = page;
		found.look.modules = 0;
		python_otel_look(&found, fresh_part(), &world.m, &world.l, WORLD_ADDR, 3 * SECOND);
		assert_int_equal(found.spans.var, otel.var);
	}
}

static void a_context_of_another_kind_is_none_of_ours(void **state)
{
	struct python_spans spans;

	(void)state;
	otel_init(&otel, &world, 12);
	otel_import(&otel);
	world_word(&world, otel.var + 16, world_str(&world, "something"));
	spans = find();
	assert_int_equal(spans.var, 0);
	assert_string_equal(ids_of(&spans, context_of(0, 0)), NONE);
}

/* Bits of everything that a look at the span goes through. */
static void a_lie_in_memory_does_no_harm(void **state)
{
	static const unsigned int minors[] = { 7, 11, 12, 15 };

	(void)state;
	for (size_t i = 0; i < sizeof(minors) / sizeof(*minors); i++) {
		struct python_spans spans = begin(minors[i]), lied;
		uint64_t from, context;

		from = world.next;
		context = otel_span_context(&otel, trace, span);
		context = context_of(otel_span(&otel, context, false), 20);
		for (uint64_t bit = 0; bit < 8 * (world.next - from); bit++) {
			uint8_t *byte = &world.made[from - WORLD_ADDR + bit / 8];

			*byte ^= (uint8_t)(1 << bit % 8);
			ids_of(&spans, context);
			*byte ^= (uint8_t)(1 << bit % 8);
		}
		/* And of what user space goes through. */
		for (uint64_t bit = 0; bit < 8 * (from - otel.var); bit++) {
			uint8_t *byte = &world.made[otel.var - WORLD_ADDR + bit / 8];

			*byte ^= (uint8_t)(1 << bit % 8);
			lied = find();
			ids_of(&lied, context);
			*byte ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void parse(const uint8_t *bytes, size_t len)
{
	struct python_spans spans;

	world.bytes = bytes;
	world.len = len;
	spans = find();
	ids_of(&spans, WORLD_ADDR + len / 2);
	world.bytes = world.made;
}

static void survives_mutation(void **state)
{
	(void)state;
	begin(12);
	mutate(world.made, 2048, parse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_span_is_found_in_every_version),
		cmocka_unit_test(a_span_whose_attributes_somebody_asked_for_is_found),
		cmocka_unit_test(a_span_without_an_sdk_has_ids_and_no_name),
		cmocka_unit_test(where_nobody_says_names_there_are_ids),
		cmocka_unit_test(a_context_without_a_span_has_none),
		cmocka_unit_test(variables_with_the_same_hash_are_told_apart),
		cmocka_unit_test(a_trie_may_be_as_deep_as_a_hash_is_long),
		cmocka_unit_test(ids_that_are_not_valid_are_none),
		cmocka_unit_test(numbers_that_are_no_ids_are_none),
		cmocka_unit_test(what_only_looks_like_a_span_is_none),
		cmocka_unit_test(the_api_is_found_when_it_is_imported),
		cmocka_unit_test(what_stays_half_done_is_asked_for_less_and_less),
		cmocka_unit_test(what_could_not_be_read_is_asked_for_again),
		cmocka_unit_test(a_context_of_another_kind_is_none_of_ours),
		cmocka_unit_test(a_lie_in_memory_does_no_harm),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
