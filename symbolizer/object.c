// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/object.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/filemap.h"
#include "core/intern.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/text.h"
#include "symbolizer/name_cache.h"
#include "symbolizer/objects.h"
#include "symbolizer/symbols.h"

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "weft knows no such architecture"
#endif

static bool is_code(const struct elf_segment *s)
{
	return s->type == PT_LOAD && s->flags & PF_X;
}

static int find_code(struct object *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->elf.n_segments; i++)
		n += is_code(&o->elf.segments[i]);
	o->segments = calloc(n ? n : 1, sizeof(*o->segments));
	if (!o->segments)
		return -ENOMEM;
	for (size_t i = 0; i < o->elf.n_segments; i++) {
		const struct elf_segment *s = &o->elf.segments[i];

		if (is_code(s))
			o->segments[o->n_segments++] =
				(struct segment){ s->vaddr, s->memsz, s->offset, s->filesz };
	}
	return 0;
}

int object_init(struct object *o, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	int err = elf_file_init(&o->elf, data, len);

	if (err < 0)
		return err;
	if (o->elf.machine != OWN_MACHINE || (o->elf.type != ET_EXEC && o->elf.type != ET_DYN) ||
	    !o->elf.n_segments)
		return -ENOTSUP;
	err = find_code(o);
	if (err < 0)
		return err;
	for (size_t i = 0; i < o->elf.build_id_len; i++) {
		o->build_id[2 * i] = digits[o->elf.build_id[i] >> 4];
		o->build_id[2 * i + 1] = digits[o->elf.build_id[i] & 15];
	}
	return 0;
}

void object_free(struct object *o)
{
	if (!o)
		return;
	if (o->release)
		o->release(o->priv);
	symbols_free(o->symbols);
	debug_file_deinit(&o->debug);
	elf_bytes_deinit(&o->debug_frame, objects_room(o->owner));
	elf_file_deinit(&o->elf);
	filemap_free(o->map);
	free(o->bytes);
	free(o->segments);
	free(o->path);
	free(o);
}

const struct file_key *object_key(const struct object *o)
{
	return &o->key;
}

const char *object_path(const struct object *o)
{
	return o->path;
}

const char *object_build_id(const struct object *o)
{
	return o->build_id;
}

const struct segment *object_segments(const struct object *o, size_t *n)
{
	*n = o->n_segments;
	return o->segments;
}

uint64_t object_entry(const struct object *o)
{
	return o->elf.entry;
}

bool object_is_go(const struct object *o)
{
	return o->elf.has_go_note || elf_file_section(&o->elf, ".gopclntab", NULL) ||
	       elf_file_section(&o->elf, ".data.rel.ro.gopclntab", NULL);
}

/* Segments are mapped by whole pages, so an offset may lie up to a page outside of the one it
 * belongs to. */
static bool segment_has(const struct segment *s, uint64_t offset, uint64_t slack)
{
	uint64_t start = s->offset & ~slack, end;

	if (__builtin_add_overflow(s->offset, s->filesz, &end) ||
	    __builtin_add_overflow(end, slack, &end))
		return false;
	return offset >= start && offset < (end & ~slack);
}

bool object_vaddr(const struct object *o, uint64_t file_offset, uint64_t *vaddr)
{
	const uint64_t slacks[] = { 0, (uint64_t)sysconf(_SC_PAGESIZE) - 1 };

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < o->n_segments; i++) {
			const struct segment *s = &o->segments[i];

			if (!segment_has(s, file_offset, slacks[k]))
				continue;
			*vaddr = s->vaddr + (file_offset - s->offset);
			return true;
		}
	}
	return false;
}

bool object_symbol(struct object *o, const char *name, uint64_t *vaddr, uint64_t *size)
{
	return symtab_by_name(&o->elf, ".dynsym", name, vaddr, size) ||
	       symtab_by_name(&o->elf, ".symtab", name, vaddr, size);
}

const struct tls_symbol *object_otel_context(struct object *o)
{
	if (!o->is_tls_searched)
		o->otel_context = tls_symbol_find(&o->elf, "otel_thread_ctx_v1");
	o->is_tls_searched = true;
	return &o->otel_context;
}

void object_set_private(struct object *o, void *priv, void (*release)(void *priv))
{
	if (o->release && o->priv != priv)
		o->release(o->priv);
	o->priv = priv;
	o->release = release;
}

void *object_private(const struct object *o)
{
	return o->priv;
}

/* The debug file, looked for once; nobody needs one for a file that has it all. */
static const struct debug_file *need_debug(struct object *o)
{
	struct debug_search search = objects_search(o->owner, -1);

	if (!o->is_debug_searched && !o->debug.map &&
	    !elf_file_section(&o->elf, ".debug_info", NULL))
		debug_file_find(&search, &o->elf, o->path, &o->debug);
	o->is_debug_searched = true;
	return &o->debug;
}

bool object_is_cut(struct object *o)
{
	bool is_cut = (o->map && filemap_is_cut(o->map)) ||
		      (o->debug.map && filemap_is_cut(o->debug.map)) ||
		      (o->symbols && symbols_is_cut(o->symbols));

	if (is_cut && !o->is_cut) {
		log_debug("%s was cut while it was read", o->path);
		objects_count_cut(o->owner);
		o->is_cut = true;
	}
	return o->is_cut;
}

/* Forgets the names when the file is not what it was; false then. */
static bool is_still_whole(struct object *o)
{
	if (!object_is_cut(o))
		return true;
	symbols_free(o->symbols);
	o->symbols = NULL;
	return false;
}

static struct symbols *new_symbols(struct object *o)
{
	struct symbols_input in = { .elf = &o->elf,
				    .debug = need_debug(o),
				    .search = objects_search(o->owner, -1),
				    .path = o->path,
				    .room = objects_room(o->owner),
				    .memory = objects_memory_cap(o->owner),
				    .is_spent = o->is_spent };

	return symbols_new(&in);
}

/* May the symbols of others be dropped for these? Files that do not fit side by side take turns,
   but spend no more than a sixteenth of the time on reading each other's again. */
static bool may_make_room(const struct object *o)
{
	return !o->is_too_large && clock_ns(CLOCK_MONOTONIC) - o->dropped_ns >= 16 * o->read_ns;
}

static void read_symbols(struct object *o)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	o->symbols = new_symbols(o);
	if (o->symbols && symbols_is_short(o->symbols) && may_make_room(o)) {
		symbols_free(o->symbols);
		objects_drop_others(o->owner, o);
		o->symbols = new_symbols(o);
		if (o->symbols && symbols_is_short(o->symbols)) {
			log_debug("%s needs more memory for its symbols than there is", o->path);
			objects_count_refused(o->owner);
			o->is_too_large = true;
		}
	}
	o->read_ns = clock_ns(CLOCK_MONOTONIC) - start;
}

/* The sources of names, opened when they are first needed; NULL without memory, or when the file
   was cut. */
static struct symbols *need_symbols(struct object *o)
{
	objects_touch(o);
	if (o->symbols && symbols_is_short(o->symbols) && may_make_room(o)) {
		symbols_free(o->symbols);
		o->symbols = NULL;
	}
	if (!o->symbols && is_still_whole(o))
		read_symbols(o);
	is_still_whole(o);
	return o->symbols;
}

static bool plain_section(const struct elf_file *ef, const char *name, const void **data,
			  size_t *len, uint64_t *vaddr)
{
	struct elf_section s;

	if (!elf_file_section(ef, name, &s) || s.flags & SHF_COMPRESSED ||
	    !elf_file_raw(ef, &s, data, len))
		return false;
	*vaddr = s.vaddr;
	return true;
}

/* .debug_frame, from the debug file and decompressed if need be. */
static bool debug_frame(struct object *o, const void **data, size_t *len, uint64_t *vaddr)
{
	bool is_own = elf_file_section(&o->elf, ".debug_frame", NULL);
	const struct elf_file *ef = is_own ? &o->elf : &need_debug(o)->elf;

	*vaddr = 0;
	if (!o->debug_frame.data &&
	    elf_file_bytes(ef, ".debug_frame", objects_room(o->owner), &o->debug_frame) < 0)
		return false;
	*data = o->debug_frame.data;
	*len = o->debug_frame.len;
	return true;
}

bool object_section(struct object *o, const char *name, const void **data, size_t *len,
		    uint64_t *vaddr)
{
	if (!strcmp(name, ".eh_frame"))
		return elf_file_eh_frame(&o->elf, data, len, vaddr);
	if (!strcmp(name, ".debug_frame"))
		return debug_frame(o, data, len, vaddr);
	return plain_section(&o->elf, name, data, len, vaddr);
}

/* Stands in for a name that nobody knows: where the function begins. */
static bool name_by_start(const struct object *o, uint64_t vaddr, char *name, size_t size,
			  struct name_line *line)
{
	uint64_t start, len;

	if (!*o->path || !symbols_function(o->symbols, vaddr, &start, &len))
		return false;
	/* Of a long path the beginning is enough; the address must stay. */
	snprintf(name, size, "%.100s+0x%" PRIx64, path_basename(o->path), start);
	*line = (struct name_line){ .name = name, .system_name = name };
	return true;
}

size_t object_symbolize(struct object *o, uint64_t vaddr, struct profile *p, struct line *out,
			size_t max, uint16_t *flags)
{
	struct name_cache *names = objects_names(o->owner);
	struct name_line lines[MAX_INLINE_DEPTH];
	uint16_t found = 0;
	char name[128];
	size_t n = 0;

	if (!name_cache_find(names, o->id, vaddr, p, out, max, &n, &found)) {
		objects_trim(o->owner, o);
		if (need_symbols(o))
			n = symbols_find(o->symbols, names, vaddr, lines, MAX_INLINE_DEPTH, &found);
		if (!is_still_whole(o))
			n = found = 0;
		if (!n && o->symbols && name_by_start(o, vaddr, name, sizeof(name), lines)) {
			found = LOCATION_UNNAMED;
			n = 1;
		}
		if (name_cache_add(names, o->id, vaddr, lines, n, found) < 0 ||
		    !name_cache_find(names, o->id, vaddr, p, out, max, &n, &found))
			return 0;
	}
	*flags |= found;
	return n;
}

bool object_function(struct object *o, uint64_t vaddr, uint64_t *start, uint64_t *size)
{
	return need_symbols(o) && symbols_function(o->symbols, vaddr, start, size) &&
	       is_still_whole(o);
}

const char *object_symbol_source(struct object *o)
{
	return need_symbols(o) ? symbols_source(o->symbols) : "none";
}
