/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: OpenTelemetry in the memory of a CPython (tests/unit/python_world.h): contexts with
   any number of variables, spans in every form that versions give instances. */
#ifndef TESTS_UNIT_PYTHON_OTEL_H
#define TESTS_UNIT_PYTHON_OTEL_H

#include <stdlib.h>

#include "tests/unit/python_world.h"

#define OTEL_MAX_VARS 512
#define OTEL_TYPE_LEN 1024

struct otel_id {
	uint64_t high, low;
};

/* A variable of a context. */
struct otel_var {
	uint32_t hash; /* as tries use it */
	uint64_t key, value;
};

struct otel {
	struct world *w;
	uint64_t var, var_hash; /* the ContextVar and its hash */
	uint64_t span_key, name_key, context_key;
	uint64_t span_name; /* what spans are called */
	uint64_t span_type, context_type;
	struct otel_var vars[OTEL_MAX_VARS];
	size_t n_vars;
};

static inline uint64_t otel_type(struct world *w, const char *name, uint64_t base)
{
	uint64_t type = world_room(w, OTEL_TYPE_LEN), text = world_room(w, strlen(name) + 1);

	memcpy(w->made + (text - WORLD_ADDR), name, strlen(name));
	world_word(w, type + w->l.type.name, text);
	world_word(w, type + PYTHON_TYPE_BASE, base);
	return type;
}

/* Entries of the kind that a dict with such keys has. */
static inline uint64_t otel_keys(struct world *w, size_t n, const uint64_t *keys,
				 const uint64_t *values)
{
	bool is_old = w->l.version < PYTHON_FIRST(3, 11);
	size_t width = is_old ? 24 : 16, indices = 32;
	uint64_t at = world_room(w, w->at.keys.indices + indices + width * n), entry;

	world_put(w, at + w->at.keys.size, is_old ? indices : 5 | 5 << 8 | 1 << 16, 8);
	world_word(w, at + w->at.keys.n_entries, n);
	for (size_t i = 0; i < n; i++) {
		entry = at + w->at.keys.indices + indices + width * i + width - 16;
		world_word(w, entry, keys[i]);
		world_word(w, entry + 8, values ? values[i] : 0);
	}
	return at;
}

static inline uint64_t otel_dict(struct world *w, size_t n, const uint64_t *keys,
				 const uint64_t *values)
{
	uint64_t at = world_object(w, "dict", 48);

	world_word(w, at + 16, n);
	world_word(w, at + PYTHON_DICT_KEYS, otel_keys(w, n, keys, values));
	return at;
}

static inline uint64_t otel_int(struct world *w, struct otel_id id)
{
	uint64_t at = world_object(w, "int", w->l.integer.digits + 20), n = 0;
	uint32_t digits[5] = { id.low & 0x3fffffff, id.low >> 30 & 0x3fffffff,
			       (id.low >> 60 | id.high << 4) & 0x3fffffff,
			       id.high >> 26 & 0x3fffffff, id.high >> 56 & 0xff };

	for (size_t i = 0; i < 5; i++) {
		world_put(w, at + w->l.integer.digits + 4 * i, digits[i], 4);
		n = digits[i] ? i + 1 : n;
	}
	if (w->l.version >= PYTHON_FIRST(3, 12))
		n = n ? n << 3 : 1;
	world_word(w, at + w->l.integer.tag, n);
	return at;
}

static inline uint64_t otel_span_context(struct otel *o, struct otel_id trace, uint64_t span)
{
	uint64_t items[2] = { otel_int(o->w, trace), otel_int(o->w, (struct otel_id){ 0, span }) };
	uint64_t at = world_tuple(o->w, 2, items);

	world_word(o->w, at + o->w->l.object.type, o->context_type);
	return at;
}

/* What instances of a type share: the names of their attributes. */
static inline void otel_instances(struct world *w, uint64_t type, size_t n, const uint64_t *names)
{
	bool is_managed = w->l.version >= PYTHON_FIRST(3, 11);

	world_word(w, type + w->at.type.cached_keys, otel_keys(w, n, names, NULL));
	world_word(w, type + w->l.type.basicsize, is_managed ? 16 : 24);
	world_word(w, type + w->l.type.flags, is_managed ? 1 << 4 : 0);
	world_word(w, type + w->l.type.dictoffset, is_managed ? (uint64_t)-1 : 16);
}

/* has_dict: somebody has asked for its __dict__, which is its own from then on. */
static inline uint64_t otel_instance(struct world *w, uint64_t type, size_t n,
				     const uint64_t *names, const uint64_t *attributes,
				     bool has_dict)
{
	unsigned int minor = PYTHON_MINOR(w->l.version);
	uint64_t at = world_room(w, 96) + 32, values = world_room(w, 32), dict = 0;

	assert(n <= 2);
	world_word(w, at + w->l.object.type, type);
	if (minor >= 13 && !has_dict)
		values = at + 16;
	for (size_t i = 0; i < n; i++)
		world_word(w, values + w->at.keys.values + 8 * i, attributes[i]);
	if (has_dict) {
		dict = otel_dict(w, n, names, attributes);
	} else if (minor <= 10) {
		dict = world_object(w, "dict", 48);
		memcpy(w->made + (dict + PYTHON_DICT_KEYS - WORLD_ADDR),
		       w->made + (type + w->at.type.cached_keys - WORLD_ADDR), 8);
		world_word(w, dict + PYTHON_DICT_VALUES, values);
	}
	if (minor <= 10)
		world_word(w, at + 16, dict);
	else if (has_dict || minor >= 13)
		world_word(w, at - 24, dict);
	else
		world_word(w, minor == 11 ? at - 32 : at - 24, minor == 11 ? values : values - 1);
	return at;
}

static inline uint64_t otel_span(struct otel *o, uint64_t context, bool has_dict)
{
	uint64_t names[2] = { o->name_key, o->context_key };
	uint64_t attributes[2] = { o->span_name, context };

	return otel_instance(o->w, o->span_type, 2, names, attributes, has_dict);
}

static inline void otel_set(struct otel *o, uint32_t hash, uint64_t key, uint64_t value)
{
	assert(o->n_vars < OTEL_MAX_VARS);
	o->vars[o->n_vars++] = (struct otel_var){ hash, key, value };
}

static inline uint64_t otel_node(struct world *w, uint64_t n_words, uint32_t map)
{
	uint64_t at = world_room(w, 32 + 8 * n_words);

	world_word(w, at + 16, n_words);
	world_word(w, at + 24, 0xdeadull << 32 | map); /* the other half is whatever was there */
	return at;
}

static inline void otel_pair(struct world *w, uint64_t node, size_t i, uint64_t key, uint64_t value)
{
	world_word(w, node + 32 + 16 * i, key);
	world_word(w, node + 32 + 16 * i + 8, value);
}

static inline bool otel_are_alike(const struct otel_var *vars, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (vars[i].hash != vars[0].hash)
			return false;
	return n > 1;
}

/* The trie that Python/hamt.c would make of variables, from a level on. */
static inline uint64_t otel_trie(struct world *w, const struct otel_var *vars, size_t n, int level)
{
	struct otel_var *of = calloc(n, sizeof(*of));
	uint32_t map = 0;
	bool are_alike = otel_are_alike(vars, n), is_full;
	size_t at = 0;
	uint64_t node;

	for (size_t i = 0; i < n; i++)
		map |= 1u << (vars[i].hash >> 5 * level & 31);
	is_full = !are_alike && __builtin_popcount(map) > 16;
	node = are_alike ? otel_node(w, 2 * n, vars[0].hash)
	       : is_full ? world_room(w, 16 + 32 * 8 + 8)
			 : otel_node(w, 2 * (uint64_t)__builtin_popcount(map), map);
	for (size_t i = 0; are_alike && i < n; i++)
		otel_pair(w, node, i, vars[i].key, vars[i].value);
	for (uint32_t index = 0; !are_alike && index < 32; index++) {
		size_t n_of = 0;

		for (size_t i = 0; i < n; i++)
			if ((vars[i].hash >> 5 * level & 31) == index)
				of[n_of++] = vars[i];
		if (is_full && n_of)
			world_word(w, node + 16 + 8 * index, otel_trie(w, of, n_of, level + 1));
		else if (n_of == 1)
			otel_pair(w, node, at++, of->key, of->value);
		else if (n_of)
			otel_pair(w, node, at++, 0, otel_trie(w, of, n_of, level + 1));
	}
	free(of);
	return node;
}

/* A contextvars.Context with all that was set. */
static inline uint64_t otel_context(struct otel *o)
{
	struct world *w = o->w;
	uint64_t at = world_room(w, 48), vars = world_room(w, 48);

	world_word(w, at + 24, vars);
	world_word(w, vars + 16,
		   o->n_vars ? otel_trie(w, o->vars, o->n_vars, 0) : world_room(w, 32));
	world_word(w, vars + 32, o->n_vars);
	return at;
}

static inline uint64_t otel_module(struct world *w, size_t n, const uint64_t *names,
				   const uint64_t *values)
{
	uint64_t at = world_object(w, "module", 24);

	world_word(w, at + PYTHON_MODULE_DICT, otel_dict(w, n, names, values));
	return at;
}

/* An instance with one attribute. */
static inline uint64_t otel_holder(struct world *w, const char *name, uint64_t value)
{
	uint64_t type = otel_type(w, "ContextVarsRuntimeContext", 0), key = world_str(w, name);

	otel_instances(w, type, 1, &key);
	return otel_instance(w, type, 1, &key, &value, false);
}

/* threading with its first thread. */
static inline uint64_t otel_threading(struct otel *o)
{
	struct world *w = o->w;
	uint64_t type = otel_type(w, "_MainThread", 0), key = world_str(w, "_main_thread"), thread;

	otel_instances(w, type, 1, &o->name_key);
	thread = otel_instance(w, type, 1, &o->name_key, &key, false);
	return otel_module(w, 1, &key, &thread);
}

/* sys.modules with the API in it. */
static inline void otel_import(struct otel *o)
{
	struct world *w = o->w;
	struct otel_id none = { 0, 0 };
	uint64_t names[4] = { world_str(w, "opentelemetry.context"),
			      world_str(w, "opentelemetry.trace.propagation"),
			      world_str(w, "opentelemetry.trace.span"), world_str(w, "threading") };
	uint64_t variables[3] = { world_str(w, "_RUNTIME_CONTEXT"), world_str(w, "_SPAN_KEY"),
				  world_str(w, "INVALID_SPAN") };
	uint64_t invalid = otel_span(o, otel_span_context(o, none, 0), false), modules[4];
	uint64_t values[3] = { otel_holder(w, "_current_context", o->var), o->span_key, invalid };

	for (size_t i = 0; i < 3; i++)
		modules[i] = otel_module(w, 1, &variables[i], &values[i]);
	modules[3] = otel_threading(o);
	world_word(w, w->interp + w->l.interp.modules, otel_dict(w, 4, names, modules));
}

static inline void otel_init(struct otel *o, struct world *w, unsigned int minor)
{
	uint64_t keys[2];

	world_init(w, minor);
	*o = (struct otel){ .w = w, .var_hash = 0x123456789abcdef0 };
	o->var = world_object(w, "ContextVar", 64);
	world_word(w, o->var + 16, world_str(w, "current_context"));
	world_word(w, o->var + 56, o->var_hash);
	o->span_key = world_str(w, "current-span-0f");
	o->name_key = world_str(w, "_name");
	o->context_key = world_str(w, "_context");
	o->span_name = world_str(w, "GET /items/{id}");
	o->span_type = otel_type(w, "_Span", 0);
	o->context_type = otel_type(w, "SpanContext", world_type_based(w, "tuple", 0));
	keys[0] = o->name_key;
	keys[1] = o->context_key;
	otel_instances(w, o->span_type, 2, keys);
}

/* A Context with a span in it, among other things. */
static inline uint64_t otel_value(struct otel *o, uint64_t span)
{
	uint64_t keys[3] = { o->name_key, o->span_key, o->context_key };
	uint64_t values[3] = { o->name_key, span, o->name_key };

	return otel_dict(o->w, 3, keys, values);
}

/* The hash of the variable in tries. */
static inline uint32_t otel_hash(const struct otel *o)
{
	return (uint32_t)(o->var_hash ^ o->var_hash >> 32);
}

#endif
