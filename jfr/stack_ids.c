// SPDX-License-Identifier: Apache-2.0
#include "jfr/stack_ids.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/profile.h"
#include "jfr/names.h"

void stack_ids_deinit(struct stack_ids *s)
{
	free(s->functions);
	free(s->locations);
}

/* Adds text to s->text at n, as much as fits. */
static size_t put(struct stack_ids *s, size_t n, const char *text)
{
	size_t len = strnlen(text, sizeof(s->text) - 1 - n);

	memcpy(s->text + n, text, len);
	return n + len;
}

static uint32_t library_of(struct stack_ids *s, const struct java_class *class)
{
	uint32_t string = class->string;

	if (string)
		return string;
	string = profile_string(s->p, class->name);
	if (class->is_shared)
		((struct java_class *)class)->string = string;
	return string;
}

/* NULL: no memory. */
static struct made_function *made_of(struct stack_ids *s, uint32_t system_name)
{
	if (ARRAY_RESERVE(s->functions, s->functions_cap, system_name))
		return NULL;
	while (s->n_functions <= system_name)
		s->functions[s->n_functions++] = (struct made_function){ 0 };
	return &s->functions[system_name];
}

/* name_len: of the name in s->text; 0: it is the system name. */
static uint32_t find_function(struct stack_ids *s, uint32_t system_name, uint32_t filename,
			      size_t name_len)
{
	struct made_function *made = made_of(s, system_name);
	uint64_t of = (uint64_t)filename << 32 | name_len;
	struct function f = { .system_name = system_name, .filename = filename };
	uint32_t function;

	if (made && made->function && made->of == of)
		return made->function;
	f.name = name_len ? profile_string_n(s->p, s->text, name_len) : system_name;
	function = profile_function(s->p, &f);
	if (made)
		*made = (struct made_function){ function, of };
	return function;
}

/* Of C a function goes by its own name, and async-profiler has its library for a class. The others:
   "Class.method", and the same with a descriptor behind it. */
static uint32_t make_function(struct stack_ids *s, const struct java_method *m)
{
	size_t name_len = 0, n;

	if (!m->is_of_java)
		return find_function(s, profile_string(s->p, m->name), library_of(s, m->class), 0);
	name_len = put(s, 0, m->class->name);
	if (name_len)
		name_len = put(s, name_len, ".");
	name_len = put(s, name_len, m->name);
	n = put(s, name_len, m->descriptor);
	return find_function(s, profile_string_n(s->p, s->text, n), 0, name_len);
}

static enum frame_kind kind_of(enum java_frame_type type)
{
	switch (type) {
	case JAVA_NATIVE:
		return FRAME_NATIVE;
	case JAVA_KERNEL:
		return FRAME_KERNEL;
	default:
		return FRAME_JAVA;
	}
}

static uint32_t make_location(struct stack_ids *s, const struct java_frame *f,
			      const struct java_method *m)
{
	struct location l = { .kind = (uint16_t)kind_of(f->type) };
	struct line line = { .function = m->function, .line = (uint32_t)f->line };
	uint64_t hash =
		(line.function + ((uint64_t)line.line << 32)) * UINT64_C(0x9e3779b97f4a7c15);
	struct cached_location *c = &s->locations_made[(hash >> 32) % N_CACHED_LOCATIONS];

	if (!c->location || c->function != line.function || c->line != line.line ||
	    c->kind != l.kind)
		*c = (struct cached_location){ .function = line.function,
					       .line = line.line,
					       .location = profile_location(s->p, &l, &line, 1),
					       .kind = l.kind };
	return c->location;
}

/* Native code has no lines: one location for all frames. */
static uint32_t find_location(struct stack_ids *s, const struct java_frame *f)
{
	struct java_method *m = (struct java_method *)f->method; /* the ids in it are ours */
	bool is_plain = !f->line && kind_of(f->type) == FRAME_NATIVE;

	if (!m->function)
		m->function = make_function(s, m);
	if (!is_plain)
		return make_location(s, f, m);
	if (!m->location)
		m->location = make_location(s, f, m);
	return m->location;
}

static inline uint32_t location_of(struct stack_ids *s, const struct java_frame *f)
{
	uint32_t location = f->location;

	if (location)
		return location;
	location = find_location(s, f);
	if (f->is_shared)
		((struct java_frame *)f)->location = location;
	return location;
}

static uint32_t mark(struct profile *p, const char *name)
{
	struct function f = { .name = profile_string(p, name) };
	struct location l = { .kind = FRAME_MARK };
	struct line line = { .function = profile_function(p, &f) };

	return profile_location(p, &l, &line, 1);
}

uint32_t stack_ids_of_mark(struct stack_ids *s, const char *name)
{
	uint32_t location = mark(s->p, name);

	return profile_stack(s->p, &location, 1);
}

/* Frames that are shown, in s->locations: all of them when none would be left. */
static size_t fill_locations(struct stack_ids *s, const struct java_stack *stack, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n; i++)
		if (all || !stack->frames[i]->is_hidden)
			s->locations[n++] = location_of(s, stack->frames[i]);
	return n || all ? n : fill_locations(s, stack, true);
}

uint32_t stack_ids_of(struct stack_ids *s, struct java_stack *stack)
{
	size_t n;

	if (stack->stack && !stack->is_partial)
		return stack->stack;
	if (stack->n + 1 > s->locations_cap) {
		uint32_t *locations = realloc(s->locations, (stack->n + 1) * sizeof(*locations));

		if (!locations)
			return 0;
		s->locations = locations;
		s->locations_cap = stack->n + 1;
	}
	n = fill_locations(s, stack, s->keeps_hidden);
	if (stack->is_truncated)
		s->locations[n++] = mark(s->p, "[truncated]");
	stack->stack = profile_stack(s->p, s->locations, n);
	return stack->stack;
}
