// SPDX-License-Identifier: Apache-2.0
#include "unwinders/walk.h"

#include <errno.h>
#include <string.h>

#include "unwinders/cfi_step.h"
#include "unwinders/host.h"

void walk_init(struct walk *w, const struct snapshot *s, struct walk_budget *budget)
{
	*w = (struct walk){ .s = s, .budget = budget };
	memcpy(w->u.regs, s->regs, sizeof(w->u.regs));
	w->u.valid_regs = s->valid_regs | REG_BIT(REG_PC) | REG_BIT(REG_SP);
	w->u.is_exact = s->is_exact;
}

static bool is_copied(const struct snapshot *s, uint64_t addr, size_t len)
{
	uint64_t offset = addr - s->stack_start;

	if (addr < s->stack_start || offset >= s->stack_len || len > s->stack_len - offset)
		return false;
	for (uint64_t page = offset / SNAPSHOT_PAGE; page <= (offset + len - 1) / SNAPSHOT_PAGE;
	     page++)
		if (!s->page_known[page])
			return false;
	return true;
}

int walk_read(struct walk *w, uint64_t addr, void *buf, size_t len)
{
	const struct snapshot *s = w->s;

	if (len && is_copied(s, addr, len)) {
		memcpy(buf, s->stack + (addr - s->stack_start), len);
		return 0;
	}
	if (s->is_stopped && s->read)
		return s->read(s->ctx, addr, buf, len) ? -EFAULT : 0;
	/* The thread went on: what its stack holds by now is another stack. */
	if (addr - s->stack_start >= s->stack_len || len > s->stack_len - (addr - s->stack_start))
		w->is_beyond = true;
	return -EFAULT;
}

const struct code_region *walk_region(struct walk *w, uint64_t pc)
{
	struct code_region *r = &w->region;

	if (pc >= r->start && pc < r->end)
		return r;
	memset(r, 0, sizeof(*r));
	if (!w->s->find(w->s->ctx, pc, r) || pc < r->start || pc >= r->end) {
		memset(r, 0, sizeof(*r));
		return NULL;
	}
	return r;
}

size_t walk_code(struct walk *w, uint64_t pc, uint8_t *buf, size_t len)
{
	const struct code_region *r = walk_region(w, pc);

	if (!r)
		return 0;
	if (len > r->end - pc)
		len = (size_t)(r->end - pc);
	if (r->code && pc >= r->code_start && pc - r->code_start < r->code_len) {
		size_t left = r->code_len - (size_t)(pc - r->code_start);

		len = len < left ? len : left;
		memcpy(buf, r->code + (pc - r->code_start), len);
		return len;
	}
	return w->s->read && w->s->read(w->s->ctx, pc, buf, len) == 0 ? len : 0;
}

/* The kernel's steps read code, too, to know a trampoline. */
static int host_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct walk *w = ctx;
	const struct code_region *r = &w->region;
	int err = walk_read(w, addr, buf, len);

	if (err && addr >= r->start && addr < r->end)
		return walk_code(w, addr, buf, len) == len ? 0 : -EFAULT;
	return err;
}

static int host_find(void *ctx, uint64_t pc, struct unwind_mapping *m, const uint32_t **words,
		     size_t *n_words)
{
	const struct code_region *r = walk_region(ctx, pc);

	if (!r)
		return END_NO_MAPPING;
	*m = (struct unwind_mapping){ .start = r->start,
				      .len = r->end - r->start,
				      .bias = r->bias };
	if (!r->table || !r->table->words) {
		m->flags = UNWIND_MAPPING_USER_ONLY;
		return 0;
	}
	*words = r->table->words;
	*n_words = r->table->n_words;
	return 0;
}

/* By the same code as in the kernel. */
static int compact_step(struct walk *w)
{
	struct unwind_host host = { .ctx = w, .read = host_read, .find = host_find };
	int end;

	unwind_host = &host;
	w->u.map.len = 0;
	end = native_step(&w->u);
	unwind_host = NULL;
	return end;
}

/* By the full row, which needs the sections. */
static int full_step(struct walk *w)
{
	uint64_t pc = w->u.regs[REG_PC] - !w->u.is_exact;
	const struct code_region *r = walk_region(w, pc);

	return r && r->cfi ? cfi_step(w, r, pc) : END_NO_RULE;
}

int walk_step(struct walk *w)
{
	struct unwind before = w->u;
	int end = END_NO_RULE;

	if (w->budget->n_steps == 0)
		return END_GUESS_FAILED;
	w->budget->n_steps--;
	w->is_beyond = false;
	if (w->is_full)
		end = full_step(w);
	if (end == END_NO_RULE)
		end = compact_step(w);
	if (end == END_EXPRESSION && !w->is_full) {
		w->u = before;
		end = full_step(w);
		end = end == END_NO_RULE ? END_EXPRESSION : end;
	}
	if (end)
		w->u = before;
	return end == END_READ_FAULT && w->is_beyond ? END_SNAPSHOT_TRUNCATED : end;
}
