// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_qualnames.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/intern.h"
#include "core/scoped.h"
#include "runtimes/python_dict.h"
#include "runtimes/python_str.h"

#define TYPE_SUBCLASS (1u << 31) /* Py_TPFLAGS_TYPE_SUBCLASS, of a class's class */
#define DICT_USED 16
/* A class in a class in a module, behind a property, behind decorators. */
#define MAX_DEPTH 8
/* A search may take a twentieth of the time, and a process that lies a second of it. */
#define SEARCH_SHARE 20
#define MAX_SEARCH_READS (1u << 22)
#define CACHE_BYTES (16u << 20)

struct python_qualnames {
	struct intern *codes; /* addresses */
	uint64_t *functions;  /* theirs, by id - 1; 0: several that are called differently */
	size_t cap, max;
	struct intern *classes; /* addresses of those that were searched */
	uint64_t modules, n_modules;
	uint64_t next_search_ns;
};

struct name_search {
	struct python_qualnames *q;
	struct python_heap *heap;
	int depth;
};

struct python_qualnames *python_qualnames_new(size_t max)
{
	struct python_qualnames *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->max = max < PYTHON_MAX_QUALNAMES ? max : PYTHON_MAX_QUALNAMES;
	q->codes = intern_new();
	q->classes = intern_new();
	if (q->codes && q->classes)
		return q;
	python_qualnames_free(q);
	return NULL;
}

void python_qualnames_free(struct python_qualnames *q)
{
	if (!q)
		return;
	intern_free(q->codes);
	intern_free(q->classes);
	free(q->functions);
	free(q);
}

size_t python_qualnames_memory(const struct python_qualnames *q)
{
	return intern_memory(q->codes) + intern_memory(q->classes) + q->cap * sizeof(*q->functions);
}

static uint16_t function_code(const struct python_layout *l)
{
	return l->version < PYTHON_FIRST(3, 10) ? 16 : 48;
}

static void search_value(struct name_search *s, uint64_t value);

/* What a decorator keeps is in the cells of the function it made. */
static void search_closure(struct name_search *s, uint64_t function)
{
	struct python_heap *h = s->heap;
	uint64_t cells = python_word(h, function + h->at.function.closure);
	size_t n = cells && python_kind(h, cells) == PYTHON_TUPLE
			   ? python_items(h, cells, PYTHON_TUPLE)
			   : 0;

	for (size_t i = 0; i < n && h->n_left; i++) {
		uint64_t cell = python_item(h, cells, PYTHON_TUPLE, i);
		uint64_t value = cell ? python_field(h, cell, PYTHON_FIRST_FIELD) : 0;

		if (value && python_kind(h, cell) == PYTHON_CELL &&
		    python_kind(h, value) == PYTHON_FUNCTION)
			search_value(s, value);
	}
}

/* Does the function still run this code? */
static bool has_code(struct python_heap *h, uint64_t function, uint64_t code)
{
	return function && python_kind(h, function) == PYTHON_FUNCTION &&
	       python_word(h, function + function_code(h->layout)) == code;
}

static uint64_t qualname_of(struct python_heap *h, uint64_t function)
{
	return python_word(h, function + h->at.function.qualname);
}

/* Functions that share their code may be called differently, as those of all named tuples are: then
   none of the names is certain. */
static void add_function(struct name_search *s, uint64_t function)
{
	struct python_qualnames *q = s->q;
	struct python_heap *h = s->heap;
	uint64_t code = python_word(h, function + function_code(h->layout)), *known;
	uint32_t id, n = intern_count(q->codes);

	if (!code || n >= q->max || ARRAY_RESERVE(q->functions, q->cap, n))
		return;
	id = intern_add(q->codes, &code, sizeof(code));
	if (!id)
		return;
	known = &q->functions[id - 1];
	if (id > n || (*known && !has_code(h, *known, code)))
		*known = function;
	else if (*known && qualname_of(h, *known) != qualname_of(h, function))
		*known = 0;
	search_closure(s, function);
}

static bool search_entry(void *ctx, uint64_t key, uint64_t value)
{
	struct name_search *s = ctx;

	(void)key;
	search_value(s, value);
	return s->heap->n_left != 0;
}

static void search_class(struct name_search *s, uint64_t class)
{
	struct python_qualnames *q = s->q;
	uint32_t n = intern_count(q->classes);

	if (n >= q->max || intern_add(q->classes, &class, sizeof(class)) <= n)
		return;
	python_dict_each(s->heap, python_field(s->heap, class, PYTHON_TYPE_DICT), search_entry, s);
}

/* The functions behind staticmethod, classmethod, property: the words behind its head. */
static void search_descriptor(struct name_search *s, uint64_t object)
{
	struct python_heap *h = s->heap;
	size_t n = 1;
	char name[32];

	python_type_name(h, object, name, sizeof(name));
	if (!strcmp(name, "property"))
		n = 3;
	else if (strcmp(name, "staticmethod") && strcmp(name, "classmethod"))
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t value = python_word(h, object + PYTHON_FIRST_FIELD + 8 * i);

		if (value && python_kind(h, value) == PYTHON_FUNCTION)
			search_value(s, value);
	}
}

static bool is_class(struct python_heap *h, uint64_t object)
{
	uint64_t type = python_word(h, object + h->layout->object.type);

	return type && python_word(h, type + h->layout->type.flags) & TYPE_SUBCLASS;
}

static void search_value(struct name_search *s, uint64_t value)
{
	enum python_kind kind = python_kind(s->heap, value);

	if (s->depth >= MAX_DEPTH || (kind != PYTHON_FUNCTION && kind != PYTHON_OTHER))
		return;
	s->depth++;
	if (kind == PYTHON_FUNCTION)
		add_function(s, value);
	else if (is_class(s->heap, value))
		search_class(s, value);
	else
		search_descriptor(s, value);
	s->depth--;
}

static bool search_module(void *ctx, uint64_t key, uint64_t module)
{
	struct name_search *s = ctx;

	(void)key;
	if (python_kind(s->heap, module) == PYTHON_MODULE)
		python_dict_each(s->heap, python_field(s->heap, module, PYTHON_MODULE_DICT),
				 search_entry, s);
	return s->heap->n_left != 0;
}

/* Classes are searched once; a module's own functions whenever modules came or went. */
static void search_modules(struct python_qualnames *q, struct python_heap *h, uint64_t interp)
{
	uint64_t modules = python_word(h, interp + h->layout->interp.modules);
	uint64_t n = modules ? python_word(h, modules + DICT_USED) : 0;
	uint64_t start = clock_ns(CLOCK_MONOTONIC), left = h->n_left;
	struct name_search s = { q, h, 0 };

	if (!modules || (modules == q->modules && n == q->n_modules) || start < q->next_search_ns)
		return;
	q->modules = modules;
	q->n_modules = n;
	h->n_left = left < MAX_SEARCH_READS ? left : MAX_SEARCH_READS;
	python_dict_each(h, modules, search_module, &s);
	if (!h->n_left)
		q->modules = 0; /* that was not all */
	h->n_left += left - (left < MAX_SEARCH_READS ? left : MAX_SEARCH_READS);
	q->next_search_ns = clock_ns(CLOCK_MONOTONIC);
	q->next_search_ns += SEARCH_SHARE * (q->next_search_ns - start);
}

/* Is it the name, or does it end in a dot and the name? */
static bool is_qualified(const char *qualname, const char *name)
{
	size_t n = strlen(qualname), len = strlen(name);

	return n >= len && !strcmp(qualname + n - len, name) &&
	       (n == len || qualname[n - len - 1] == '.');
}

char *python_qualnames_find(struct python_qualnames *q, struct python_heap *h, uint64_t interp,
			    uint64_t code, const char *name)
{
	SCOPED(free) char *qualname = NULL;
	uint64_t function, str;
	uint32_t id;
	size_t len;

	id = intern_find(q->codes, &code, sizeof(code));
	if (!id) {
		search_modules(q, h, interp);
		id = intern_find(q->codes, &code, sizeof(code));
	}
	function = id ? q->functions[id - 1] : 0;
	if (!has_code(h, function, code))
		return NULL;
	str = qualname_of(h, function);
	if (!str || python_str_read(h->mem, h->layout, str, PYTHON_MAX_NAME, &qualname, &len) < 0 ||
	    strlen(qualname) != len || !is_qualified(qualname, name))
		return NULL;
	return TAKE(qualname);
}

void python_qualnames_apply(struct python_qualnames *q, struct python_part *part, struct mem *m,
			    const struct python_layout *l, uint64_t runtime, uint64_t addr,
			    struct python_code *c)
{
	struct python_search search;
	struct python_heap h;
	uint64_t interp;
	char *qualname;

	if (l->code.qualname || strlen(c->name) != c->name_len ||
	    python_search_begin(&search, part, m, l, CACHE_BYTES, &h) < 0)
		return;
	interp = python_word(&h, runtime + l->runtime.interpreters_head);
	qualname = python_qualnames_find(q, &h, interp, addr, c->name);
	python_search_end(&search, part, &h);
	if (!qualname)
		return;
	free(c->name);
	c->name = qualname;
	c->name_len = strlen(qualname);
}
