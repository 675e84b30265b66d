/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads of CPython's code objects, several of a page at once. A read has a price of its own, some
 * 80 ns whatever its size, and the functions of a module are made one after another: so what the
 * last samples asked a page for is read with the first that this one asks it for.
 *
 * Plain C as unwinders/python.bpf.h is, whose includers define what this one stands on.
 */
#ifndef UNWINDERS_PYTHON_PAGES_BPF_H
#define UNWINDERS_PYTHON_PAGES_BPF_H

#include "unwinders/python_slot.bpf.h"

#define PYTHON_PAGE_WORTH 3 /* so many reads cost more than one of all that lies between */

/* Reads what the page was asked for, in this sample and before. Where that cannot be read there are
   zeros now, so its place is used either way. */
static __always_inline void python_page_read(struct python_pages *pages, struct python_page *page)
{
	__u32 begin = pages->used;
	__u64 at = begin & (PYTHON_PAGES_LEN - 1), size = page->high - page->low;

	OPAQUE(at);
	OPAQUE(size);
	if (at >= PYTHON_PAGES_LEN || size > PYTHON_PAGE_LEN)
		return;
	pages->used += size;
	if (!read_user(page->addr + page->low, &pages->bytes[at], size))
		page->at = begin;
}

/* The first time that a sample asks for the page. */
static __always_inline void python_page_begin(struct python_pages *pages, struct python_page *page,
					      __u32 sample)
{
	int is_worth_it = page->n >= PYTHON_PAGE_WORTH;

	if (pages->sample != sample) {
		pages->sample = sample;
		pages->used = PYTHON_PAGES_BEGIN;
	}
	page->sample = sample;
	page->n = 0;
	page->at = 0;
	if (is_worth_it)
		python_page_read(pages, page);
}

/* Notes that the page is asked for these bytes of it, for this sample and the next ones. */
static __always_inline void python_page_note(struct python_page *page, __u64 addr, __u32 low,
					     __u32 high, __u32 sample)
{
	if (page->addr != addr) {
		page->addr = addr;
		page->low = low;
		page->high = high;
		page->n = page->at = 0;
		page->sample = sample;
	}
	if (low < page->low || high > page->high) {
		page->low = low < page->low ? low : page->low;
		page->high = high > page->high ? high : page->high;
		page->at = 0; /* what was read begins elsewhere */
	}
}

/* What a code object is known by, len bytes at addr, in what was read at once; NULL: it is to be
   read by itself. */
static __always_inline const __u64 *python_page_bytes(__u64 addr, __u32 len, __u32 sample)
{
	struct python_pages *pages = python_pages_get();
	__u32 low = addr & (PYTHON_PAGE_LEN - 1), high = low + len;
	struct python_page *page;
	__u64 at;

	if (!pages || high > PYTHON_PAGE_LEN)
		return NULL;
	page = &pages->items[(addr >> 12 ^ addr >> 19) & (PYTHON_PAGES - 1)];
	python_page_note(page, addr - low, low, high, sample);
	if (page->sample != sample)
		python_page_begin(pages, page, sample);
	page->n++;
	if (!page->at || pages->used - page->at > PYTHON_PAGES_LEN)
		return NULL;
	at = (page->at & (PYTHON_PAGES_LEN - 1)) + low - page->low;
	OPAQUE(at);
	if (at > sizeof(pages->bytes) - PYTHON_IDENTITY_WORDS * sizeof(__u64))
		return NULL;
	return (const __u64 *)&pages->bytes[at];
}

#endif
