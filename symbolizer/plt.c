// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/plt.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hurry.h"
#include "core/reader.h"

#define MAX_SLOTS (1 << 18)
#define MAX_NAME 4096
/* Bytes that may be looked at in all: many sections may mean the same ones. Relocations of the
   largest programs are some 50 MB. */
#define MAX_WORK (UINT64_C(256) << 20)
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
	struct elf_room *room;
	uint64_t n_taken; /* of the room */
	uint64_t work;	  /* bytes looked at */
};

struct names { /* the symbol table that relocations refer to */
	const void *symbols, *strings;
	size_t symbols_len, strings_len;
};

static bool has_work(struct plt *p, uint64_t len)
{
	p->work += len;
	return p->work <= MAX_WORK && !hurry_is_on();
}

/* Room for one more element of an array that is sorted later on, for which it is copied. */
static int reserve(struct plt *p, void **array, size_t *cap, size_t n, size_t size)
{
	size_t before = *cap;
	int err;

	if (n < before)
		return 0;
	err = array_reserve(array, cap, n, size);
	if (err < 0)
		return err;
	if (!elf_room_take(p->room, 2 * (*cap - before) * size))
		return -E2BIG;
	p->n_taken += 2 * (*cap - before) * size;
	return 0;
}

static bool find_names(const struct elf_file *ef, uint32_t table, struct names *out)
{
	struct elf_section symbols, strings;

	return elf_file_section_at(ef, table, &symbols) &&
	       elf_file_raw(ef, &symbols, &out->symbols, &out->symbols_len) &&
	       elf_file_section_at(ef, symbols.link, &strings) &&
	       elf_file_raw(ef, &strings, &out->strings, &out->strings_len);
}

/* The name of a dynamic symbol by its number; NULL for one that has none. */
static const char *symbol_name(struct plt *p, const struct names *names, uint64_t index)
{
	const char *name;
	struct reader r;
	uint32_t at;

	if (index >= names->symbols_len / sizeof(Elf64_Sym))
		return NULL;
	reader_init(&r, names->symbols, names->symbols_len);
	reader_seek(&r, index * sizeof(Elf64_Sym), "symbol");
	at = reader_u32(&r, "symbol name");
	if (at >= names->strings_len)
		return NULL;
	reader_init(&r, (const char *)names->strings + at,
		    names->strings_len - at < MAX_NAME ? names->strings_len - at : MAX_NAME);
	p->work += reader_left(&r);
	name = reader_string(&r, "symbol name");
	p->work -= reader_left(&r);
	return name && *name ? name : NULL;
}

static int read_slots(struct plt *p, const struct elf_file *ef, const struct elf_section *s)
{
	struct names names;
	const void *data;
	struct reader r;
	size_t len;
	int err;

	if (s->type != SHT_RELA || !elf_file_raw(ef, s, &data, &len) ||
	    !find_names(ef, s->link, &names))
		return 0;
	reader_init(&r, data, len);
	while (reader_left(&r) >= sizeof(Elf64_Rela)) {
		struct slot slot = { .vaddr = reader_u64(&r, "relocation offset") };
		uint64_t info = reader_u64(&r, "relocation info");

		reader_u64(&r, "addend");
		if (!has_work(p, sizeof(Elf64_Rela)))
			return -E2BIG;
		if (ELF64_R_TYPE(info) != R_X86_64_JUMP_SLOT &&
		    ELF64_R_TYPE(info) != R_X86_64_GLOB_DAT)
			continue;
		slot.name = symbol_name(p, &names, ELF64_R_SYM(info));
		if (!slot.name)
			continue;
		if (p->n_slots >= MAX_SLOTS)
			return -E2BIG;
		err = reserve(p, (void **)&p->slots, &p->cap_slots, p->n_slots, sizeof(slot));
		if (err < 0)
			return err;
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
	struct elf_section s;
	const void *data;
	size_t len, step;
	int err;

	if (!elf_file_section(ef, name, &s) || !elf_file_raw(ef, &s, &data, &len))
		return 0;
	step = s.entsize == 8 ? 8 : STUB_LEN;
	for (size_t at = 0; len - at >= step; at += step) {
		struct stub stub = { s.vaddr + at, (uint32_t)step, NULL };
		struct slot key = { 0 }, *slot;

		if (!has_work(p, step))
			return -E2BIG;
		if (!target_of((const uint8_t *)data + at, step, stub.vaddr, &key.vaddr))
			continue;
		slot = bsearch(&key, p->slots, p->n_slots, sizeof(key), compare_slots);
		if (!slot)
			continue;
		stub.name = slot->name;
		if (p->n_stubs >= MAX_SLOTS)
			return -E2BIG;
		err = reserve(p, (void **)&p->stubs, &p->cap_stubs, p->n_stubs, sizeof(stub));
		if (err < 0)
			return err;
		p->stubs[p->n_stubs++] = stub;
	}
	return 0;
}

static int compare_stubs(const void *a, const void *b)
{
	const struct stub *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* The stubs with their names, by address. 0, also when there are none. */
static int fill(struct plt *p, const struct elf_file *ef)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	struct elf_section s;
	int err = 0;

	for (size_t i = 0; !err && elf_file_section_at(ef, i, &s); i++)
		err = read_slots(p, ef, &s);
	if (err < 0 || !p->n_slots)
		return err;
	qsort(p->slots, p->n_slots, sizeof(*p->slots), compare_slots);
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(*names); i++)
		err = read_stubs(p, ef, names[i]);
	if (p->n_stubs)
		qsort(p->stubs, p->n_stubs, sizeof(*p->stubs), compare_stubs);
	return err;
}

/* What was needed only while it was made. */
static void shrink(struct plt *p)
{
	uint64_t stays = p->cap_stubs * sizeof(*p->stubs);

	free(p->slots);
	p->slots = NULL;
	if (p->n_taken > stays) {
		elf_room_give(p->room, p->n_taken - stays);
		p->n_taken = stays;
	}
}

int plt_new(const struct elf_file *ef, struct elf_room *room, struct plt **out)
{
	struct plt *p;
	int err;

	if (ef->machine != EM_X86_64)
		return -ENOENT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->room = room;
	err = fill(p, ef);
	shrink(p);
	if (err < 0 || !p->n_stubs) {
		plt_free(p);
		return err ? err : -ENOENT;
	}
	*out = p;
	return 0;
}

void plt_free(struct plt *p)
{
	if (!p)
		return;
	elf_room_give(p->room, p->n_taken);
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
