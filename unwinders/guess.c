// SPDX-License-Identifier: Apache-2.0
#include "unwinders/guess.h"

#include <string.h>

#include "unwinders/call_site.h"
#include "unwinders/frame_shape.h"
#include "unwinders/padding.h"

#define MAX_GUESSES 512 /* guessed frames in one stack: recursion in JIT code */
#define MAX_WORDS 4096	/* of stack searched for one frame; frames of video codecs hold buffers */
#define MAX_CANDIDATES 48
#define MAX_FUNCTION 2048 /* bytes before the pc in which its start is looked for */
#define MAX_ROUNDING 64	  /* a cache line, a vector register of AVX-512 */
#define MAX_SAVED_WORDS 8 /* pushed registers above the return address that may be rbp */
#define MAX_JUMPS 3	  /* PLT entry, interposer, function */
#define MIN_PROOF 4	  /* frames that make a walk to the end of the copied bytes a proof */
#define MAX_STACK (UINT64_C(8) << 20) /* the usual limit of a stack's size */
#define FIRST_ADDRESS 65536	      /* nothing is mapped below (vm.mmap_min_addr) */

/* How well a word fits as the return address into the caller of this function. */
enum evidence { EVIDENCE_NONE, EVIDENCE_WEAK, EVIDENCE_FAIR, EVIDENCE_STRONG };

struct candidate {
	uint64_t slot; /* where the return address is */
	enum evidence evidence;
};

struct guess {
	struct walk *w; /* at the frame whose caller is wanted */
	struct frame_list *frames;
	size_t n_frames; /* up to that frame */
	unsigned int n_guesses;
	uint64_t pc, sp, fp;
	bool has_fp, is_jit;
	uint64_t start, end; /* of the function; 0 when unknown */
	int result;
};

/* ---- is this word a return address? ---- */

static enum call_kind call_site(struct walk *w, uint64_t addr, uint64_t *target, bool *is_also)
{
	const struct code_region *r = addr < FIRST_ADDRESS ? NULL : walk_region(w, addr - 1);
	uint8_t code[CALL_MAX_LEN];
	size_t len = CALL_MAX_LEN;

	if (!r)
		return CALL_NONE;
	if (addr - r->start < len)
		len = (size_t)(addr - r->start);
	if (walk_code(w, addr - len, code, len) != len)
		return CALL_NONE;
	return call_before(code, len, addr, target, is_also);
}

/* The function a call gets to, through jumps. False: a jump through memory that cannot be read. */
static bool follow_jumps(struct guess *g, uint64_t *target)
{
	for (int i = 0; i < MAX_JUMPS; i++) {
		uint8_t code[JUMP_MAX_LEN];
		size_t len = walk_code(g->w, *target, code, sizeof(code));
		uint64_t to = 0;
		enum jump_kind kind = len ? jump_at(code, len, *target, &to) : JUMP_NONE;

		if (kind == JUMP_NONE)
			return true;
		if (kind == JUMP_SLOT &&
		    (!g->w->s->read || g->w->s->read(g->w->s->ctx, to, &to, 8)))
			return false;
		*target = to;
	}
	return true;
}

/* Would a function that starts there and has come to the pc have its return address in this slot?
 */
static bool fits_prologue(struct guess *g, uint64_t start, uint64_t slot)
{
	uint8_t code[SHAPE_MAX_CODE];
	size_t len = g->pc - start < sizeof(code) ? (size_t)(g->pc - start) : sizeof(code);
	struct frame_shape shape;

	if (walk_code(g->w, start, code, len) != len)
		return false;
	frame_shape_by_prologue(code, len, &shape);
	return shape.base <= SHAPE_FROM_FP &&
	       (shape.base == SHAPE_FROM_FP ? g->fp : g->sp) + (uint64_t)shape.return_slot == slot;
}

static bool has_unwind_data(const struct code_region *r, uint64_t pc)
{
	return !r || (r->table && unwind_table_find(r->table, pc - r->bias).cfa != CFA_NONE);
}

static enum evidence direct_evidence(struct guess *g, uint64_t target, uint64_t slot, bool is_also)
{
	const struct code_region *r;

	if (!walk_region(g->w, target))
		return is_also ? EVIDENCE_FAIR : EVIDENCE_NONE;
	if (!follow_jumps(g, &target))
		return EVIDENCE_FAIR;
	if (g->end)
		return target >= g->start && target < g->end ? EVIDENCE_STRONG
		       : is_also			     ? EVIDENCE_FAIR
							     : EVIDENCE_WEAK;
	/* The pc has no unwind data; a function that has some is another one. */
	r = walk_region(g->w, target);
	if (has_unwind_data(r, target) || target > g->pc || r->start > g->pc || r->end <= g->pc)
		return is_also ? EVIDENCE_FAIR : EVIDENCE_WEAK;
	return fits_prologue(g, target, slot) ? EVIDENCE_STRONG : EVIDENCE_FAIR;
}

static enum evidence evidence_at(struct guess *g, uint64_t slot)
{
	uint64_t addr, target;
	bool is_also = false;

	if (walk_read(g->w, slot, &addr, sizeof(addr)))
		return EVIDENCE_NONE;
	switch (call_site(g->w, addr, &target, &is_also)) {
	case CALL_DIRECT:
		return direct_evidence(g, target, slot, is_also);
	case CALL_INDIRECT:
		return EVIDENCE_FAIR;
	default:
		return EVIDENCE_NONE;
	}
}

/* ---- trying a caller ---- */

/* The caller whose return address is in a slot: its registers as far as the function kept them. */
static bool caller_at(struct guess *g, uint64_t slot, struct unwind *u)
{
	uint64_t addr;

	*u = g->w->u;
	if (walk_read(g->w, slot, &addr, sizeof(addr)))
		return false;
	u->regs[REG_PC] = addr;
	u->regs[REG_SP] = slot + 8;
	u->valid_regs = (u->valid_regs & CALLEE_SAVED_REGS) | REG_BIT(REG_PC) | REG_BIT(REG_SP);
	u->is_exact = 0;
	return true;
}

/*
 * True when the walk from this caller proves it by reaching a root; its frames are in the list
 * then. What the function's own instructions say is also believed when a frame further up needs a
 * register that is not known: a search would only find something more distant.
 */
static bool try_caller(struct guess *g, const struct unwind *caller, bool is_by_shape)
{
	struct walk w = *g->w;
	size_t n;

	if (w.budget->n_steps == 0)
		return false;
	w.u = *caller;
	w.is_guessed = true;
	g->frames->n = g->n_frames;
	g->result = guess_walk(&w, g->frames, g->n_guesses + 1);
	n = g->frames->n - g->n_frames;
	if (g->result == END_ROOT || g->result == END_MAX_FRAMES ||
	    (g->result == END_SNAPSHOT_TRUNCATED && n >= MIN_PROOF) ||
	    (g->result == END_EXPRESSION && is_by_shape))
		return true;
	g->frames->n = g->n_frames;
	return false;
}

static bool try_shape_at(struct guess *g, const struct frame_shape *shape, uint64_t base)
{
	uint64_t slot = base + (uint64_t)shape->return_slot, value;
	struct unwind caller;

	if (slot < g->sp || evidence_at(g, slot) == EVIDENCE_NONE || !caller_at(g, slot, &caller))
		return false;
	for (uint32_t reg = 0; reg < SHAPE_N_REGS; reg++) {
		if (!(shape->saved & CALLEE_SAVED_REGS & REG_BIT(reg)))
			continue;
		caller.valid_regs &= ~REG_BIT(reg);
		if (walk_read(g->w, base + (uint64_t)shape->slots[reg], &value, sizeof(value)))
			continue;
		caller.regs[reg] = value;
		caller.valid_regs |= REG_BIT(reg);
	}
	return try_caller(g, &caller, true);
}

/* Codecs round rsp down to the size of a vector and keep the old one somewhere in the frame. */
static bool try_saved_sp(struct guess *g, const struct frame_shape *shape)
{
	uint64_t least = g->sp + shape->allocated, old;

	for (uint64_t at = g->sp; at < least + MAX_ROUNDING && g->w->budget->n_words; at += 8) {
		g->w->budget->n_words--;
		if (walk_read(g->w, at, &old, sizeof(old)))
			return false;
		if (old > at && old - least < MAX_ROUNDING && old % 8 == 0 &&
		    try_shape_at(g, shape, old))
			return true;
	}
	return false;
}

static bool try_shape(struct guess *g, const struct frame_shape *shape)
{
	switch (shape->base) {
	case SHAPE_FROM_SP:
		return try_shape_at(g, shape, g->sp);
	case SHAPE_FROM_FP:
		return g->has_fp && try_shape_at(g, shape, g->fp);
	case SHAPE_FROM_SAVED_SP:
		return try_saved_sp(g, shape);
	case SHAPE_NONE:
		break;
	}
	return false;
}

static bool try_epilogue(struct guess *g)
{
	uint8_t code[SHAPE_MAX_CODE];
	size_t len = walk_code(g->w, g->pc, code, sizeof(code));
	struct frame_shape shape;

	return frame_shape_by_epilogue(code, len, &shape) && try_shape(g, &shape);
}

/* Before a leaf's frame pointer is set up, rbp is its caller's. */
static bool try_entry(struct guess *g)
{
	const struct code_region *r = walk_region(g->w, g->pc);
	uint8_t code[SHAPE_MAX_CODE];
	size_t at = r && g->pc > r->start, len = walk_code(g->w, g->pc - at, code, sizeof(code));
	struct frame_shape shape;

	return g->w->u.is_exact && len > at && frame_shape_at_entry(code, len, at, &shape) &&
	       try_shape(g, &shape);
}

static bool try_prologue_from(struct guess *g, uint64_t start)
{
	uint8_t code[SHAPE_MAX_CODE];
	uint64_t len = g->pc - start;
	struct frame_shape shape;

	len = walk_code(g->w, start, code, len < sizeof(code) ? (size_t)len : sizeof(code));
	frame_shape_by_prologue(code, (size_t)len, &shape);
	return try_shape(g, &shape);
}

static bool try_prologue(struct guess *g)
{
	const struct code_region *r = walk_region(g->w, g->pc);
	uint8_t code[MAX_FUNCTION];
	size_t len;
	uint64_t start;

	if (g->end)
		return try_prologue_from(g, g->start);
	/* Nobody knows the function: it may be seen where it begins. */
	if (!r)
		return false;
	len = g->pc - r->start < sizeof(code) ? (size_t)(g->pc - r->start) : sizeof(code);
	return walk_code(g->w, g->pc - len, code, len) == len &&
	       padding_find_start(code, len, g->pc, &start) && try_prologue_from(g, start);
}

static bool try_frame_pointer(struct guess *g)
{
	struct frame_shape standard = frame_shape_standard();

	return g->has_fp && g->fp >= g->sp && g->fp % 8 == 0 && try_shape(g, &standard);
}

/* A caller found by search, with this rbp or none; what became of other registers nobody knows. */
static bool try_slot_with(struct guess *g, uint64_t slot, const uint64_t *fp)
{
	struct unwind caller;

	if (!caller_at(g, slot, &caller))
		return false;
	caller.valid_regs = REG_BIT(REG_PC) | REG_BIT(REG_SP) | (fp ? REG_BIT(REG_FP) : 0);
	caller.regs[REG_FP] = fp ? *fp : 0;
	return try_caller(g, &caller, false);
}

/* Its rbp is what the function left in place, or one of the words next to the return address if the
   function pushed it; the walk tells. */
static bool try_slot(struct guess *g, uint64_t slot)
{
	uint64_t tried[MAX_SAVED_WORDS + 1], fp = g->fp;
	size_t n_tried = 0;

	if (g->has_fp && g->fp + 8 != slot) {
		if (try_slot_with(g, slot, &fp))
			return true;
		tried[n_tried++] = fp;
	}
	for (uint64_t at = slot - 8; at >= g->sp && n_tried <= MAX_SAVED_WORDS; at -= 8) {
		bool is_new = walk_read(g->w, at, &fp, sizeof(fp)) == 0 && fp > slot &&
			      fp - slot < MAX_STACK;

		for (size_t i = 0; i < n_tried; i++)
			is_new = is_new && tried[i] != fp;
		if (slot - at > 8 * MAX_SAVED_WORDS)
			break;
		if (!is_new)
			continue;
		if (try_slot_with(g, slot, &fp))
			return true;
		tried[n_tried++] = fp;
	}
	return n_tried == 0 && try_slot_with(g, slot, NULL);
}

/* ---- the search ---- */

static size_t search(struct guess *g, struct candidate *found)
{
	uint64_t slot = (g->sp + 7) & ~UINT64_C(7);
	size_t n = 0;

	for (int i = 0; i < MAX_WORDS && n < MAX_CANDIDATES; i++, slot += 8) {
		enum evidence evidence;

		if (g->w->budget->n_words == 0)
			break;
		g->w->budget->n_words--;
		evidence = evidence_at(g, slot);
		if (evidence != EVIDENCE_NONE)
			found[n++] = (struct candidate){ slot, evidence };
	}
	return n;
}

static bool try_found(struct guess *g, const struct candidate *found, size_t n,
		      enum evidence evidence)
{
	for (size_t i = 0; i < n; i++)
		if (found[i].evidence == evidence && try_slot(g, found[i].slot))
			return true;
	return false;
}

static void guess_init(struct guess *g, struct walk *w, struct frame_list *frames,
		       unsigned int n_guesses)
{
	const struct unwind *u = &w->u;
	const struct code_region *r = walk_region(w, u->regs[REG_PC] - !u->is_exact);
	uint64_t start, size;

	*g = (struct guess){ .w = w, .frames = frames, .n_guesses = n_guesses };
	g->n_frames = frames->n;
	g->pc = u->regs[REG_PC];
	g->sp = u->regs[REG_SP];
	g->fp = u->regs[REG_FP];
	g->has_fp = u->valid_regs & REG_BIT(REG_FP);
	g->is_jit = r && !r->table && !r->code;
	if (w->s->function && w->s->function(w->s->ctx, g->pc - !u->is_exact, &start, &size) &&
	    start <= g->pc && size <= UINT64_MAX - start && g->pc <= start + size) {
		g->start = start;
		g->end = start + size;
	}
}

static bool guess_caller(struct guess *g)
{
	struct candidate found[MAX_CANDIDATES];
	size_t n;

	if (try_epilogue(g) || try_entry(g) || try_prologue(g))
		return true;
	if (g->is_jit && !g->end && try_frame_pointer(g))
		return true;
	n = search(g, found);
	return try_found(g, found, n, EVIDENCE_STRONG) || (g->is_jit && try_frame_pointer(g)) ||
	       try_found(g, found, n, EVIDENCE_FAIR) || try_found(g, found, n, EVIDENCE_WEAK) ||
	       try_frame_pointer(g);
}

static void push_frame(struct walk *w, struct frame_list *frames)
{
	struct wire_frame *frame = &frames->frames[frames->n++];

	*frame = (struct wire_frame){ .addr = w->u.regs[REG_PC],
				      .extra = (uint32_t)w->u.regs[REG_SP],
				      .kind = WIRE_FRAME_NATIVE };
	if (w->u.is_exact)
		frame->flags |= WIRE_FRAME_EXACT;
	if (w->is_guessed)
		frame->flags |= WIRE_FRAME_GUESSED;
	w->is_guessed = false;
}

/* Above a guess every caller must have called; a wrong guess seldom keeps that up. */
static bool is_called(struct walk *w)
{
	uint64_t target;
	bool is_also;

	return w->u.is_exact || call_site(w, w->u.regs[REG_PC], &target, &is_also) != CALL_NONE;
}

/* Does what it returns to end the thread? Then nobody called that. */
static bool is_thread_start(struct walk *w)
{
	static const uint8_t known[] = THREAD_EXIT_CODE;
	uint8_t code[sizeof(known)];

	return !w->u.is_exact &&
	       walk_code(w, w->u.regs[REG_PC], code, sizeof(code)) == sizeof(code) &&
	       !memcmp(code, known, sizeof(known));
}

int guess_walk(struct walk *w, struct frame_list *frames, unsigned int n_guesses)
{
	struct guess g;
	int end = 0;

	while (!end) {
		bool is_plausible = n_guesses == 0 || is_called(w);

		if (frames->n == frames->max)
			return END_MAX_FRAMES;
		push_frame(w, frames);
		end = walk_step(w);
		if (end == END_NO_RULE && is_thread_start(w))
			end = END_ROOT;
		/* Roots and signal trampolines are entered without a call. */
		if (!is_plausible && end != END_ROOT && (end || !w->u.is_exact))
			return END_GUESS_FAILED;
	}
	if (end != END_NO_RULE || n_guesses == MAX_GUESSES)
		return end;
	guess_init(&g, w, frames, n_guesses);
	return guess_caller(&g) ? g.result : END_GUESS_FAILED;
}
