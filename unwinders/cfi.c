// SPDX-License-Identifier: Apache-2.0
#include "unwinders/cfi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hurry.h"
#include "unwinders/cfi_entry.h"
#include "unwinders/cfi_rule.h"
#include "unwinders/table_builder.h"

#define MAX_VADDR (UINT64_C(1) << 48)
/* How far from the file's middle code may be. A stray FDE must not blow up the page directory. */
#define MAX_DISTANCE (UINT64_C(1) << 31)
/* Code at an entry point without unwind data is a few instructions. */
#define MAX_ENTRY_LEN 256
/* A start has one FDE in each section; more are made to waste our time. */
#define MAX_SAME_START 64
/* References are sorted with qsort(), which takes as much memory again, up to so many bytes. */
#define MAX_COPIED ((size_t)4 << 20)
/* FDEs between two breaths: a few milliseconds. */
#define N_FDES_A_BREATH 2048

/* Where an FDE is and what it starts at: 12 bytes, because a big library has 160,000. */
struct fde_ref {
	uint32_t start_low, start_high; /* start << 1 | is_debug */
	uint32_t offset;
};

struct build {
	struct cfi_frames frames[2]; /* .eh_frame, .debug_frame */
	struct fde_ref *refs;
	size_t n_refs, cap_refs;
	struct table_builder table;
	uint32_t n_bad, n_user_rows;
	const struct cfi_input *in;
	uint32_t n_since_breath;
};

/* Counts an FDE that was looked at. */
static void count_fde(struct build *b)
{
	if (++b->n_since_breath < N_FDES_A_BREATH)
		return;
	b->n_since_breath = 0;
	if (b->in->breathe)
		b->in->breathe(b->in->breathe_ctx);
}

static uint64_t ref_key(const struct fde_ref *ref)
{
	return (uint64_t)ref->start_high << 32 | ref->start_low;
}

static uint64_t ref_start(const struct fde_ref *ref)
{
	return ref_key(ref) >> 1;
}

static bool ref_is_debug(const struct fde_ref *ref)
{
	return ref->start_low & 1;
}

static int ref_compare(const void *a, const void *b, void *ctx)
{
	const struct fde_ref *x = a, *y = b;

	(void)ctx;
	if (hurry_is_on())
		return 0;

	if (ref_key(x) != ref_key(y))
		return ref_key(x) < ref_key(y) ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int add_ref(struct build *b, const struct cfi_fde *fde, bool is_debug)
{
	uint64_t key = fde->start << 1 | is_debug;

	/* They are not to take more than the table may. */
	if (b->in->max_words && b->n_refs >= b->in->max_words / (sizeof(*b->refs) / 4))
		return -E2BIG;
	if (ARRAY_RESERVE(b->refs, b->cap_refs, b->n_refs) < 0)
		return -ENOMEM;
	b->refs[b->n_refs++] =
		(struct fde_ref){ (uint32_t)key, (uint32_t)(key >> 32), (uint32_t)fde->offset };
	return 0;
}

/* Linkers leave the FDEs of code they discarded with a start of 0, some with -1 or -2. */
static bool is_discarded(const struct cfi_fde *fde)
{
	return fde->start == 0 || fde->start >= fde->end || fde->end > MAX_VADDR;
}

static int collect(struct build *b, bool is_debug)
{
	struct cfi_frames *frames = &b->frames[is_debug];
	struct cfi_fde fde;
	int err;

	while ((err = cfi_fde_next(frames, &fde)) != 0) {
		count_fde(b);
		if (hurry_is_on())
			return -EINTR;
		if (err < 0) {
			if (err == -ENOMEM)
				return err;
			b->n_bad++;
			if (reader_at_end(&frames->section))
				break;
			continue;
		}
		if (!is_discarded(&fde) && (err = add_ref(b, &fde, is_debug)))
			return err;
	}
	return 0;
}

static bool is_sorted(const struct fde_ref *refs, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (ref_compare(&refs[i - 1], &refs[i], NULL) > 0)
			return false;
	return true;
}

/* Sorts, then drops what is too far from the median to be code of this file. */
static void sort_refs(struct build *b)
{
	uint64_t middle;
	size_t first = 0, n = b->n_refs;

	if (!is_sorted(b->refs, n)) {
		if (n * sizeof(*b->refs) <= MAX_COPIED)
			qsort_r(b->refs, n, sizeof(*b->refs), ref_compare, NULL);
		else
			array_sort_in_place(b->refs, n, sizeof(*b->refs), ref_compare, NULL);
	}
	if (hurry_is_on())
		return; /* they may be in no order */
	middle = ref_start(&b->refs[n / 2]);
	while (middle - ref_start(&b->refs[first]) > MAX_DISTANCE)
		first++;
	while (ref_start(&b->refs[n - 1]) - middle > MAX_DISTANCE)
		n--;
	b->n_bad += (uint32_t)(b->n_refs - (n - first));
	b->n_refs = n - first;
	memmove(b->refs, b->refs + first, b->n_refs * sizeof(*b->refs));
}

static int fde_of(struct build *b, size_t i, struct cfi_fde *out)
{
	const struct fde_ref *ref = &b->refs[i];

	return cfi_fde_at(&b->frames[ref_is_debug(ref)], ref->offset, out);
}

static void init_table(struct build *b, uint64_t entry, size_t max_words)
{
	uint64_t start = ref_start(&b->refs[0]), last = ref_start(&b->refs[b->n_refs - 1]);
	uint64_t end = last;
	struct cfi_fde fde;

	for (size_t i = 0; i < b->n_refs && !hurry_is_on(); i++) {
		count_fde(b);
		if (fde_of(b, i, &fde) == 0 && fde.end > end)
			end = fde.end;
	}
	if (end - last > MAX_DISTANCE)
		end = last + MAX_DISTANCE;
	/* The linker puts the entry before the code of a static program. */
	if (entry && entry < start && start - entry < MAX_DISTANCE)
		start = entry;
	/* A signal frame may begin a byte early. */
	table_builder_init(&b->table, start - 1, end, max_words);
}

/*
 * Where the FDE gives way to another. Overlaps are damage or duplicates: an entry holds up to the
 * start of the next one, .eh_frame over .debug_frame.
 */
static uint64_t end_of(const struct build *b, size_t i, uint64_t end)
{
	bool is_debug = ref_is_debug(&b->refs[i]);
	size_t n_same = 0;

	for (size_t next = i + 1; next < b->n_refs && ref_start(&b->refs[next]) < end; next++) {
		bool yields = is_debug || !ref_is_debug(&b->refs[next]);

		if (yields && ref_start(&b->refs[next]) > ref_start(&b->refs[i]))
			return ref_start(&b->refs[next]);
		if (ref_start(&b->refs[next]) == ref_start(&b->refs[i]) &&
		    ++n_same > MAX_SAME_START)
			return ref_start(&b->refs[i]);
	}
	return end;
}

static void add_row(struct build *b, const struct cfa_program *p, const struct cfi_fde *fde,
		    uint64_t end)
{
	struct unwind_rule rule = cfi_rule(&p->row, fde->cie->return_register, fde->cie->is_signal);
	uint64_t start = p->pc;

	/*
	 * A handler returns to the first byte of the trampoline, and a return address is looked up
	 * one byte below itself. glibc's entry begins a byte early (at an odd address) for that;
	 * others get it here.
	 */
	if (fde->cie->is_signal && start == fde->start && start % 2 == 0)
		start--;
	b->n_user_rows += rule.cfa == CFA_USER;
	table_builder_add(&b->table, start, end, rule);
}

static void add_fde(struct build *b, struct cfi_frames *frames, const struct cfi_fde *fde,
		    uint64_t end)
{
	struct cfa_program p = { 0 };
	uint64_t next;
	int more = 1;

	cfi_fde_program(frames, fde, &p);
	while (more == 1 && p.pc < end) {
		more = cfa_program_run(&p, &next);
		if (more < 0) {
			b->n_bad++;
			return;
		}
		if (more == 0 || next > end)
			next = end;
		add_row(b, &p, fde, next);
		p.pc = next;
	}
}

/* ld.so and static programs of assembly have no unwind data where they start to run, but nothing
   called them: the hole around the entry point is the outermost frame. */
static void add_entry(struct build *b, uint64_t entry, uint64_t next)
{
	const struct unwind_rule outermost = { .cfa = CFA_END };

	if (!entry || entry < b->table.pos || entry >= next)
		return;
	if (next > entry + MAX_ENTRY_LEN)
		next = entry + MAX_ENTRY_LEN;
	table_builder_add(&b->table, entry, next, outermost);
}

/* False: the function is none that stacks begin with. */
static bool add_bottom(struct build *b, const struct cfi_fde *fde)
{
	const struct unwind_rule outermost = { .cfa = CFA_END };

	if (fde->start - b->in->bottom_vaddr >= b->in->bottom_len)
		return false;
	table_builder_add(&b->table, fde->start, fde->end, outermost);
	return true;
}

static void build_rows(struct build *b, uint64_t entry)
{
	struct cfi_fde fde;

	for (size_t i = 0; i < b->n_refs && !b->table.err && !hurry_is_on(); i++) {
		count_fde(b);
		if (fde_of(b, i, &fde))
			continue; /* cannot be: it was read before */
		add_entry(b, entry, fde.start);
		if (fde.end > b->table.pos && !add_bottom(b, &fde))
			add_fde(b, &b->frames[ref_is_debug(&b->refs[i])], &fde,
				end_of(b, i, fde.end));
	}
}

static int build_table(struct build *b, const struct cfi_input *in, struct unwind_table *out)
{
	struct unwind_table t = { 0 };
	int err = collect(b, false);

	if (!err)
		err = collect(b, true);
	if (err)
		return err;
	if (b->n_refs == 0)
		return b->n_bad ? -EBADMSG : -ENOENT;
	sort_refs(b);
	if (hurry_is_on())
		return -EINTR;
	init_table(b, in->entry_vaddr, in->max_words);
	build_rows(b, in->entry_vaddr);
	if (hurry_is_on() && !b->table.err)
		b->table.err = -EINTR;
	err = table_builder_finish(&b->table, &t.words, &t.n_words);
	if (err)
		return err;
	t.n_fdes = (uint32_t)b->n_refs;
	t.n_bad_fdes = b->n_bad;
	t.n_user_rows = b->n_user_rows;
	*out = t;
	return 0;
}

int cfi_build(const struct cfi_input *in, struct unwind_table *out)
{
	struct build *b;
	int err;

	if (in->is_aarch64)
		return -ENOTSUP;
	if (in->eh_frame.len > UINT32_MAX || in->debug_frame.len > UINT32_MAX)
		return -E2BIG;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->in = in;
	cfi_frames_init(&b->frames[0], in, true);
	cfi_frames_init(&b->frames[1], in, false);
	err = build_table(b, in, out);
	cfi_frames_deinit(&b->frames[0]);
	cfi_frames_deinit(&b->frames[1]);
	free(b->refs);
	free(b);
	return err;
}
