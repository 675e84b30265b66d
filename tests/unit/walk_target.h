/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a stopped process (or a stack copied from this one) as what snapshot_walk() wants. */
#ifndef TESTS_UNIT_WALK_TARGET_H
#define TESTS_UNIT_WALK_TARGET_H

#include <errno.h>
#include <stdio.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "tests/unit/cfi_elf.h"
#include "bpf/counters.h"
#include "unwinders/arch.h"
#include "unwinders/snapshot.h"

#define TARGET_MAX_FILES 64
#define TARGET_STACK_PAGES 16

struct target_symbol {
	uint64_t start, size;
};

struct target_file {
	uint64_t start, end, bias;
	struct cfi_elf elf;
	bool has_elf;
	struct unwind_table table;
	struct target_symbol *symbols;
	size_t n_symbols;
};

struct target {
	pid_t pid;
	struct target_file files[TARGET_MAX_FILES];
	size_t n_files;
	bool hides_functions; /* answer no question about symbols */
	bool hides_memory;    /* nor about memory */
	uint8_t stack[TARGET_STACK_PAGES * SNAPSHOT_PAGE];
	uint8_t known[TARGET_STACK_PAGES];
};

static inline bool target_find(void *ctx, uint64_t pc, struct code_region *out)
{
	struct target *t = ctx;

	for (size_t i = 0; i < t->n_files; i++) {
		struct target_file *f = &t->files[i];

		if (pc < f->start || pc >= f->end)
			continue;
		*out = (struct code_region){ .start = f->start, .end = f->end, .bias = f->bias };
		out->table = f->table.words ? &f->table : NULL;
		out->cfi = f->has_elf ? &f->elf.in : NULL;
		return true;
	}
	return false;
}

static inline int target_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct target *t = ctx;
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };

	if (t->hides_memory)
		return -EFAULT;
	return process_vm_readv(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

static inline bool target_function(void *ctx, uint64_t pc, uint64_t *start, uint64_t *size)
{
	struct target *t = ctx;

	for (size_t i = 0; i < t->n_files && !t->hides_functions; i++) {
		struct target_file *f = &t->files[i];

		for (size_t j = 0; j < f->n_symbols && pc >= f->start && pc < f->end; j++) {
			struct target_symbol *s = &f->symbols[j];

			if (pc - f->bias - s->start >= s->size)
				continue;
			*start = s->start + f->bias;
			*size = s->size;
			return true;
		}
	}
	return false;
}

static inline void target_symbols(struct target_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	while ((scn = elf_nextscn(f->elf.elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB || !sh.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		f->symbols = calloc(sh.sh_size / sh.sh_entsize, sizeof(*f->symbols));
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++)
			if (gelf_getsym(data, (int)i, &sym) &&
			    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
				f->symbols[f->n_symbols++] =
					(struct target_symbol){ sym.st_value, sym.st_size };
	}
}

/* The bias of a mapping, by the load segment it is of. */
static inline uint64_t target_bias(Elf *elf, uint64_t start, uint64_t pgoff)
{
	GElf_Phdr ph;
	size_t n = 0;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && (ph.p_flags & PF_X))
			return start - (ph.p_vaddr - ph.p_offset + pgoff);
	return 0;
}

static inline void target_add(struct target *t, uint64_t start, uint64_t end, uint64_t pgoff,
			      const char *path)
{
	struct target_file *f = &t->files[t->n_files];
	char image[64];

	if (t->n_files == TARGET_MAX_FILES)
		return;
	*f = (struct target_file){ .start = start, .end = end };
	t->n_files++;
	if (strcmp(path, "[vdso]") == 0) { /* the same for all processes */
		FILE *out;
		uint8_t page[4096];

		snprintf(image, sizeof(image), "/tmp/weft-test-vdso-%d", getpid());
		out = fopen(image, "we");
		for (uint64_t at = start; out && at < end; at += sizeof(page))
			if (target_read(t, at, page, sizeof(page)) == 0)
				fwrite(page, sizeof(page), 1, out);
		if (out)
			fclose(out);
		f->has_elf = cfi_elf_open(&f->elf, image);
		unlink(image);
	} else {
		f->has_elf = path[0] == '/' && cfi_elf_open(&f->elf, path);
	}
	if (!f->has_elf)
		return;
	f->bias = target_bias(f->elf.elf, start, pgoff);
	target_symbols(f);
	cfi_build(&f->elf.in, &f->table);
}

/* Reads the executable mappings of a process. Close with target_close(). */
static inline void target_open(struct target *t, pid_t pid)
{
	char line[1024];
	FILE *maps;

	memset(t, 0, sizeof(*t));
	t->pid = pid;
	snprintf(line, sizeof(line), "/proc/%d/maps", pid);
	maps = fopen(line, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end, pgoff;
		char perms[8], path[512] = "";

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &start, &end, perms, &pgoff,
			   path) >= 4 &&
		    perms[2] == 'x' && strcmp(path, "[vsyscall]"))
			target_add(t, start, end, pgoff, path);
	}
	if (maps)
		fclose(maps);
}

static inline void target_close(struct target *t)
{
	for (size_t i = 0; i < t->n_files; i++) {
		unwind_table_deinit(&t->files[i].table);
		free(t->files[i].symbols);
		if (t->files[i].has_elf)
			cfi_elf_close(&t->files[i].elf);
	}
}

/* A snapshot of the thread whose registers these are; its stack is copied into the target. */
static inline struct snapshot target_snapshot(struct target *t, const struct user_regs_struct *r)
{
	struct snapshot s = {
		.regs = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
			  r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip },
		.valid_regs = 0x1ffff,
		.is_exact = true,
		.stack_start = (r->rsp - RED_ZONE) & ~(uint64_t)(SNAPSHOT_PAGE - 1),
		.stack = t->stack,
		.stack_len = sizeof(t->stack),
		.page_known = t->known,
		.is_stopped = true,
		.ctx = t,
		.find = target_find,
		.read = target_read,
		.function = target_function,
	};
	struct iovec local = { t->stack, sizeof(t->stack) }, remote = { 0, sizeof(t->stack) };
	ssize_t len;

	local.iov_base = t->stack;
	remote.iov_base = (void *)(uintptr_t)s.stack_start;
	len = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);
	for (ssize_t i = 0; i < TARGET_STACK_PAGES; i++)
		t->known[i] = len >= (i + 1) * SNAPSHOT_PAGE;
	return s;
}

static inline const char *target_where(struct target *t, uint64_t pc, char *buf, size_t len)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (pc >= t->files[i].start && pc < t->files[i].end) {
			snprintf(buf, len, "file %zu +0x%lx", i, (long)(pc - t->files[i].bias));
			return buf;
		}
	snprintf(buf, len, "0x%lx", (long)pc);
	return buf;
}

#endif
