// SPDX-License-Identifier: Apache-2.0
#include "core/mem.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/array.h"
#include "core/file_read.h"
#include "core/reader.h"
#include "core/scoped.h"

/* A core of a process with more mappings than this is refused: vm.max_map_count is 65530 by
 * default. */
#define MAX_CORE_SEGMENTS (1u << 20)

struct core_segment {
	uint64_t addr, len, offset;
};

struct core_mem {
	struct mem m;
	int fd;
	struct core_segment *segments; /* sorted by addr, not empty, not overlapping */
	size_t n;
};

struct array_mem {
	struct mem m;
	uint64_t addr;
	const uint8_t *bytes;
	size_t len;
};

void mem_free(struct mem *m)
{
	if (m)
		m->ops->free(m);
}

/* All len bytes at a file offset, or -EFAULT at the end of what can be read. */
static int read_fully(int fd, uint64_t offset, void *buf, size_t len)
{
	size_t got;
	int err = file_read(fd, offset, buf, len, &got);

	return !err && got < len ? -EFAULT : err;
}

/* The segment that holds addr, or NULL. */
static const struct core_segment *core_find(const struct core_mem *core, uint64_t addr)
{
	size_t low = ARRAY_COUNT_UP_TO(core->segments, core->n, addr, addr);

	if (!low || addr - core->segments[low - 1].addr >= core->segments[low - 1].len)
		return NULL;
	return &core->segments[low - 1];
}

static int core_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	struct core_mem *core = (struct core_mem *)m;
	uint8_t *to = buf;

	while (len) {
		const struct core_segment *s = core_find(core, addr);
		uint64_t skip, part;

		if (!s)
			return -EFAULT;
		skip = addr - s->addr;
		part = s->len - skip < len ? s->len - skip : len;
		if (read_fully(core->fd, s->offset + skip, to, part) < 0)
			return -EFAULT;
		to += part;
		addr += part;
		len -= part;
	}
	return 0;
}

static void core_free(struct mem *m)
{
	struct core_mem *core = (struct core_mem *)m;

	if (core->fd >= 0)
		close(core->fd);
	free(core->segments);
	free(core);
}

struct core_header {
	uint64_t ph_offset, sh_offset;
	uint32_t n_segments;
};

/* Checks the file header; the number of segments may be in the first section header instead. */
static int core_header(int fd, struct core_header *h)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)], section[sizeof(Elf64_Shdr)];
	struct reader r;
	const uint8_t *ident;
	uint16_t type, machine;

	if (read_fully(fd, 0, bytes, sizeof(bytes)) < 0)
		return -EBADMSG;
	reader_init(&r, bytes, sizeof(bytes));
	ident = reader_bytes(&r, EI_NIDENT, "ident");
	type = reader_u16(&r, "type");
	machine = reader_u16(&r, "machine");
	reader_skip(&r, 4 + 8, "version and entry");
	h->ph_offset = reader_u64(&r, "program headers");
	h->sh_offset = reader_u64(&r, "section headers");
	reader_skip(&r, 4 + 2 + 2, "flags and sizes");
	h->n_segments = reader_u16(&r, "number of program headers");
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -EBADMSG;
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB || type != ET_CORE ||
	    (machine != EM_X86_64 && machine != EM_AARCH64))
		return -ENOTSUP;
	if (h->n_segments == PN_XNUM) {
		if (h->sh_offset > INT64_MAX ||
		    read_fully(fd, h->sh_offset, section, sizeof(section)) < 0)
			return -EBADMSG;
		reader_init(&r, section, sizeof(section));
		reader_skip(&r, 4 + 4 + 8 * 4 + 4, "section header");
		h->n_segments = reader_u32(&r, "sh_info");
	}
	return h->n_segments > MAX_CORE_SEGMENTS ? -E2BIG : 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int core_segments(struct core_mem *core, struct reader *r, uint64_t n)
{
	core->segments = calloc(n ? n : 1, sizeof(*core->segments));
	if (!core->segments)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		struct core_segment *s = &core->segments[core->n];
		uint32_t type = reader_u32(r, "segment type");

		reader_skip(r, 4, "segment flags");
		s->offset = reader_u64(r, "segment offset");
		s->addr = reader_u64(r, "segment address");
		reader_skip(r, 8, "physical address");
		s->len = reader_u64(r, "segment size in the file");
		reader_skip(r, 8 + 8, "segment size and alignment");
		if (type != PT_LOAD || !s->len)
			continue;
		if (s->offset > INT64_MAX || s->len > INT64_MAX - s->offset ||
		    s->addr + s->len < s->addr)
			return -EBADMSG;
		core->n++;
	}
	qsort(core->segments, core->n, sizeof(*core->segments), by_addr);
	for (size_t i = 1; i < core->n; i++)
		if (core->segments[i].addr - core->segments[i - 1].addr < core->segments[i - 1].len)
			return -EBADMSG;
	return reader_error(r);
}

static int core_load(struct core_mem *core, const char *path)
{
	SCOPED(free) uint8_t *bytes = NULL;
	struct core_header h;
	struct reader r;
	size_t len;
	int err;

	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (core->fd < 0)
		return -errno;
	err = core_header(core->fd, &h);
	if (err < 0)
		return err;
	len = h.n_segments * sizeof(Elf64_Phdr);
	bytes = malloc(len ? len : 1);
	if (!bytes)
		return -ENOMEM;
	if (h.ph_offset > INT64_MAX || read_fully(core->fd, h.ph_offset, bytes, len) < 0)
		return -EBADMSG;
	reader_init(&r, bytes, len);
	return core_segments(core, &r, h.n_segments);
}

struct mem *mem_core(const char *path, int *err)
{
	static const struct mem_ops ops = { .read = core_read, .free = core_free };
	struct core_mem *core = calloc(1, sizeof(*core));
	int failed;

	if (!core) {
		*err = -ENOMEM;
		return NULL;
	}
	core->m.ops = &ops;
	core->fd = -1;
	failed = core_load(core, path);
	if (failed < 0) {
		*err = failed;
		core_free(&core->m);
		return NULL;
	}
	return &core->m;
}

static int array_read(struct mem *m, uint64_t addr, void *buf, size_t len)
{
	const struct array_mem *a = (const struct array_mem *)m;

	if (addr < a->addr || addr - a->addr > a->len || len > a->len - (addr - a->addr))
		return -EFAULT;
	if (len)
		memcpy(buf, a->bytes + (addr - a->addr), len);
	return 0;
}

static void array_free(struct mem *m)
{
	free(m);
}

struct mem *mem_array(uint64_t addr, const void *bytes, size_t len)
{
	static const struct mem_ops ops = { .read = array_read, .free = array_free };
	struct array_mem *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	*a = (struct array_mem){ { &ops }, addr, bytes, len };
	return &a->m;
}
