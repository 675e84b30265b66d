// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/filemap.h"
#include "core/hurry.h"
#include "core/located.h"
#include "core/log.h"
#include "core/reader.h"
#include "core/scoped.h"
#include "core/text.h"
#include "symbolizer/debuginfod.h"

#define PIECE_LEN (1u << 22)		   /* of what is summed up: a millisecond or two */
#define MAX_DEBUG_FILE (UINT64_C(1) << 30) /* the CRC has to read all of it */
#define MAX_SUMMED (UINT64_C(2) << 30)	   /* some seconds */
#define MAX_LINK 4096			   /* a path and a build id or a CRC */
#define N_SUMS (sizeof(((struct debug_sums *)0)->list) / sizeof(struct debug_sum))

struct wanted { /* what a candidate has to agree with */
	const uint8_t *build_id;
	size_t build_id_len; /* 0: anything */
	bool has_crc;
	uint32_t crc;
};

void debug_file_deinit(struct debug_file *f)
{
	elf_file_deinit(&f->elf);
	filemap_free(f->map);
	free(f->path);
	*f = (struct debug_file){ 0 };
}

static uint32_t crc_of(const uint8_t *data, size_t len)
{
	uLong crc = crc32(0, NULL, 0);

	for (size_t done = 0; done < len && !hurry_is_on();) {
		uInt part = len - done > PIECE_LEN ? PIECE_LEN : (uInt)(len - done);

		crc = crc32(crc, data + done, part);
		done += part;
	}
	return (uint32_t)crc;
}

static struct debug_sum identity_of(const struct stat *st)
{
	return (struct debug_sum){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.len = (uint64_t)st->st_size,
		.mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
		.ctime_ns = st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec,
	};
}

static bool is_same(const struct debug_sum *a, const struct debug_sum *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->len == b->len &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* A file's CRC, summed up only once. False: it was not, as too much was already. */
static bool find_crc(struct debug_sums *sums, const struct filemap *map, const struct stat *st,
		     uint32_t *crc)
{
	struct debug_sum sum = identity_of(st);

	for (size_t i = 0; sums && i < sums->n && i < N_SUMS; i++) {
		if (is_same(&sums->list[i], &sum)) {
			*crc = sums->list[i].crc;
			return true;
		}
	}
	if (sums && filemap_len(map) > MAX_SUMMED - sums->n_bytes)
		return false;
	*crc = sum.crc = crc_of(filemap_data(map), filemap_len(map));
	if (sums && !hurry_is_on() && !filemap_is_cut(map)) {
		sums->n_bytes += filemap_len(map);
		sums->list[sums->n++ % N_SUMS] = sum;
	}
	return true;
}

static bool agrees(const struct debug_file *f, const struct stat *st, struct debug_sums *sums,
		   const struct wanted *want)
{
	uint32_t crc;

	/* A file whose own build id differs is another build, whatever its CRC says. */
	if (want->build_id_len && (f->elf.build_id_len || !want->has_crc) &&
	    (f->elf.build_id_len != want->build_id_len ||
	     memcmp(f->elf.build_id, want->build_id, want->build_id_len)))
		return false;
	return !want->has_crc || (find_crc(sums, f->map, st, &crc) && crc == want->crc);
}

/* Takes an open candidate if it is what is wanted; fd < 0: one that must not be opened. */
static int take(const struct debug_search *search, int fd, const char *path,
		const struct wanted *want, struct debug_file *out)
{
	struct debug_file f = { 0 };
	struct stat st;
	int err = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size <= MAX_DEBUG_FILE)
		f.map = filemap_new(fd, &err);
	if (f.map && !elf_file_init(&f.elf, filemap_data(f.map), filemap_len(f.map)) &&
	    agrees(&f, &st, search->sums, want) && (f.path = strdup(path))) {
		*out = f;
		return 0;
	}
	debug_file_deinit(&f);
	if (hurry_is_on())
		return -ENOENT;
	if (search->refused)
		++*search->refused;
	log_debug("a debug file was refused: wrong build id, wrong CRC, too large or no ELF file");
	return -ENOENT;
}

static int try_path(const struct debug_search *search, int root_fd, const char *path,
		    const struct wanted *want, struct debug_file *out)
{
	SCOPED(close) int own = root_fd < 0 ? open("/", O_PATH | O_CLOEXEC) : -1;
	SCOPED(close) int located = located_below(root_fd < 0 ? own : root_fd, path, 0);
	SCOPED(close) int fd = -1;
	struct stat st;

	if (located < 0)
		return -ENOENT;
	fd = located_open(located, &st);
	return fd == -EACCES || fd == -EPERM ? -ENOENT : take(search, fd, path, want, out);
}

static int try_build_id(const struct debug_search *search, const struct wanted *want,
			struct debug_file *out)
{
	char hex[2 * sizeof(((struct elf_file *)0)->build_id) + 1] = "";

	if (want->build_id_len < 2)
		return -ENOENT;
	for (size_t i = 0; i < want->build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", want->build_id[i]);
	for (size_t i = 0; search->dirs[i]; i++) {
		SCOPED(free) char *path = NULL;

		if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", search->dirs[i], hex, hex + 2) <
		    0)
			return -ENOMEM;
		/* Files for a container may lie in it, or be brought by whoever profiles it. */
		if (!try_path(search, search->root_fd, path, want, out) ||
		    (search->root_fd >= 0 && !try_path(search, -1, path, want, out)))
			return 0;
	}
	return -ENOENT;
}

/* The name and CRC in .gnu_debuglink; false for none or one that is refused. */
static bool read_link(const struct debug_search *search, const struct elf_file *elf,
		      const char **name, uint32_t *crc)
{
	struct elf_bytes bytes;
	struct reader r;

	if (elf_file_bytes(elf, ".gnu_debuglink", NULL, &bytes) < 0)
		return false;
	reader_init(&r, bytes.data, bytes.len < MAX_LINK ? bytes.len : MAX_LINK);
	*name = reader_string(&r, "debug link");
	reader_skip(&r, -reader_offset(&r) & 3, "padding");
	*crc = reader_u32(&r, "CRC of the debug file");
	if (!reader_error(&r) && **name && !strchr(*name, '/') && strcmp(*name, "..") &&
	    strcmp(*name, "."))
		return true;
	if (search->refused)
		++*search->refused;
	return false;
}

static int try_link(const struct debug_search *search, const struct elf_file *elf, const char *path,
		    struct wanted *want, struct debug_file *out)
{
	const char *slash = strrchr(path, '/'), *name;
	int dir_len = slash ? (int)(slash - path) : 0;

	if (!slash || strlen(path) > 4096 || !read_link(search, elf, &name, &want->crc))
		return -ENOENT;
	want->has_crc = true;
	for (size_t i = 0; i < 2 || search->dirs[i - 2]; i++) {
		SCOPED(free) char *at = NULL;
		int len;

		if (i < 2)
			len = asprintf(&at, "%.*s/%s%s", dir_len, path, i ? ".debug/" : "", name);
		else
			len = asprintf(&at, "%s%s%.*s/%s", search->dirs[i - 2],
				       *path == '/' ? "" : "/", dir_len, path, name);
		if (len < 0)
			return -ENOMEM;
		/* A link may name the file it is in. */
		if (strcmp(at, path) && !try_path(search, search->root_fd, at, want, out))
			return 0;
	}
	return -ENOENT;
}

static int try_debuginfod(const struct debug_search *search, const char *name,
			  const struct wanted *want, struct debug_file *out)
{
	SCOPED(close) int fd = -1;
	SCOPED(free) char *path = NULL;
	char safe[256];

	if (!search->debuginfod || !*search->debuginfod || !want->build_id_len)
		return -ENOENT;
	fd = debuginfod_fetch(text_safe(path_basename(name), safe, sizeof(safe)), want->build_id,
			      want->build_id_len, &path);
	if (fd == -ETIMEDOUT || fd == -ENOTSUP) {
		log_info("debuginfod is not asked again: %s",
			 fd == -ETIMEDOUT ? "it took too long" : "libdebuginfod is not installed");
		*search->debuginfod = false;
	}
	return fd < 0 ? -ENOENT : take(search, fd, path, want, out);
}

int debug_file_find(const struct debug_search *search, const struct elf_file *elf, const char *path,
		    struct debug_file *out)
{
	struct wanted want = { .build_id = elf->build_id, .build_id_len = elf->build_id_len };
	struct wanted want_linked = want;
	int err = try_build_id(search, &want, out);

	if (err == -ENOENT)
		err = try_link(search, elf, path, &want_linked, out);
	if (err == -ENOENT)
		err = try_debuginfod(search, path, &want, out);
	return err;
}

int debug_file_find_alt(const struct debug_search *search, const struct elf_file *elf,
			const char *path, struct debug_file *out)
{
	const char *slash = strrchr(path, '/'), *name;
	SCOPED(free) char *beside = NULL;
	struct wanted want = { 0 };
	struct elf_bytes bytes;
	struct reader r;

	if (elf_file_bytes(elf, ".gnu_debugaltlink", NULL, &bytes) < 0 || bytes.len > MAX_LINK)
		return -ENOENT;
	reader_init(&r, bytes.data, bytes.len);
	name = reader_string(&r, "alternate debug link");
	want.build_id_len = reader_left(&r);
	want.build_id = reader_bytes(&r, want.build_id_len, "build id");
	if (!name || !*name || want.build_id_len < 2 || want.build_id_len > sizeof(elf->build_id))
		return -ENOENT;
	if (!try_build_id(search, &want, out))
		return 0;
	/* This name is a path, "../" and all: it stays below the root, and the build id must agree.
	 */
	if (*name != '/' && slash &&
	    asprintf(&beside, "%.*s/%s", (int)(slash - path), path, name) < 0)
		return -ENOMEM;
	return try_path(search, search->root_fd, beside ? beside : name, &want, out);
}
