// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_codes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtimes/python_copy.h"
#include "runtimes/python_qualnames.h"

#define MAX_CODES (1u << 16)
#define MAX_LINES (256u << 10) /* of one of them: larger tables are of machine-made modules */
#define MAX_MISSES 64	/* positions in no copy of the code, since the last one that was found */
#define MAX_TRIES 4	/* to read one: it may not have been in memory, or changed meanwhile */
#define QUALNAME_LEN 64 /* bytes for each function that is remembered for its name, about */

struct known_code {
	uint64_t addr;
	uint32_t identity;
	bool is_read;
	uint8_t n_tries, n_misses;
	struct python_code code; /* when it is read */
};

struct python_codes {
	struct python_part *part;
	struct known_code *items;
	uint32_t n, cap;
	uint32_t *slots;		/* number, by address and identity; open addressing */
	uint32_t n_slots;		/* a power of two */
	struct python_qualnames *names; /* NULL until one is looked for */
	size_t len;			/* bytes of names and lines */
};

struct python_codes *python_codes_new(struct python_part *part)
{
	struct python_codes *codes = calloc(1, sizeof(*codes));

	if (codes)
		codes->part = part;
	return codes;
}

void python_codes_free(struct python_codes *codes)
{
	if (!codes)
		return;
	for (uint32_t i = 0; i < codes->n; i++)
		python_code_deinit(&codes->items[i].code);
	free(codes->items);
	free(codes->slots);
	python_qualnames_free(codes->names);
	python_room_hold(codes->part, 0);
	free(codes);
}

size_t python_codes_memory(const struct python_codes *codes)
{
	size_t sum = sizeof(*codes) + codes->len + codes->cap * sizeof(*codes->items) +
		     codes->n_slots * sizeof(*codes->slots);

	return codes->names ? sum + python_qualnames_memory(codes->names) : sum;
}

static uint32_t *slot_of(const struct python_codes *codes, uint64_t addr, uint32_t identity)
{
	uint64_t h = (addr ^ (uint64_t)identity << 32) * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = (size_t)(h >> 32);; i++) {
		uint32_t *slot = &codes->slots[i & (codes->n_slots - 1)];
		const struct known_code *known = *slot ? &codes->items[*slot - 1] : NULL;

		if (!known || (known->addr == addr && known->identity == identity))
			return slot;
	}
}

static int grow(struct python_codes *codes)
{
	uint32_t cap = codes->cap ? codes->cap * 2 : 128;
	struct known_code *items;
	uint32_t *slots;

	if (codes->n < codes->cap)
		return 0;
	if (cap > MAX_CODES || !python_room_is_left(codes->part)) {
		codes->part->share->n_over_budget++;
		return -E2BIG;
	}
	items = realloc(codes->items, cap * sizeof(*items));
	if (!items)
		return -ENOMEM;
	codes->items = items;
	slots = calloc(cap * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(codes->slots);
	codes->slots = slots;
	codes->n_slots = cap * 2;
	codes->cap = cap;
	for (uint32_t i = 0; i < codes->n; i++)
		*slot_of(codes, items[i].addr, items[i].identity) = i + 1;
	return 0;
}

struct mem *python_code_memory(struct python_code_source *source)
{
	if (!source->mem && source->pid)
		source->mem = mem_live(source->pid, source->patience);
	return source->mem;
}

/* What code objects do not say themselves to 3.10. */
static void qualify(struct python_codes *codes, struct python_code_source *source,
		    struct known_code *known)
{
	size_t max = codes->part->share->max_each / QUALNAME_LEN;

	if (source->layout->code.qualname || !python_code_memory(source))
		return;
	if (!codes->names)
		codes->names = python_qualnames_new(max ? max : PYTHON_MAX_QUALNAMES);
	if (codes->names)
		python_qualnames_apply(codes->names, codes->part, source->mem, source->layout,
				       source->runtime, known->addr, &known->code);
}

static bool read_live(struct python_code_source *source, struct known_code *known)
{
	struct mem *mem = python_code_memory(source);

	if (!mem || python_code_read(mem, source->layout, known->addr, source->type, &known->code))
		return false;
	if (known->code.identity == known->identity)
		return true;
	python_code_deinit(&known->code);
	return false;
}

/* The record has the identity; the name that goes into it was not copied. */
static bool read_copy(const struct python_code_source *source, struct known_code *known)
{
	struct python_layout layout = *source->layout;

	layout.code.id_needs_name = false;
	for (size_t i = 0; i < source->n_copies; i++) {
		const struct wire_python_code *c = source->copies[i];
		struct python_copy copy;

		if (c->addr != known->addr || c->id != known->identity)
			continue;
		python_copy_init(&copy, c);
		return !python_code_read(&copy.mem, &layout, known->addr, source->type,
					 &known->code);
	}
	return false;
}

/* Is there more of it in the process than was copied? */
static bool is_whole(const struct known_code *known)
{
	return known->code.lines && *known->code.file;
}

/* A copy is of the moment of the sample and costs the process nothing. What is too long for it is
   read from the process. */
static bool read_either(struct python_codes *codes, struct python_code_source *source,
			struct known_code *known)
{
	struct known_code live = *known;

	python_steps_use(codes->part, PYTHON_STEPS_COPY);
	known->is_read = read_copy(source, known);
	if ((!known->is_read || !is_whole(known)) &&
	    python_steps_take(codes->part, PYTHON_STEPS_CODE) && read_live(source, &live)) {
		if (known->is_read)
			python_code_deinit(&known->code);
		known->code = live.code;
		known->is_read = true;
	}
	return known->is_read;
}

static void drop_long_lines(struct python_code *code)
{
	if (code->lines_len <= MAX_LINES)
		return;
	free(code->lines);
	code->lines = NULL;
	code->lines_len = 0;
}

/* As long as there are room and steps for it, and not again and again. */
static void read_code(struct python_codes *codes, struct python_code_source *source,
		      struct known_code *known)
{
	const struct python_code *code = &known->code;

	if (known->is_read || known->n_tries == MAX_TRIES)
		return;
	if (!python_room_is_left(codes->part)) {
		codes->part->share->n_over_budget++;
		return;
	}
	if (!python_steps_left(codes->part))
		return;
	known->n_tries++;
	if (!read_either(codes, source, known))
		return;
	drop_long_lines(&known->code);
	qualify(codes, source, known);
	/* A name was read into four bytes a character. */
	codes->len += 4 * (code->name_len + code->file_len) + code->lines_len;
	python_room_hold(codes->part, python_codes_memory(codes));
}

uint32_t python_codes_number(struct python_codes *codes, struct python_code_source *source,
			     uint64_t addr, uint32_t identity)
{
	uint32_t *slot = identity && codes->n_slots ? slot_of(codes, addr, identity) : NULL;

	if (!slot || !*slot) {
		if (!identity || grow(codes))
			return 0;
		slot = slot_of(codes, addr, identity);
		codes->items[codes->n++] =
			(struct known_code){ .addr = addr, .identity = identity };
		*slot = codes->n;
	}
	read_code(codes, source, &codes->items[*slot - 1]);
	return *slot;
}

void python_codes_visit(struct python_codes *codes, struct python_code_source *source,
			uint32_t number, int64_t position)
{
	struct known_code *known = number - 1 < codes->n ? &codes->items[number - 1] : NULL;
	size_t before;

	if (!known || !known->is_read || !source->layout->code.tlbc ||
	    known->n_misses == MAX_MISSES || python_code_has(&known->code, position))
		return;
	if (!python_steps_take(codes->part, PYTHON_STEPS_FETCH))
		return;
	if (!source->mem && source->pid)
		source->mem = mem_live(source->pid, source->patience);
	if (!source->mem)
		return;
	before = known->code.n_copies;
	python_code_read_copies(source->mem, source->layout, known->addr, &known->code);
	codes->len += (known->code.n_copies - before) * sizeof(*known->code.copies);
	known->n_misses = python_code_has(&known->code, position) ? 0 : known->n_misses + 1;
}

const struct python_code *python_codes_get(const struct python_codes *codes, uint64_t number)
{
	const struct known_code *known = number - 1 < codes->n ? &codes->items[number - 1] : NULL;

	return known && known->is_read ? &known->code : NULL;
}
