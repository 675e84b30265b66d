// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtimes/python_heap.h"
#include "runtimes/python_label.h"
#include "tests/unit/mutation.h"
#include "tests/unit/python_world.h"

#define OLDEST 7
#define NEWEST 15
#define MOST WIRE_TASK_NAME_MAX

_Static_assert(WIRE_SPAN_NAME_MAX == MOST, "labels of both are cut alike");

static struct world world; /* made anew by every test */

static struct python_name_format format_of(struct world *w)
{
	return (struct python_name_format){ &w->l, world_type_based(w, "str", 0),
					    world_type_based(w, "int", 0) };
}

/* A span with a name of which so much was copied. To be freed. */
static struct wire_span *span_named(uint64_t name, const void *bytes, uint32_t len)
{
	struct wire_span *span = calloc(1, sizeof(*span) + len);

	span->name_addr = name;
	span->name_len = len;
	memcpy(span->name, bytes, len);
	return span;
}

/* The label of a task's name, as copied; "": none. */
static const char *label_of(uint64_t name, uint32_t len)
{
	static char label[PYTHON_LABEL_MAX];
	struct python_name_format format = format_of(&world);
	struct wire_python_task task = { .addr = name, .len = len };

	if (world_read(&world.m, name, task.name, len))
		return "";
	return python_task_label(&task, &format, label) ? label : "";
}

/* The same of a span's. */
static const char *span_label_of(uint64_t name, uint32_t len)
{
	static char label[PYTHON_LABEL_MAX];
	struct python_name_format format = format_of(&world);
	uint8_t bytes[MOST];
	struct wire_span *span;
	bool is_name;

	if (world_read(&world.m, name, bytes, len))
		return "";
	span = span_named(name, bytes, len);
	is_name = python_span_label(span, &format, label);
	free(span);
	return is_name ? label : "";
}

/* The same where it lies in memory. */
static const char *label_at(uint64_t name)
{
	static char label[PYTHON_LABEL_MAX];
	struct python_heap h;
	char *text;

	assert_int_equal(python_heap_init(&h, &world.m, &world.l), 0);
	text = python_span_name(&h, name);
	snprintf(label, sizeof(label), "%s", text ? text : "");
	free(text);
	python_heap_deinit(&h);
	return label;
}

static uint64_t make_int(struct world *w, uint64_t tag, uint32_t low, uint32_t high)
{
	uint64_t at = world_object(w, "int", w->l.integer.digits + 8);

	world_word(w, at + w->l.integer.tag, tag);
	world_put(w, at + w->l.integer.digits, low, 4);
	world_put(w, at + w->l.integer.digits + 4, high, 4);
	return at;
}

static void names_are_what_they_were_when_copied(void **state)
{
	char text[400], want[sizeof(text) + 3];
	uint64_t str;
	size_t most;

	(void)state;
	world_init(&world, 13);
	most = MOST - world.l.str.ascii_header;
	memset(text, 'x', sizeof(text));
	text[most] = '\0';
	assert_string_equal(label_of(world_str(&world, text), MOST), text);
	snprintf(want, sizeof(want), "%s…", text);
	text[most] = 'x';
	text[most + 1] = '\0';
	assert_string_equal(label_of(world_str(&world, text), MOST), want);
	/* The page behind it was not there. */
	str = world_str(&world, "abcdef");
	assert_string_equal(label_of(str, world.l.str.ascii_header + 4), "abcd…");
	assert_string_equal(label_of(str, world.l.str.ascii_header - 1), "");
	assert_string_equal(label_of(world_str(&world, ""), MOST), "");
	/* Two bytes a character. */
	str = world_object(&world, "str", 80);
	world_word(&world, str + world.l.str.length, 2);
	world_put(&world, str + world.l.str.state, (2u | 8) << world.l.str.kind_bit, 4);
	world_put(&world, str + world.l.str.compact_header, 0x52a14efb, 4);
	assert_string_equal(label_of(str, 80), "\u4efb\u52a1");
	/* Numbers, one of two digits; a negative one is none. */
	assert_string_equal(label_of(make_int(&world, 1 << 3, 7, 0), 32), "Task-7");
	assert_string_equal(label_of(make_int(&world, 2 << 3, 5, 1), 32), "Task-1073741829");
	assert_string_equal(label_of(make_int(&world, 1 << 3 | 2, 7, 0), 32), "");
	/* Something else. */
	assert_string_equal(label_of(world_object(&world, "bytes", 64), 64), "");
}

/* A str of this many characters, all of them this one, of so many bytes. */
static uint64_t make_wide(size_t n, unsigned int width, uint32_t character)
{
	uint64_t str = world_object(&world, "str", world.l.str.compact_header + n * width + MOST);

	world_word(&world, str + world.l.str.length, n);
	world_put(&world, str + world.l.str.state, (width | 8) << world.l.str.kind_bit, 4);
	for (size_t i = 0; i < n; i++)
		world_put(&world, str + world.l.str.compact_header + i * width, character, width);
	return str;
}

static void spans_have_names_in_all_forms_of_every_version(void **state)
{
	static const struct {
		size_t n;
		unsigned int width;
		uint32_t character;
		const char *utf8;
	} cases[] = {
		{ 3, 1, 0xdf, "ß" },	{ 500, 1, 0xdf, "ß" },	   { 3, 2, 0x416, "Ж" },
		{ 500, 2, 0x416, "Ж" }, { 3, 4, 0x1f6d2, "🛒" }, { 500, 4, 0x1f6d2, "🛒" }
	};

	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		world_init(&world, minor);
		assert_string_equal(label_at(world_str(&world, "GET /items/{id}")),
				    "GET /items/{id}");
		assert_string_equal(span_label_of(world_str(&world, "GET /"), MOST), "GET /");
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			uint64_t str = make_wide(cases[i].n, cases[i].width, cases[i].character);
			size_t most = (MOST - world.l.str.compact_header) / cases[i].width;
			size_t n = cases[i].n < most ? cases[i].n : most,
			       len = strlen(cases[i].utf8);
			const char *got = span_label_of(str, MOST);

			for (size_t k = 0; k < n; k++)
				assert_memory_equal(got + k * len, cases[i].utf8, len);
			assert_string_equal(got + n * len, n < cases[i].n ? "…" : "");
			assert_string_equal(label_at(str), got);
		}
	}
}

static void what_is_no_str_names_no_span(void **state)
{
	uint64_t number, text;

	(void)state;
	world_init(&world, 13);
	number = make_int(&world, 1 << 3, 7, 0);
	text = world_str(&world, "abc");
	assert_string_equal(span_label_of(number, 32), "");
	assert_string_equal(label_at(number), "");
	assert_string_equal(label_at(0), "");
	assert_string_equal(label_at(WORLD_ADDR - 64), "");
	assert_string_equal(span_label_of(text, 0), "");
	assert_string_equal(span_label_of(world_object(&world, "bytes", MOST), MOST), "");
	assert_string_equal(span_label_of(text, MOST), "abc");
}

static void parse_name(const uint8_t *bytes, size_t len)
{
	struct python_name_format format = format_of(&world);
	struct wire_python_task *task = calloc(1, sizeof(*task));
	char out[PYTHON_LABEL_MAX];
	struct wire_span *span;

	task->addr = WORLD_ADDR;
	task->len = (uint32_t)len;
	memcpy(task->name, bytes, len);
	python_task_label(task, &format, out);
	task->len = UINT32_MAX;
	assert_false(python_task_label(task, &format, out));
	free(task);
	span = span_named(WORLD_ADDR, bytes, (uint32_t)len);
	python_span_label(span, &format, out);
	span->name_len = UINT32_MAX;
	assert_false(python_span_label(span, &format, out));
	free(span);
}

static void survives_mutation(void **state)
{
	(void)state;
	for (unsigned int minor = OLDEST; minor <= NEWEST; minor++) {
		uint64_t str, number;

		world_init(&world, minor);
		str = world_str(&world, "a name");
		number = make_int(&world, 1 << 3, 7, 0);
		mutate(world.made + (str - WORLD_ADDR), 80, parse_name);
		mutate(world.made + (number - WORLD_ADDR), 32, parse_name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_what_they_were_when_copied),
		cmocka_unit_test(spans_have_names_in_all_forms_of_every_version),
		cmocka_unit_test(what_is_no_str_names_no_span),
		cmocka_unit_test(survives_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
