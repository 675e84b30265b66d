/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the separate debug file of an object: by build id in the debug directories, by its
 * .gnu_debuglink beside it, in .debug/ and in the debug directories, and from debuginfod servers
 * when that is switched on.
 *
 * All of it is named by a file that we do not trust. Files are opened below the given root without
 * leaving it; a link's name may not contain '/'; the CRC and the build id must agree; only regular
 * files of at most 1 GiB count, and CRCs of at most 2 GiB in all. What fails such a rule is counted
 * as refused.
 */
#ifndef SYMBOLIZER_DEBUG_FILE_H
#define SYMBOLIZER_DEBUG_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/elf_file.h"

struct filemap;

/* What was summed up for CRCs so far: a target has as many small files as it likes that name one
   large file, or several. All zero at first. */
struct debug_sums {
	struct debug_sum {
		uint64_t dev, ino, len;
		int64_t mtime_ns, ctime_ns;
		uint32_t crc;
	} list[64]; /* the last ones, in a ring */
	size_t n;
	uint64_t n_bytes; /* of all */
};

struct debug_search {
	const char *const *dirs; /* NULL-terminated */
	int root_fd;		 /* -1: our own root */
	bool *debuginfod;	 /* asked when true; becomes false when a server took too long */
	uint64_t *refused;	 /* counts */
	struct debug_sums *sums; /* NULL: each file is summed up anew */
};

struct debug_file {
	struct filemap *map; /* NULL: none */
	struct elf_file elf;
	char *path;
};

/* path is the object's. 0; -ENOENT; -ENOMEM. */
int debug_file_find(const struct debug_search *search, const struct elf_file *elf, const char *path,
		    struct debug_file *out);
/* The DWZ file that a debug file (or object) refers to by .gnu_debugaltlink. */
int debug_file_find_alt(const struct debug_search *search, const struct elf_file *elf,
			const char *path, struct debug_file *out);
void debug_file_deinit(struct debug_file *f);

#endif
