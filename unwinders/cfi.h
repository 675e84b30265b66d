/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the compact table (table.h) of one file from its .eh_frame and .debug_frame sections
 * (DWARF 5 section 6.4; Linux Standard Base "Exception Frames"). Sections are bytes we do not
 * trust.
 */
#ifndef UNWINDERS_CFI_H
#define UNWINDERS_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/table.h"

struct cfi_section {
	const void *data;
	size_t len;
	uint64_t vaddr; /* of data[0]; pc-relative pointers count from it */
};

struct cfi_input {
	struct cfi_section eh_frame, debug_frame; /* .data NULL when there is none */
	struct cfi_section eh_frame_hdr; /* optional: makes finding one row fast (cfi_entry.h) */
	uint64_t text_vaddr, got_vaddr;	 /* bases of textrel/datarel pointers; 0 when unknown */
	uint64_t entry_vaddr; /* where the file starts to run: the outermost frame; 0 unknown */
	/* A function that stacks begin with, whatever its unwind data says; empty: there is none.
	 */
	uint64_t bottom_vaddr, bottom_len;
	bool is_aarch64;
	size_t max_words; /* give up with -E2BIG above; 0 is no cap */
	/* Called now and then while a table is built, which takes up to half a second; NULL: not
	   called. */
	void (*breathe)(void *ctx);
	void *breathe_ctx;
};

struct unwind_table {
	uint32_t *words; /* a struct table_header, then as table.h says */
	size_t n_words;
	/* what the builder met */
	uint32_t n_fdes, n_bad_fdes, n_user_rows;
};

/* 0 and *out, to be deinitialised; -ENOENT: no unwind data at all; -E2BIG; -ENOMEM; -EBADMSG:
   nothing usable. One damaged FDE costs its own range only. */
int cfi_build(const struct cfi_input *in, struct unwind_table *out);
void unwind_table_deinit(struct unwind_table *t);

/* The rule at an ELF virtual address; rule 0's kind (CFA_NONE) where there is none. Host side
 * lookup. */
struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t vaddr);
/* Checks that a table is well formed: every index in bounds, rows ascending. */
bool unwind_table_is_valid(const struct unwind_table *t);

#endif
