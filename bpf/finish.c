// SPDX-License-Identifier: Apache-2.0
#include "bpf/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/counters.h"
#include "bpf/shared.h"
#include "bpf/tables.h"
#include "core/mem.h"
#include "runtimes/process.h"
#include "symbolizer/object.h"
#include "unwinders/arch.h"
#include "unwinders/snapshot.h"

struct finisher {
	struct processes *ps;
	struct tables *tables;
	/* of the stack that is being finished */
	struct process *proc;
	struct mem *mem; /* made when it is first read */
	uint8_t page_known[MAX_SNAPSHOT_PAGES];
	uint8_t stack[MAX_SNAPSHOT_PAGES * SNAPSHOT_PAGE];
};

struct finisher *finisher_new(struct processes *ps, struct tables *tables)
{
	struct finisher *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->ps = ps;
	f->tables = tables;
	return f;
}

void finisher_free(struct finisher *f)
{
	free(f);
}

static bool find(void *ctx, uint64_t pc, struct code_region *out)
{
	struct finisher *f = ctx;
	const struct mapping *m = process_known_mapping(f->ps, f->proc, pc);
	struct object_table t;
	const void *code;
	uint64_t vaddr;

	if (!m)
		return false;
	*out = (struct code_region){ .start = m->start, .end = m->end, .bias = m->bias };
	if (!m->object)
		return true;
	t = tables_get(f->tables, m->object);
	out->table = t.table;
	out->cfi = t.cfi;
	if (object_section(m->object, ".text", &code, &out->code_len, &vaddr)) {
		out->code = code;
		out->code_start = vaddr + m->bias;
	}
	return true;
}

/* A page of a file is read from its file system if it is not in memory. Where that does not let us
   open the file it may also never answer the read, which would cost a reader (core/mem.h). */
static bool is_safe_to_read(struct finisher *f, uint64_t addr, size_t len)
{
	const struct mapping *m = process_known_mapping(f->ps, f->proc, addr);

	if (!m || len > m->end - addr)
		return false;
	if (m->kind == MAPPING_FILE)
		return m->object || m->open_err == -EBADMSG || m->open_err == -ENOTSUP;
	return m->kind == MAPPING_ANON || m->kind == MAPPING_VDSO;
}

/* Code that JITs wrote, data. The process may be gone, or its pid another's: then what is read
   makes no sense and proves nothing. */
static int read_target(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct finisher *f = ctx;

	if (f->proc->exit_time_ns)
		return -ESRCH;
	if (!is_safe_to_read(f, addr, len))
		return -EFAULT;
	if (!f->mem)
		f->mem = mem_live(f->proc->pid, &f->proc->patience);
	return f->mem ? mem_read(f->mem, addr, buf, len) : -ENOMEM;
}

static bool function(void *ctx, uint64_t pc, uint64_t *start, uint64_t *size)
{
	struct finisher *f = ctx;
	const struct mapping *m = process_known_mapping(f->ps, f->proc, pc);

	if (!m || !m->object || !object_function(m->object, pc - m->bias, start, size))
		return false;
	*start += m->bias;
	return true;
}

/* Puts the pages side by side. */
static void set_stack(struct finisher *f, struct snapshot *s, const struct queued_sample *q)
{
	s->stack_start = (s->regs[REG_SP] - RED_ZONE) & ~(uint64_t)(SNAPSHOT_PAGE - 1);
	s->stack = f->stack;
	s->page_known = f->page_known;
	memset(f->page_known, 0, sizeof(f->page_known));
	for (size_t i = 0; i < q->n_pages; i++) {
		const struct wire_snapshot_page *page = q->pages[i];
		uint64_t at = (page->addr - s->stack_start) / SNAPSHOT_PAGE;

		if (page->addr < s->stack_start || at >= MAX_SNAPSHOT_PAGES ||
		    page->len != SNAPSHOT_PAGE)
			continue;
		memcpy(f->stack + at * SNAPSHOT_PAGE, page->bytes, SNAPSHOT_PAGE);
		f->page_known[at] = 1;
		if (s->stack_len < (at + 1) * SNAPSHOT_PAGE)
			s->stack_len = (at + 1) * SNAPSHOT_PAGE;
	}
}

int finish_stack(struct finisher *f, struct process *proc, const struct queued_sample *q,
		 struct wire_frame *out, size_t *n, size_t max)
{
	const struct wire_sample *sample = q->sample;
	struct snapshot s = {
		.valid_regs = sample->valid_regs,
		.is_exact = sample->regs_flags & WIRE_FRAME_EXACT,
		.ctx = f,
		.find = find,
		.read = read_target,
		.function = function,
	};
	int end;

	if (!proc) {
		if (*n < max)
			out[(*n)++] = (struct wire_frame){
				.addr = sample->regs[WIRE_N_REGS - 1],
				.extra = (uint32_t)sample->regs[REG_SP],
				.kind = WIRE_FRAME_NATIVE,
				.flags = (uint8_t)sample->regs_flags,
			};
		return END_NO_PROCESS;
	}
	memcpy(s.regs, sample->regs, sizeof(s.regs));
	f->proc = proc;
	/* The pc must be somewhere; the words of the stack that find() is asked for need not. */
	process_mapping(f->ps, proc, s.regs[REG_PC]);
	set_stack(f, &s, q);
	end = snapshot_walk(&s, out, n, max);
	mem_free(f->mem);
	f->mem = NULL;
	f->proc = NULL;
	return end;
}

int finish_frames(struct finisher *f, struct process *proc, const struct queued_sample *q,
		  struct wire_frame *out, size_t *n)
{
	const struct wire_sample *s = q->sample;
	size_t max = s->n_kernel + (size_t)MAX_USER_FRAMES;

	*n = s->n_kernel + (size_t)s->n_user;
	if (*n > MAX_FINISHED)
		*n = MAX_FINISHED;
	memcpy(out, s->frames, *n * sizeof(*s->frames));
	if (s->end == END_SNAPSHOT)
		return finish_stack(f, proc, q, out, n, max < MAX_FINISHED ? max : MAX_FINISHED);
	if ((s->end == END_SNAPSHOT_BUDGET || s->end == END_SNAPSHOT_RING) && *n < MAX_FINISHED)
		out[(*n)++] = (struct wire_frame){ .addr = s->regs[WIRE_N_REGS - 1],
						   .extra = (uint32_t)s->regs[REG_SP],
						   .kind = WIRE_FRAME_NATIVE,
						   .flags = (uint8_t)s->regs_flags };
	return s->end < N_COUNTERS ? s->end : END_NO_PROCESS;
}
