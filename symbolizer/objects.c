// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/array.h"
#include "core/clock.h"
#include "core/filemap.h"
#include "core/intern.h"
#include "symbolizer/name_cache.h"
#include "symbolizer/symbols.h"

#define N_BUCKETS 1024
#define MAX_ON_DISK (512 << 20) /* of decompressed sections */
#define TRIM_EVERY 256		/* cold lookups between two sums over all objects */
#define SKELETON_SHARE 4 /* the part of the memory that files may take that are only mapped */

struct objects {
	struct object_options options;
	struct object **list; /* by id - 1 */
	size_t n, cap;
	struct object *buckets[N_BUCKETS];
	struct name_cache *names;
	struct stat own_root;
	struct debug_sums sums;
	uint64_t refused, n_cut;
	struct elf_room room;	  /* for what is unpacked and the tables, of all objects */
	uint64_t skeleton_memory; /* of what stays as long as the objects */
	uint64_t clock;
	unsigned int until_trim;
};

struct objects *objects_new(const struct object_options *opt)
{
	static const char *const default_dirs[] = { "/usr/lib/debug", NULL };
	struct objects *os = calloc(1, sizeof(*os));

	if (!os)
		return NULL;
	if (opt)
		os->options = *opt;
	if (!os->options.debug_dirs)
		os->options.debug_dirs = default_dirs;
	os->room = (struct elf_room){ os->options.memory ? os->options.memory : UINT64_MAX,
				      MAX_ON_DISK };
	stat("/", &os->own_root);
	os->names = name_cache_new();
	if (!os->names) {
		objects_free(os);
		return NULL;
	}
	return os;
}

void objects_free(struct objects *os)
{
	if (!os)
		return;
	for (size_t i = 0; i < os->n; i++)
		object_free(os->list[i]);
	name_cache_free(os->names);
	free(os->list);
	free(os);
}

struct name_cache *objects_names(struct objects *os)
{
	return os->names;
}

uint64_t objects_memory_cap(const struct objects *os)
{
	return os->options.memory / 4 * 3; /* the rest is for names that are cached */
}

struct elf_room *objects_room(struct objects *os)
{
	return &os->room;
}

struct debug_search objects_search(struct objects *os, int root_fd)
{
	return (struct debug_search){ .dirs = os->options.debug_dirs,
				      .root_fd = root_fd,
				      .debuginfod = root_fd < 0 ? &os->options.debuginfod : NULL,
				      .refused = &os->refused,
				      .sums = &os->sums };
}

static size_t bucket_of(const struct file_key *key)
{
	return hash_bytes(key, sizeof(*key)) % N_BUCKETS;
}

struct object *objects_find(struct objects *os, const struct file_key *key)
{
	for (struct object *o = os->buckets[bucket_of(key)]; o; o = o->next)
		if (!memcmp(&o->key, key, sizeof(*key)))
			return o;
	return NULL;
}

static int add_object(struct objects *os, struct object *o)
{
	size_t bucket = bucket_of(&o->key);

	if (ARRAY_RESERVE(os->list, os->cap, os->n) < 0)
		return -ENOMEM;
	os->list[os->n++] = o;
	o->id = (uint32_t)os->n;
	o->next = os->buckets[bucket];
	os->buckets[bucket] = o;
	return 0;
}

static struct object *new_object(struct objects *os, const struct file_key *key, const char *path)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->owner = os;
	o->key = *key;
	o->path = strdup(path ? path : "");
	if (!o->path) {
		object_free(o);
		return NULL;
	}
	return o;
}

static uint64_t skeleton_memory(const struct object *o)
{
	return sizeof(*o) + strlen(o->path) + o->elf.n_segments * sizeof(*o->elf.segments) +
	       o->n_segments * sizeof(*o->segments) + (o->bytes ? o->elf.len : 0);
}

/* A target can map as many files as it likes: they are not to cost everybody their stacks. */
static int take_share(struct objects *os, const struct object *o)
{
	uint64_t more = skeleton_memory(o), max = os->options.memory / SKELETON_SHARE;

	if (os->options.memory && os->skeleton_memory + more > max) {
		os->refused++;
		return -E2BIG;
	}
	os->skeleton_memory += more;
	return 0;
}

static struct object *finish_object(struct objects *os, struct object *o, const void *data,
				    size_t len, int *err)
{
	*err = object_init(o, data, len);
	if (!*err && o->map && filemap_is_cut(o->map))
		*err = -EBADMSG;
	if (!*err)
		*err = take_share(os, o);
	if (!*err)
		*err = add_object(os, o);
	if (!*err)
		return o;
	object_free(o);
	return NULL;
}

static bool is_foreign_root(const struct objects *os, int root_fd)
{
	struct stat st;

	return root_fd >= 0 && fstat(root_fd, &st) == 0 &&
	       (st.st_dev != os->own_root.st_dev || st.st_ino != os->own_root.st_ino);
}

/* Another root is there only now; our own is searched when names are asked for. */
static void search_now(struct objects *os, struct object *o, int root_fd)
{
	struct debug_search search = objects_search(os, root_fd);

	if (!elf_file_section(&o->elf, ".debug_info", NULL))
		debug_file_find(&search, &o->elf, o->path, &o->debug);
}

struct object *objects_get(struct objects *os, int fd, const char *path, int root_fd, int *err)
{
	struct file_key key = { 0 };
	struct object *o;
	struct stat st;

	if (fstat(fd, &st) < 0) {
		*err = -errno;
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		*err = -EINVAL;
		return NULL;
	}
	key = (struct file_key){ st.st_dev, st.st_ino, (uint64_t)st.st_size,
				 st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec };
	o = objects_find(os, &key);
	if (o)
		return o;
	*err = -ENOMEM;
	o = new_object(os, &key, path);
	if (o)
		o->map = filemap_new(fd, err);
	if (!o || !o->map) {
		object_free(o);
		return NULL;
	}
	o = finish_object(os, o, filemap_data(o->map), filemap_len(o->map), err);
	if (o && is_foreign_root(os, root_fd))
		search_now(os, o, root_fd);
	return o;
}

struct object *objects_get_bytes(struct objects *os, const void *bytes, size_t len,
				 const char *path, int *err)
{
	/* No file has device 0; the content stands for the inode. */
	struct file_key key = { .ino = hash_bytes(bytes, len), .size = len };
	struct object *o = objects_find(os, &key);

	if (o && !memcmp(o->bytes, bytes, len))
		return o;
	*err = -ENOMEM;
	o = new_object(os, &key, path);
	if (o)
		o->bytes = malloc(len + 1); /* one zero behind the last byte, as with a file */
	if (!o || !o->bytes) {
		object_free(o);
		return NULL;
	}
	memcpy(o->bytes, bytes, len);
	((char *)o->bytes)[len] = 0;
	return finish_object(os, o, o->bytes, len, err);
}

static size_t object_memory(const struct object *o)
{
	size_t debug = o->debug.elf.n_segments * sizeof(*o->debug.elf.segments);

	return skeleton_memory(o) + debug + elf_bytes_memory(&o->debug_frame) +
	       (o->symbols ? symbols_memory(o->symbols) : 0);
}

size_t objects_memory(const struct objects *os)
{
	size_t n = sizeof(*os) + os->cap * sizeof(*os->list) + name_cache_memory(os->names);

	for (size_t i = 0; i < os->n; i++)
		n += object_memory(os->list[i]);
	return n;
}

uint64_t objects_refused(const struct objects *os)
{
	return os->refused;
}

uint64_t objects_cut(const struct objects *os)
{
	return os->n_cut;
}

void objects_count_cut(struct objects *os)
{
	os->n_cut++;
}

void objects_count_refused(struct objects *os)
{
	os->refused++;
}

void objects_touch(struct object *o)
{
	o->last_used = ++o->owner->clock;
}

/* Or a file that costs much could be made to cost it again after each trim. */
static void drop_symbols(struct object *o)
{
	if (!o->symbols)
		return;
	o->is_spent = symbols_is_spent(o->symbols);
	symbols_free(o->symbols);
	o->symbols = NULL;
	o->dropped_ns = clock_ns(CLOCK_MONOTONIC);
}

void objects_drop_others(struct objects *os, const struct object *keep)
{
	for (size_t i = 0; i < os->n; i++)
		if (os->list[i] != keep)
			drop_symbols(os->list[i]);
}

static struct object *least_used(const struct objects *os, const struct object *keep)
{
	struct object *least = NULL;

	for (size_t i = 0; i < os->n; i++) {
		struct object *o = os->list[i];

		if (o->symbols && o != keep && (!least || o->last_used < least->last_used))
			least = o;
	}
	return least;
}

void objects_trim(struct objects *os, const struct object *keep)
{
	uint64_t cap = os->options.memory;
	struct object *o;

	if (!cap || os->until_trim--)
		return;
	os->until_trim = TRIM_EVERY;
	if (name_cache_memory(os->names) > cap / 4)
		name_cache_flush(os->names);
	while (objects_memory(os) > cap && (o = least_used(os, keep))) {
		drop_symbols(o);
	}
}

void objects_flush(struct objects *os)
{
	name_cache_flush(os->names);
	objects_drop_others(os, NULL);
}

static uint64_t room_memory(const struct objects *os)
{
	return os->options.memory ? os->options.memory : UINT64_MAX;
}

void objects_limit(struct objects *os, uint64_t memory)
{
	uint64_t used = room_memory(os) - os->room.memory;

	if (os->options.memory && memory >= os->options.memory)
		return;
	os->options.memory = memory;
	os->room.memory = memory > used ? memory - used : 0;
}
