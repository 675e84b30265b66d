// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_chain.h"

#include <string.h>

#define YIELD_FROM 72 /* its number in 3.7 to 3.10 */
/* RESUME and what it can be replaced with in 3.11 and 3.12; the lowest two bits of its argument
   tell that it follows an await or a `yield from`. */
#define RESUME 151
#define RESUME_QUICK 150
#define RESUME_INSTRUMENTED 237
#define RESUME_AWAITS 2

#define MAX_DEPTH (1 << 20) /* values on a frame's stack */
#define TAGS 3ul	    /* lowest bits of references, from 3.14 on */

/* What a generator is doing, whatever the version's numbers. */
enum doing { CREATED, SUSPENDED, AWAITING, EXECUTING, FINISHED };

struct generator {
	uint64_t addr, frame, code, instr;
	enum python_kind kind;
	enum doing doing;
};

static uint64_t untagged(const struct python_heap *h, uint64_t word)
{
	return h->layout->version < PYTHON_FIRST(3, 14) ? word : word & ~TAGS;
}

/* The opcode at an offset into the code, which is a bytes object up to 3.10. */
static bool is_yield_from(struct python_heap *h, uint64_t code, int64_t offset)
{
	uint64_t bytes = python_word(h, code + h->layout->code.code);
	uint64_t len = bytes ? python_word(h, bytes + h->layout->bytes.size) : 0;

	return offset >= 0 && (uint64_t)offset < len &&
	       python_byte(h, bytes + h->layout->bytes.data + (uint64_t)offset) == YIELD_FROM;
}

static enum doing doing_39(struct python_heap *h, const struct generator *g)
{
	int32_t last = (int32_t)g->instr;

	if (last < 0)
		return CREATED;
	if (!python_word(h, g->frame + h->at.frame.stack_top))
		return EXECUTING;
	return is_yield_from(h, g->code, (int64_t)last + 2) ? AWAITING : SUSPENDED;
}

static enum doing doing_310(struct python_heap *h, const struct generator *g)
{
	int8_t state = (int8_t)python_byte(h, g->frame + h->at.frame.state);
	int32_t last = (int32_t)g->instr;

	if (state > 0)
		return FINISHED;
	if (!state)
		return EXECUTING;
	if (last < 0)
		return CREATED;
	return is_yield_from(h, g->code, 2 * ((int64_t)last + 1)) ? AWAITING : SUSPENDED;
}

/* 3.11 and 3.12: state and the instruction that it will be resumed at. */
static enum doing doing_312(struct python_heap *h, const struct generator *g, int8_t state)
{
	uint8_t op = python_byte(h, g->instr + 2), arg = python_byte(h, g->instr + 3);
	bool is_resume = op == RESUME || op == RESUME_QUICK || op >= RESUME_INSTRUMENTED;

	if (state > 0)
		return FINISHED;
	if (!state)
		return EXECUTING;
	if (state == -2)
		return CREATED;
	/* A coroutine cannot be suspended by anything else than an await. */
	if (g->kind == PYTHON_COROUTINE)
		return AWAITING;
	return is_resume && (arg & 3) >= RESUME_AWAITS ? AWAITING : SUSPENDED;
}

static enum doing doing_of(struct python_heap *h, const struct generator *g)
{
	static const enum doing of_314[] = { CREATED, SUSPENDED, AWAITING, EXECUTING };
	static const enum doing of_315[] = { CREATED, SUSPENDED, AWAITING, AWAITING, EXECUTING };
	unsigned int minor = PYTHON_MINOR(h->layout->version);
	int8_t state;

	if (minor <= 9)
		return doing_39(h, g);
	if (minor == 10)
		return doing_310(h, g);
	state = (int8_t)python_byte(h, g->addr + h->at.gen.state);
	if (minor <= 12)
		return doing_312(h, g, state);
	if (minor <= 14)
		return state >= -3 && state <= 0 ? of_314[state + 3] : FINISHED;
	return state >= 0 && state <= 4 ? of_315[state] : FINISHED;
}

uint64_t python_generator_frame(struct python_heap *h, uint64_t generator)
{
	if (h->at.gen.iframe)
		return generator + h->at.gen.iframe;
	return python_word(h, generator + h->at.gen.frame);
}

static bool generator_read(struct python_heap *h, uint64_t addr, struct generator *g)
{
	*g = (struct generator){ .addr = addr, .kind = python_kind(h, addr) };
	if (!python_kind_is_generator(g->kind))
		return false;
	g->frame = python_generator_frame(h, addr);
	if (!g->frame)
		return false;
	g->code = untagged(h, python_word(h, g->frame + h->layout->frame.code));
	if (h->layout->instr == PYTHON_INSTR_POINTER)
		g->instr = python_word(h, g->frame + h->layout->frame.instr);
	else
		g->instr = python_int(h, g->frame + h->layout->frame.instr);
	g->doing = doing_of(h, g);
	return g->doing != FINISHED && g->code;
}

/* What it awaits: the value on top of its stack. */
static uint64_t awaited(struct python_heap *h, const struct generator *g)
{
	unsigned int minor = PYTHON_MINOR(h->layout->version);
	uint64_t at, depth;

	if (minor <= 9) {
		at = python_word(h, g->frame + h->at.frame.stack_top);
		return at ? python_word(h, at - 8) : 0;
	}
	if (minor >= 14) {
		at = python_word(h, g->frame + h->at.frame.stack_behind);
		/* 3.15 keeps a NULL above it. */
		return at ? untagged(h, python_word(h, at - (minor == 14 ? 8 : 16))) : 0;
	}
	depth = python_int(h, g->frame + h->at.frame.stack_depth);
	if (!depth || depth > MAX_DEPTH)
		return 0;
	at = g->frame + h->layout->frame.localsplus;
	if (minor == 10)
		at = python_word(h, g->frame + h->at.frame.stack);
	return at ? python_word(h, at + 8 * (depth - 1)) : 0;
}

/* From a wrapper around a generator to it; anything else stays. */
static uint64_t unwrapped(struct python_heap *h, uint64_t object)
{
	for (int i = 0; i < 4 && python_kind(h, object) == PYTHON_AWAIT_WRAPPER; i++)
		object = python_field(h, object, PYTHON_FIRST_FIELD);
	return object;
}

uint64_t python_chain_next(struct python_heap *h, uint64_t generator)
{
	struct generator g;

	return generator_read(h, generator, &g) && g.doing == AWAITING ? awaited(h, &g) : 0;
}

static void set_leaf(struct python_heap *h, struct python_await_chain *c, uint64_t object)
{
	enum python_kind kind = python_kind(h, object);

	if (kind == PYTHON_FUTURE_ITER) {
		object = python_field(h, object, PYTHON_FIRST_FIELD);
		kind = python_kind(h, object);
	}
	c->leaf = object;
	c->end = python_kind_is_future(kind) ? PYTHON_CHAIN_FUTURE : PYTHON_CHAIN_OBJECT;
}

void python_chain_read(struct python_heap *h, uint64_t coroutine, struct python_await_chain *c)
{
	uint64_t next = unwrapped(h, coroutine), mark = 0;
	struct generator g;
	size_t lap = 2;

	c->n = 0;
	c->leaf = 0;
	c->end = PYTHON_CHAIN_BROKEN;
	while (c->n < PYTHON_MAX_CHAIN) {
		if (!generator_read(h, next, &g)) {
			if (python_kind_is_generator(g.kind))
				c->end = PYTHON_CHAIN_FINISHED;
			else
				set_leaf(h, c, next);
			return;
		}
		if (g.frame == mark)
			return; /* a circle comes by here again */
		if (c->n == lap) {
			mark = g.frame;
			lap *= 2;
		}
		c->frames[c->n++] = (struct python_chain_frame){
			g.frame, g.code, python_word(h, g.addr + h->at.gen.qualname), g.instr
		};
		if (g.doing != AWAITING) {
			c->end = g.doing == EXECUTING ? PYTHON_CHAIN_RUNNING
				 : g.doing == CREATED ? PYTHON_CHAIN_CREATED
						      : PYTHON_CHAIN_OBJECT;
			return;
		}
		next = unwrapped(h, awaited(h, &g));
	}
}

uint64_t python_frame_local(struct python_heap *h, uint64_t frame, unsigned int i)
{
	return untagged(h, python_word(h, frame + h->layout->frame.localsplus + 8 * (uint64_t)i));
}

unsigned int python_frame_depth(struct python_heap *h, uint64_t frame)
{
	uint64_t depth, first = frame + h->layout->frame.localsplus;

	if (h->layout->version < PYTHON_FIRST(3, 11))
		return 0;
	if (h->at.frame.stack_behind)
		depth = (python_word(h, frame + h->at.frame.stack_behind) - first) / 8;
	else
		depth = python_int(h, frame + h->at.frame.stack_depth);
	return depth <= MAX_DEPTH ? (unsigned int)depth : 0;
}
