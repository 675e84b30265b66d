/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What must be known of a CPython process to read which OpenTelemetry span a context is in
 * (unwinders/python_span.bpf.h), and what that works with. Filled by runtimes/python_spans.c.
 */
#ifndef UNWINDERS_PYTHON_SPAN_H
#define UNWINDERS_PYTHON_SPAN_H

#include <linux/types.h>

/* How an instance keeps its attributes. */
enum python_attributes {
	PYTHON_ATTRIBUTES_DICT,	  /* to 3.10: a dict, somewhere behind it */
	PYTHON_ATTRIBUTES_BEFORE, /* 3.11: pointers to values and to a dict before it */
	PYTHON_ATTRIBUTES_EITHER, /* 3.12: one pointer, whose lowest bit says which */
	PYTHON_ATTRIBUTES_INLINE, /* from 3.13: behind it, until there is a dict */
};

struct python_spans {
	__u64 var;	    /* the ContextVar of the current Context; 0: there is none */
	__u64 span_key;	    /* under which a Context has its span: a str, compared by address */
	__u64 context_key;  /* the str "_context", under which a span has its SpanContext */
	__u64 name_key;	    /* the str "_name", under which it has its name; 0: not known */
	__u64 context_type; /* SpanContext */
	__u64 int_type;
	__u32 var_hash; /* as hash tries use it */
	__u16 thread_context;
	__u16 tuple_items;
	__u16 str_length, str_state;	/* of a str, its number of characters and its form */
	__u16 cached_keys;		/* in a type: the names of its instances' attributes */
	__u16 keys_entries, keys_count; /* in the keys of a dict */
	__u16 values;			/* in the values beside such keys: behind their header */
	__u8 attributes;		/* enum python_attributes */
	__u8 has_log2_keys;		/* from 3.11 on: how keys say their size */
	__u8 has_signed_size;		/* to 3.11: an int has its number of digits as it is */
	__u8 str_kind_bit;		/* in its form: the bytes of a character, three bits */
};

/* Entries of a dict that are looked at: a Context has a few, a span some twenty attributes, of
   which the wanted one is among the first. */
#define PYTHON_SPAN_ENTRIES 21
#define PYTHON_SPAN_BYTES 512 /* a power of two that holds them */

struct python_span_ids {
	__u8 trace_id[16], span_id[8]; /* most significant byte first, as they are written */
};

#endif
