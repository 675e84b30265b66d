// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_codes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtimes/python_copy.h"
#include "runtimes/python_qualnames.h"

#define MAX_CODES (1u << 16)
#define MAX_MEMORY (4u << 20)  /* bytes of names and lines, from which on no more are read */
#define MAX_LINES (256u << 10) /* of one of them: larger tables are of machine-made modules */
#define MAX_TRIES 4 /* to read one: it may not have been in memory, or changed meanwhile */

struct known_code {
	uint64_t addr;
	uint32_t identity;
	bool is_read;
	uint8_t n_tries;
	struct python_code code; /* when it is read */
};

struct python_codes {
	struct known_code *items;
	uint32_t n, cap;
	uint32_t *slots;		/* number, by address and identity; open addressing */
	uint32_t n_slots;		/* a power of two */
	struct python_qualnames *names; /* NULL until one is looked for */
	size_t len;			/* bytes of names and lines */
};

struct python_codes *python_codes_new(void)
{
	return calloc(1, sizeof(struct python_codes));
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
	if (cap > MAX_CODES)
		return -E2BIG;
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

/* What code objects do not say themselves to 3.10. */
static void qualify(struct python_codes *codes, struct python_code_source *source,
		    struct known_code *known)
{
	if (source->layout->code.qualname)
		return;
	if (!codes->names)
		codes->names = python_qualnames_new();
	if (codes->names)
		python_qualnames_apply(codes->names, source->mem, source->layout, source->runtime,
				       known->addr, &known->code);
}

static bool read_live(struct python_codes *codes, struct python_code_source *source,
		      struct known_code *known)
{
	if (!source->mem && source->pid)
		source->mem = mem_live(source->pid);
	if (!source->mem ||
	    python_code_read(source->mem, source->layout, known->addr, 0, &known->code))
		return false;
	if (known->code.identity == known->identity) {
		qualify(codes, source, known);
		return true;
	}
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
		return !python_code_read(&copy.mem, &layout, known->addr, 0, &known->code);
	}
	return false;
}

/* As long as there is room for it, and not again and again. */
static void read_code(struct python_codes *codes, struct python_code_source *source,
		      struct known_code *known)
{
	struct python_code *code = &known->code;

	if (known->is_read || known->n_tries == MAX_TRIES || codes->len > MAX_MEMORY)
		return;
	known->n_tries++;
	known->is_read = read_live(codes, source, known) || read_copy(source, known);
	if (!known->is_read)
		return;
	if (code->lines_len > MAX_LINES) {
		free(code->lines);
		code->lines = NULL;
		code->lines_len = 0;
	}
	/* A name was read into four bytes a character. */
	codes->len += 4 * (code->name_len + code->file_len) + code->lines_len;
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

const struct python_code *python_codes_get(const struct python_codes *codes, uint64_t number)
{
	const struct known_code *known = number - 1 < codes->n ? &codes->items[number - 1] : NULL;

	return known && known->is_read ? &known->code : NULL;
}
