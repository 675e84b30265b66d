// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/plt.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/reader.h"

#define MAX_SLOTS (1 << 18)
#define STUB_LEN 16 /* .plt and .plt.sec; .plt.got has 8 where there is no endbr64 */

struct slot {
	uint64_t vaddr; /* in the GOT */
	const char *name;
};

struct stub {
	uint64_t vaddr;
	uint32_t len;
	const char *name;
};

struct plt {
	struct slot *slots; /* only while it is made */
	size_t n_slots, cap_slots;
	struct stub *stubs;
	size_t n_stubs, cap_stubs;
};

/* The name of a dynamic symbol by its number. */
static const char *symbol_name(const struct elf_file *ef, const struct elf_section *table,
			       uint64_t index)
{
	const void *symbols, *strings;
	size_t symbols_len, strings_len;
	struct reader r;
	uint32_t at;

	if (table->link >= ef->n_sections || !elf_file_raw(ef, table, &symbols, &symbols_len) ||
	    !elf_file_raw(ef, &ef->sections[table->link], &strings, &strings_len) ||
	    index >= symbols_len / sizeof(Elf64_Sym))
		return NULL;
	reader_init(&r, symbols, symbols_len);
	reader_seek(&r, index * sizeof(Elf64_Sym), "symbol");
	at = reader_u32(&r, "symbol name");
	reader_init(&r, strings, strings_len);
	reader_seek(&r, at, "symbol name");
	return reader_string(&r, "symbol name");
}

static int read_slots(struct plt *p, const struct elf_file *ef, const struct elf_section *s)
{
	const void *data;
	struct reader r;
	size_t len;

	if (s->type != SHT_RELA || s->link >= ef->n_sections || !elf_file_raw(ef, s, &data, &len))
		return 0;
	reader_init(&r, data, len);
	while (reader_left(&r) >= sizeof(Elf64_Rela)) {
		struct slot slot = { .vaddr = reader_u64(&r, "relocation offset") };
		uint64_t info = reader_u64(&r, "relocation info");

		reader_u64(&r, "addend");
		if (ELF64_R_TYPE(info) != R_X86_64_JUMP_SLOT &&
		    ELF64_R_TYPE(info) != R_X86_64_GLOB_DAT)
			continue;
		slot.name = symbol_name(ef, &ef->sections[s->link], ELF64_R_SYM(info));
		if (!slot.name || !*slot.name)
			continue;
		if (p->n_slots >= MAX_SLOTS)
			return -E2BIG;
		if (ARRAY_RESERVE(p->slots, p->cap_slots, p->n_slots) < 0)
			return -ENOMEM;
		p->slots[p->n_slots++] = slot;
	}
	return 0;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* The GOT slot of "jmp *disp(%rip)" somewhere in a stub (after endbr64 or a bnd prefix). */
static bool target_of(const uint8_t *code, size_t len, uint64_t vaddr, uint64_t *slot)
{
	for (size_t i = 0; i + 6 <= len; i++) {
		struct reader r;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		reader_init(&r, code + i + 2, 4);
		*slot = vaddr + i + 6 + (uint64_t)(int64_t)(int32_t)reader_u32(&r, "displacement");
		return true;
	}
	return false;
}

static int read_stubs(struct plt *p, const struct elf_file *ef, const char *name)
{
	const struct elf_section *s = elf_file_section(ef, name);
	const void *data;
	size_t len, step;

	if (!s || !elf_file_raw(ef, s, &data, &len))
		return 0;
	step = s->entsize == 8 ? 8 : STUB_LEN;
	for (size_t at = 0; len - at >= step; at += step) {
		struct stub stub = { s->vaddr + at, (uint32_t)step, NULL };
		struct slot key = { 0 }, *slot;

		if (!target_of((const uint8_t *)data + at, step, stub.vaddr, &key.vaddr))
			continue;
		slot = bsearch(&key, p->slots, p->n_slots, sizeof(key), compare_slots);
		if (!slot)
			continue;
		stub.name = slot->name;
		if (p->n_stubs >= MAX_SLOTS)
			return -E2BIG;
		if (ARRAY_RESERVE(p->stubs, p->cap_stubs, p->n_stubs) < 0)
			return -ENOMEM;
		p->stubs[p->n_stubs++] = stub;
	}
	return 0;
}

static int compare_stubs(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

int plt_new(const struct elf_file *ef, struct plt **out)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	struct plt *p;
	int err = 0;

	if (ef->machine != EM_X86_64)
		return -ENOENT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (size_t i = 0; !err && i < ef->n_sections; i++)
		err = read_slots(p, ef, &ef->sections[i]);
	if (!err && p->n_slots) {
		qsort(p->slots, p->n_slots, sizeof(*p->slots), compare_slots);
		for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++)
			err = read_stubs(p, ef, names[i]);
	}
	free(p->slots);
	p->slots = NULL;
	if (!p->n_stubs) {
		plt_free(p);
		return err ? err : -ENOENT;
	}
	qsort(p->stubs, p->n_stubs, sizeof(*p->stubs), compare_stubs);
	*out = p;
	return 0;
}

void plt_free(struct plt *p)
{
	if (!p)
		return;
	free(p->slots);
	free(p->stubs);
	free(p);
}

const char *plt_find(const struct plt *p, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	size_t lo = ARRAY_COUNT_UP_TO(p->stubs, p->n_stubs, vaddr, vaddr);
	const struct stub *s;

	s = lo ? &p->stubs[lo - 1] : NULL;
	if (!s || vaddr - s->vaddr >= s->len)
		return NULL;
	*start = s->vaddr;
	*size = s->len;
	return s->name;
}

size_t plt_memory(const struct plt *p)
{
	return sizeof(*p) + p->cap_stubs * sizeof(*p->stubs);
}
