/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The OpenTelemetry span that a context of CPython's is in, 3.7 to 3.15: the value of one
 * ContextVar, a Context; in it, under one key, the span; of that the SpanContext, a tuple that
 * begins with both ids. Plain C as unwinders/python.bpf.h is, with the same read_user().
 *
 * A context's variables are a hash trie (Python/hamt.c) whose nodes never change once they are in
 * it, and nobody but the thread that is in a context gives it another trie; a Context never changes
 * either. So what the interrupted thread finds is its own, whatever others do. (The value that a
 * ContextVar caches is not looked at: a thread that was preempted while it wrote it shows others
 * its value with their number.)
 */
#ifndef UNWINDERS_PYTHON_SPAN_BPF_H
#define UNWINDERS_PYTHON_SPAN_BPF_H

#include "unwinders/python_slot.bpf.h"
#include "unwinders/python_span.h"

/* Python/context.c and hamt.c: the same from 3.7 to 3.15. */
#define PYTHON_CONTEXT_VARS 24
#define PYTHON_TRIE_ROOT 16   /* then its weak references and how many keys it has */
#define PYTHON_TRIE_FIELDS 16 /* of a node: what tells them apart */
#define PYTHON_TRIE_PAIRS 32  /* keys and values, or nothing and a node */
#define PYTHON_TRIE_NODES 16
/* Five bits of the hash each, and one for keys that have all of them alike. */
#define PYTHON_TRIE_LEVELS 8
#define PYTHON_TRIE_ALIKE 4 /* such keys that are looked at */

#define PYTHON_OBJECT_TYPE 8
#define PYTHON_INT_SIZE 16
#define PYTHON_DICT_KEYS_FIELD 32 /* then its values, where they are not with the keys */
#define PYTHON_KEYS_HEADER 40
#define PYTHON_MAX_INDICES_LOG2 24
#define PYTHON_TYPE_FLAGS 168
#define PYTHON_TYPE_DICTOFFSET 288
#define PYTHON_TYPE_BASICSIZE 32
#define PYTHON_MANAGED_DICT (1 << 4)
#define PYTHON_DIGIT_BITS 30
#define PYTHON_MAX_DIGITS 5  /* of 128 bits */
#define PYTHON_STR_HEADER 72 /* of the largest form, to 3.11 */
#define PYTHON_STR_BEGIN 128 /* a power of two that holds some more than that */

#define PYTHON_SPAN_AT(bytes, off) \
	VALUE_AT(__u64, &(bytes)[(off) & (PYTHON_SPAN_BYTES - sizeof(__u64))])

/* A node that all keys with one hash are in: where there is a key's value; 0: it is not in it. */
static __always_inline __u64 python_trie_alike(__u64 node, __u64 n_words, __u64 key)
{
	__u64 pair[2];

	for (__u64 i = 0; i < PYTHON_TRIE_ALIKE; i++) {
		if (2 * i >= n_words ||
		    read_user(node + PYTHON_TRIE_PAIRS + i * sizeof(pair), pair, sizeof(pair)))
			return 0;
		if (pair[0] == key)
			return pair[1];
	}
	return 0;
}

/*
 * The value of a key in a trie; 0: there is none. What a node is shows in its first fields: those
 * of 16 places or fewer say how many words they have and which places, or the hash, these are of;
 * the others begin with the first two of their 32 nodes.
 */
static __always_inline __u64 python_trie_find(__u64 node, __u32 hash, __u64 key)
{
	for (__u32 level = 0; level < PYTHON_TRIE_LEVELS; level++) {
		__u32 shift = level * 5, index = shift < 32 ? hash >> shift & 31 : 0, map;
		__u64 fields[2], pair[2], at;

		if (!node || read_user(node + PYTHON_TRIE_FIELDS, fields, sizeof(fields)))
			return 0;
		if (!fields[0] || fields[0] > 64) {
			node = python_read_pointer(node + PYTHON_TRIE_NODES + index * 8);
			continue;
		}
		map = (__u32)fields[1];
		if (2 * (__u64)__builtin_popcount(map) != fields[0])
			return map == hash ? python_trie_alike(node, fields[0], key) : 0;
		if (!(map >> index & 1))
			return 0;
		at = __builtin_popcount(map & ((1U << index) - 1));
		if (read_user(node + PYTHON_TRIE_PAIRS + at * sizeof(pair), pair, sizeof(pair)))
			return 0;
		if (pair[0])
			return pair[0] == key ? pair[1] : 0;
		node = pair[1];
	}
	return 0;
}

/* Where the entries are in keys whose header was read, and how long one is in *width; 0: these are
   no keys. */
static __always_inline __u64 python_keys_shape(const struct python_spans *p, const __u8 *header,
					       __u64 *width)
{
	__u64 size = PYTHON_SPAN_AT(header, 8), log2 = size >> 8 & 0xff, kind = size >> 16 & 0xff;

	*width = 24;
	if (p->has_log2_keys) {
		if (kind)
			*width = 16; /* no hashes: all are str */
		return log2 <= PYTHON_MAX_INDICES_LOG2 && kind <= 2
			       ? p->keys_entries + (1ULL << log2)
			       : 0;
	}
	if (size > 1ULL << PYTHON_MAX_INDICES_LOG2)
		return 0;
	return p->keys_entries + (size <= 0xff ? size : size <= 0xffff ? size * 2 : size * 4);
}

/* Entries of keys that were read, their first ones, and where the values are: in the entries, or in
   values that stand beside the keys. */
struct python_entries {
	__u64 addr, n, width, values; /* values 0: in the entries */
};

/* False: these are no keys, or have no entries. */
static __always_inline int python_entries_read(const struct python_spans *p,
					       __u8 bytes[PYTHON_SPAN_BYTES], __u64 keys,
					       __u64 values, struct python_entries *out)
{
	__u64 entries, n, len;

	if (!keys || read_user(keys, bytes, PYTHON_KEYS_HEADER))
		return 0;
	entries = python_keys_shape(p, bytes, &out->width);
	n = PYTHON_SPAN_AT(bytes, p->keys_count);
	if (n > PYTHON_SPAN_ENTRIES)
		n = PYTHON_SPAN_ENTRIES;
	len = n * out->width;
	OPAQUE(len);
	if (!entries || !len || len > PYTHON_SPAN_BYTES || read_user(keys + entries, bytes, len))
		return 0;
	out->addr = keys + entries;
	out->n = n;
	out->values = values;
	return 1;
}

/* The address of the value under a key; 0: it is not among them. */
static __always_inline __u64 python_entries_place(const struct python_entries *e,
						  const __u8 bytes[PYTHON_SPAN_BYTES], __u64 key)
{
	for (__u64 i = 0; i < PYTHON_SPAN_ENTRIES; i++) {
		__u64 at = i * e->width + e->width - 16;

		OPAQUE(at);
		if (i >= e->n)
			break;
		if (PYTHON_SPAN_AT(bytes, at) == key)
			return e->values ? e->values + 8 * i : e->addr + at + 8;
	}
	return 0;
}

/* What is at such an address; 0: nowhere. */
static __always_inline __u64 python_entries_value(const struct python_entries *e,
						  const __u8 bytes[PYTHON_SPAN_BYTES], __u64 place)
{
	if (!place || e->values)
		return place ? python_read_pointer(place) : 0;
	return PYTHON_SPAN_AT(bytes, place - e->addr); /* it was read with the keys */
}

static __always_inline __u64 python_entries_find(const struct python_entries *e,
						 const __u8 bytes[PYTHON_SPAN_BYTES], __u64 key)
{
	return python_entries_value(e, bytes, python_entries_place(e, bytes, key));
}

static __always_inline int python_dict_read(const struct python_spans *p,
					    __u8 bytes[PYTHON_SPAN_BYTES], __u64 dict,
					    struct python_entries *out)
{
	__u64 fields[2]; /* keys, values */

	if (!dict || read_user(dict + PYTHON_DICT_KEYS_FIELD, fields, sizeof(fields)))
		return 0;
	return python_entries_read(p, bytes, fields[0], fields[1] ? fields[1] + p->values : 0, out);
}

static __always_inline __u64 python_dict_find(const struct python_spans *p,
					      __u8 bytes[PYTHON_SPAN_BYTES], __u64 dict, __u64 key)
{
	struct python_entries e;

	return python_dict_read(p, bytes, dict, &e) ? python_entries_find(&e, bytes, key) : 0;
}

/* Where an instance has its attributes: in a dict, else in values beside the keys of its type. */
struct python_instance {
	__u64 type, dict, values;
};

static __always_inline void python_instance_dict(struct python_instance *in, __u64 object)
{
	__u64 offset;

	in->type = python_read_pointer(object + PYTHON_OBJECT_TYPE);
	offset = in->type ? python_read_pointer(in->type + PYTHON_TYPE_DICTOFFSET) : 0;
	if (offset && offset <= 0xffff)
		in->dict = python_read_pointer(object + offset);
}

static __always_inline void python_instance_managed(struct python_instance *in,
						    const struct python_spans *p, __u64 object)
{
	__u64 words[6]; /* values, dict, two of the collector's, references, type */

	if (read_user(object - 32, words, sizeof(words)))
		return;
	in->type = words[5];
	if (!(python_read_pointer(in->type + PYTHON_TYPE_FLAGS) & PYTHON_MANAGED_DICT))
		return;
	in->dict = words[1];
	if (p->attributes == PYTHON_ATTRIBUTES_BEFORE) {
		in->values = words[0];
	} else if (p->attributes == PYTHON_ATTRIBUTES_EITHER && words[1] & 1) {
		in->values = words[1] + 1;
	} else if (p->attributes == PYTHON_ATTRIBUTES_INLINE && !words[1]) {
		in->values =
			object + python_read_pointer(in->type + PYTHON_TYPE_BASICSIZE) + p->values;
	}
}

static __always_inline int python_attributes_read(const struct python_spans *p,
						  __u8 bytes[PYTHON_SPAN_BYTES], __u64 object,
						  struct python_entries *out)
{
	struct python_instance in = { 0 };

	if (p->attributes == PYTHON_ATTRIBUTES_DICT)
		python_instance_dict(&in, object);
	else
		python_instance_managed(&in, p, object);
	if (in.values)
		return python_entries_read(p, bytes, python_read_pointer(in.type + p->cached_keys),
					   in.values, out);
	return python_dict_read(p, bytes, in.dict, out);
}

static __always_inline __u64 python_attribute_find(const struct python_spans *p,
						   __u8 bytes[PYTHON_SPAN_BYTES], __u64 object,
						   __u64 key)
{
	struct python_entries e;

	return python_attributes_read(p, bytes, object, &e) ? python_entries_find(&e, bytes, key)
							    : 0;
}

/* An int, as ids are: 128 bits, high half first. False: none, or too large. */
static __always_inline int python_read_id(const struct python_spans *p, __u64 object, __u64 id[2])
{
	struct {
		__u64 type, tag;
		__u32 digits[PYTHON_MAX_DIGITS], pad;
	} number = { 0 };
	__u64 n, all = 0;

	if (read_user(object + PYTHON_OBJECT_TYPE, &number, 16 + sizeof(number.digits)) ||
	    number.type != p->int_type)
		return 0;
	n = p->has_signed_size ? number.tag : number.tag >> 3;
	if (!n || n > PYTHON_MAX_DIGITS || (!p->has_signed_size && number.tag & 3))
		return 0;
	for (__u64 i = 0; i < PYTHON_MAX_DIGITS; i++) {
		if (i >= n)
			number.digits[i] = 0;
		all |= number.digits[i];
	}
	if (all >> PYTHON_DIGIT_BITS || number.digits[4] >> 8)
		return 0;
	id[1] = (__u64)number.digits[0] | (__u64)number.digits[1] << 30 |
		(__u64)number.digits[2] << 60;
	id[0] = (__u64)number.digits[2] >> 4 | (__u64)number.digits[3] << 26 |
		(__u64)number.digits[4] << 56;
	return 1;
}

/* The ids of a SpanContext. False: it is none, or not valid: an id is 0. */
static __always_inline int python_read_ids(const struct python_spans *p, __u64 context,
					   struct python_span_ids *out)
{
	__u64 ids[2], trace[2], span[2];

	if (!context || python_read_pointer(context + PYTHON_OBJECT_TYPE) != p->context_type ||
	    read_user(context + p->tuple_items, ids, sizeof(ids)) ||
	    !python_read_id(p, ids[0], trace) || !python_read_id(p, ids[1], span))
		return 0;
	if (!(trace[0] | trace[1]) || span[0] || !span[1])
		return 0;
	trace[0] = __builtin_bswap64(trace[0]);
	trace[1] = __builtin_bswap64(trace[1]);
	span[1] = __builtin_bswap64(span[1]);
	__builtin_memcpy(out->trace_id, trace, sizeof(out->trace_id));
	__builtin_memcpy(out->span_id, &span[1], sizeof(out->span_id));
	return 1;
}

/* How long a str is in memory, or some bytes more, by its beginning. What it claims is not checked.
 */
static __always_inline __u64 python_str_size(const struct python_spans *p,
					     const __u8 begin[PYTHON_STR_BEGIN])
{
	__u64 n = VALUE_AT(__u64, &begin[p->str_length & (PYTHON_STR_BEGIN - sizeof(__u64))]);
	__u64 state = VALUE_AT(__u32, &begin[p->str_state & (PYTHON_STR_BEGIN - sizeof(__u32))]);

	return PYTHON_STR_HEADER + n * (state >> p->str_kind_bit & 7);
}

/* What a span has as its name, and where: somebody may give it another one at any time. */
struct python_span_name {
	__u64 addr, place; /* 0: none */
};

/* The SpanContext of a span by its attributes, and its name, which mostly stands before it. */
static __always_inline __u64 python_span_look(const struct python_spans *p,
					      const __u8 bytes[PYTHON_SPAN_BYTES],
					      const struct python_entries *e,
					      struct python_span_name *name)
{
	__u64 place = python_entries_place(e, bytes, p->context_key), pair[2];

	name->place = p->name_key ? python_entries_place(e, bytes, p->name_key) : 0;
	if (e->values && place && name->place == place - sizeof(*pair) &&
	    !read_user(name->place, pair, sizeof(pair))) {
		name->addr = pair[0];
		return pair[1];
	}
	name->addr = python_entries_value(e, bytes, name->place);
	return python_entries_value(e, bytes, place);
}

/* The span that a contextvars.Context is in. False: in none. */
static __always_inline int python_span_in(const struct python_spans *p,
					  __u8 bytes[PYTHON_SPAN_BYTES], __u64 context,
					  struct python_span_ids *out,
					  struct python_span_name *name)
{
	__u64 vars = context ? python_read_pointer(context + PYTHON_CONTEXT_VARS) : 0;
	struct python_entries attributes;
	__u64 trie[3], value, span;

	/* An empty one has a node that looks like none of the others. */
	if (!vars || read_user(vars + PYTHON_TRIE_ROOT, trie, sizeof(trie)) || !trie[2])
		return 0;
	value = python_trie_find(trie[0], p->var_hash, p->var);
	span = value ? python_dict_find(p, bytes, value, p->span_key) : 0;
	return span && python_attributes_read(p, bytes, span, &attributes) &&
	       python_read_ids(p, python_span_look(p, bytes, &attributes, name), out);
}

#endif
