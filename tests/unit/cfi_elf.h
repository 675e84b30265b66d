/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the call frame sections of an ELF file, and libdw's answers to compare with. */
#ifndef TESTS_UNIT_CFI_ELF_H
#define TESTS_UNIT_CFI_ELF_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "unwinders/cfi.h"
#include "unwinders/table.h"

struct cfi_elf {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *cfi; /* libdw's */
	struct cfi_input in;
};

static inline void cfi_elf_section(struct cfi_elf *e, const char *name, struct cfi_section *out)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	elf_getshdrstrndx(e->elf, &names);
	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS ||
		    strcmp(elf_strptr(e->elf, names, sh.sh_name), name))
			continue;
		data = elf_rawdata(scn, NULL);
		*out = (struct cfi_section){ data->d_buf, data->d_size, sh.sh_addr };
	}
}

/* False: no such file. Close with cfi_elf_close(). */
static inline bool cfi_elf_open(struct cfi_elf *e, const char *path)
{
	memset(e, 0, sizeof(*e));
	elf_version(EV_CURRENT);
	e->fd = open(path, O_RDONLY | O_CLOEXEC);
	e->elf = e->fd >= 0 ? elf_begin(e->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (!e->elf) {
		if (e->fd >= 0)
			close(e->fd);
		return false;
	}
	cfi_elf_section(e, ".eh_frame", &e->in.eh_frame);
	cfi_elf_section(e, ".eh_frame_hdr", &e->in.eh_frame_hdr);
	e->cfi = dwarf_getcfi_elf(e->elf);
	return true;
}

static inline void cfi_elf_close(struct cfi_elf *e)
{
	dwarf_cfi_end(e->cfi);
	elf_end(e->elf);
	close(e->fd);
}

#endif
