// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_spans.h"

#include <stdio.h>

#include "core/mem.h"
#include "runtimes/python_dict.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* The memory that the kernel half's code reads here. */
static __thread struct mem *memory;

static int read_user(__u64 addr, void *buf, __u32 len)
{
	return mem_read(memory, addr, buf, len);
}

#include "unwinders/python_span.bpf.h"

/* Of a ContextVar. */
#define VAR_NAME 16
#define VAR_HASH 56

/* Python/hamt.c makes 32 bits of a hash so, of which -1 is none. */
static uint32_t trie_hash(uint64_t hash)
{
	uint32_t folded = (uint32_t)hash ^ (uint32_t)(hash >> 32);

	return folded == UINT32_MAX ? UINT32_MAX - 1 : folded;
}

static uint8_t attributes_of(unsigned int minor)
{
	if (minor <= 10)
		return PYTHON_ATTRIBUTES_DICT;
	if (minor == 11)
		return PYTHON_ATTRIBUTES_BEFORE;
	return minor == 12 ? PYTHON_ATTRIBUTES_EITHER : PYTHON_ATTRIBUTES_INLINE;
}

void python_spans_set_layout(const struct python_layout *l, const struct python_heap_layout *at,
			     struct python_spans *out)
{
	unsigned int minor = PYTHON_MINOR(l->version);

	out->thread_context = l->thread.context;
	out->tuple_items = l->tuple.items;
	out->str_length = l->str.length;
	out->str_state = l->str.state;
	out->str_kind_bit = l->str.kind_bit;
	out->cached_keys = at->type.cached_keys;
	out->keys_entries = at->keys.indices;
	out->keys_count = at->keys.n_entries;
	out->values = at->keys.values;
	out->attributes = attributes_of(minor);
	out->has_log2_keys = minor >= 11;
	out->has_signed_size = minor <= 11;
}

/* The ContextVar that has the current Context, of the context that comes with the API. */
static void find_var(struct python_heap *h, uint64_t module, struct python_spans *out)
{
	uint64_t runtime_context = python_dict_get(h, module, "_RUNTIME_CONTEXT");
	uint64_t var = python_attribute(h, runtime_context, "_current_context");

	if (!var || !python_str_is(h, python_word(h, var + VAR_NAME), "current_context"))
		return;
	out->var = var;
	out->var_hash = trie_hash(python_word(h, var + VAR_HASH));
}

/* The API has a span of its own that is not valid: it shows what spans and their ids look like. */
static void find_span(struct python_heap *h, uint64_t module, struct python_spans *out)
{
	uint64_t span = python_dict_get(h, module, "INVALID_SPAN");
	uint64_t key = 0, context = python_attribute_with_key(h, span, "_context", &key);
	uint64_t id = context ? python_word(h, context + h->layout->tuple.items) : 0;

	if (python_kind(h, context) != PYTHON_TUPLE || python_kind(h, id) != PYTHON_INT)
		return;
	out->context_key = key;
	out->context_type = python_word(h, context + h->layout->object.type);
	out->int_type = python_word(h, id + h->layout->object.type);
}

/* The str "_name" that is the name of attributes is the same wherever it is one; of threads there
   always is one that has it. */
static void find_name(struct python_heap *h, uint64_t modules, struct python_spans *out)
{
	uint64_t threading = python_module_dict(h, modules, "threading"), thread, key = 0;

	if (!threading)
		return;
	thread = python_dict_get(h, threading, "_main_thread");
	python_attribute_with_key(h, thread, "_name", &key);
	out->name_key = key;
}

bool python_spans_find(struct python_heap *h, uint64_t modules, struct python_spans *out,
		       bool *is_half)
{
	uint64_t context = python_module_dict(h, modules, "opentelemetry.context");
	uint64_t propagation, span;

	*out = (struct python_spans){ 0 };
	if (!context || h->layout->is_free_threaded)
		return false;
	propagation = python_module_dict(h, modules, "opentelemetry.trace.propagation");
	span = python_module_dict(h, modules, "opentelemetry.trace.span");
	python_spans_set_layout(h->layout, &h->at, out);
	find_var(h, context, out);
	if (propagation)
		out->span_key = python_dict_get(h, propagation, "_SPAN_KEY");
	if (span)
		find_span(h, span, out);
	if (out->var && out->span_key && out->context_key && out->context_type && out->int_type &&
	    out->thread_context) {
		find_name(h, modules, out);
		return true;
	}
	*out = (struct python_spans){ 0 };
	*is_half = true;
	return false;
}

static bool search(void *ctx, struct python_heap *h, uint64_t modules, bool *is_half)
{
	struct python_otel *o = ctx;
	struct python_spans before = o->spans;
	bool is_found = python_spans_find(h, modules, &o->spans, is_half);

	if (h->n_left)
		return !is_found;
	o->spans = before; /* there were not steps enough: what was known stays */
	return false;
}

bool python_otel_is_due(const struct python_otel *o, const struct python_layout *l, uint64_t now_ns)
{
	return l->version >= PYTHON_FIRST(3, 7) && !l->is_free_threaded &&
	       python_look_is_due(&o->look, now_ns);
}

bool python_otel_look(struct python_otel *o, struct python_part *part, struct mem *m,
		      const struct python_layout *l, uint64_t runtime, uint64_t now_ns)
{
	struct python_spans before = o->spans;

	python_look(&o->look, part, m, l, runtime, now_ns, search, o);
	return before.var != o->spans.var || before.span_key != o->spans.span_key ||
	       before.context_key != o->spans.context_key || before.name_key != o->spans.name_key ||
	       before.context_type != o->spans.context_type;
}

void python_id_text(const uint8_t *id, size_t len, char out[PYTHON_ID_LEN])
{
	for (size_t i = 0; i < len; i++)
		snprintf(out + 2 * i, PYTHON_ID_LEN - 2 * i, "%02x", id[i]);
}

bool python_span_of(struct mem *m, const struct python_spans *spans, uint64_t context,
		    struct python_span_ids *out, uint64_t *name)
{
	struct python_span_name found;
	uint8_t bytes[PYTHON_SPAN_BYTES];

	if (!spans->var)
		return false;
	memory = m;
	if (!python_span_in(spans, bytes, context, out, &found))
		return false;
	*name = found.addr;
	return true;
}
