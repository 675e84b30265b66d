/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of .eh_frame and .debug_frame: CIEs (what functions have in common) and FDEs (one
 * range of code each). Versions 1, 3 and 4, 32-bit and 64-bit DWARF, augmentations of GCC and LLVM.
 */
#ifndef UNWINDERS_CFI_ENTRY_H
#define UNWINDERS_CFI_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/cfa_program.h"
#include "unwinders/cfi.h"

struct cfi_cie {
	uint64_t offset; /* in its section */
	int err;	 /* 0, or why it cannot be used */
	uint8_t fde_encoding;
	bool has_augmentation, is_signal;
	uint64_t code_align, return_register;
	int64_t data_align;
	struct cfa_row initial;
};

#define CFI_CACHED_CIES 16 /* a linked file has a few in .eh_frame, one a unit in .debug_frame */

/* One section being read, with the CIEs seen last. Zero-initialised, then cfi_frames_init(). */
struct cfi_frames {
	bool is_eh;
	struct reader whole;   /* at the section's start */
	struct reader section; /* at the next entry */
	struct eh_bases bases;
	struct cfa_memory memory;
	struct cfi_cie cies[CFI_CACHED_CIES];
	bool has_cie[CFI_CACHED_CIES];
};

struct cfi_fde {
	const struct cfi_cie *cie; /* borrowed until the next FDE is parsed */
	uint64_t offset;	   /* of the entry in its section */
	uint64_t start, end;	   /* virtual addresses */
	struct reader insns;
};

void cfi_frames_init(struct cfi_frames *f, const struct cfi_input *in, bool is_eh);
void cfi_frames_deinit(struct cfi_frames *f);

/* The next FDE of the section: 1; 0 at its end; -EBADMSG or -ENOTSUP for one that cannot be used
   (the next call goes on behind it); an error with the reader at its end: nothing more follows. */
int cfi_fde_next(struct cfi_frames *f, struct cfi_fde *out);
/* The FDE at an offset that cfi_fde_next() gave or a table names: 0, -EBADMSG, -ENOTSUP, -ENOENT (a
 * CIE). */
int cfi_fde_at(struct cfi_frames *f, uint64_t offset, struct cfi_fde *out);
/* Prepares to run an FDE's instructions from its start. */
void cfi_fde_program(struct cfi_frames *f, const struct cfi_fde *fde, struct cfa_program *p);

#endif
