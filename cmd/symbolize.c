// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cmd/output.h"
#include "cmd/sources.h"
#include "cmd/verb.h"
#include "core/located.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/scoped.h"
#include "core/text.h"
#include "symbolizer/object.h"

#define MISSING_SHOWN 5 /* binaries that are named in messages; the rest is counted */

/* What is known of the file behind a mapping. */
struct binary {
	struct object *object; /* NULL: there is none */
	const char *why;       /* no object */
	uint64_t n_locations;  /* without names */
	uint64_t n_named;
};

struct symbolizing {
	const struct options *opt;
	struct profile *profile;
	struct objects *objects;
	struct binary *binaries; /* by mapping id */
};

static struct object *open_object(struct symbolizing *s, const char *path, const char *build_id,
				  const char **why)
{
	SCOPED(close) int located = located_own(path);
	SCOPED(close) int fd = -1;
	struct object *o;
	struct stat st;
	int err;

	fd = located < 0 ? located : located_open(located, &st);
	if (fd < 0) {
		*why = fd == -EINVAL ? "no regular file" : strerror(-fd);
		return NULL;
	}
	o = objects_get(s->objects, fd, path, -1, &err);
	if (!o) {
		*why = "no ELF file of this architecture";
		return NULL;
	}
	if (*build_id && strcmp(object_build_id(o), build_id)) {
		*why = "its build id is another one";
		return NULL;
	}
	return o;
}

/* DIR/.build-id/ab/cdef….debug, for a build id that is really one: it comes from the profile. */
static struct object *open_by_build_id(struct symbolizing *s, const char *build_id)
{
	static const char *const usual[] = { "/usr/lib/debug" };
	const struct string_list *list = &s->opt->debug_dirs;
	size_t n = list->n ? list->n : 1, len = strlen(build_id);

	if (len < 4 || len > 2 * BUILD_ID_MAX || strspn(build_id, "0123456789abcdef") != len)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		SCOPED(free) char *path = NULL;
		const char *dir = list->n ? list->items[i] : usual[i], *why;
		struct object *o;

		if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", dir, build_id, build_id + 2) < 0)
			return NULL;
		o = open_object(s, path, build_id, &why);
		if (o)
			return o;
	}
	return NULL;
}

static void open_binary(struct symbolizing *s, uint32_t mapping, struct binary *b)
{
	const struct profile_mapping *m = profile_get_mapping(s->profile, mapping);
	const char *path = profile_get_string(s->profile, m->filename);
	const char *build_id = profile_get_string(s->profile, m->build_id);

	b->why = "it is no file";
	if (*path == '/')
		b->object = open_object(s, path, build_id, &b->why);
	if (!b->object)
		b->object = open_by_build_id(s, build_id);
}

static uint64_t page_of(uint64_t address)
{
	return address & ~UINT64_C(0xfff);
}

/* Is the mapping in ELF addresses, as weft writes them (or the program not relocatable)? */
static bool is_in_elf_addresses(const struct object *o, const struct profile_mapping *m)
{
	size_t n;
	const struct segment *s = object_segments(o, &n);

	/* Where it is at its offset, that may be all that was known. */
	for (; n; n--, s++)
		if (m->start == m->offset
			    ? page_of(m->start) == page_of(s->vaddr)
			    : m->start >= page_of(s->vaddr) && m->start < s->vaddr + s->memsz)
			return true;
	return false;
}

/* A mapping in file offsets, as weft writes it when it could not open the file, that is as long as
   the only executable segment is that segment. */
static bool address_in_segment(const struct object *o, const struct profile_mapping *m,
			       uint64_t address, uint64_t *vaddr)
{
	size_t n;
	const struct segment *s = object_segments(o, &n);

	if (n != 1 || m->start != m->offset || page_of(m->start) != m->start ||
	    m->limit - m->start != page_of(s->vaddr + s->memsz + 0xfff) - page_of(s->vaddr))
		return false;
	*vaddr = page_of(s->vaddr) + (address - m->start);
	return true;
}

/* File offsets lead to the address in any profile; a debug file has none, but weft's addresses
   need no conversion where it had the file. */
static bool address_in_object(const struct binary *b, const struct profile_mapping *m,
			      uint64_t address, uint64_t *vaddr)
{
	if (!b->object || address < m->start || (m->limit && address >= m->limit))
		return false;
	if (object_vaddr(b->object, address - m->start + m->offset, vaddr))
		return true;
	if (address_in_segment(b->object, m, address, vaddr))
		return true;
	*vaddr = address;
	return is_in_elf_addresses(b->object, m);
}

static void name_location(struct symbolizing *s, uint32_t id)
{
	struct location l = profile_get_location(s->profile, id);
	struct binary *b = &s->binaries[l.mapping];
	struct line lines[MAX_INLINE_DEPTH];
	uint16_t flags = 0;
	uint64_t vaddr;
	size_t n;

	if ((l.lines && !(l.flags & LOCATION_UNNAMED)) || !l.mapping ||
	    (l.kind != FRAME_NATIVE && l.kind != FRAME_UNKNOWN))
		return;
	if (!b->n_locations++)
		open_binary(s, l.mapping, b);
	if (!address_in_object(b, profile_get_mapping(s->profile, l.mapping), l.address, &vaddr))
		return;
	n = object_symbolize(b->object, vaddr, s->profile, lines, MAX_INLINE_DEPTH, &flags);
	if (!n)
		return;
	profile_set_lines(s->profile, id, lines, n, flags);
	b->n_named += !(flags & LOCATION_UNNAMED);
}

static void say_result(const struct symbolizing *s)
{
	uint64_t n = 0, named = 0, missing = 0;

	for (uint32_t i = 1; i <= profile_n_mappings(s->profile); i++) {
		const struct binary *b = &s->binaries[i];
		const struct profile_mapping *m = profile_get_mapping(s->profile, i);
		char path[256];

		n += b->n_locations;
		named += b->n_named;
		if (b->object || !b->n_locations || missing++ >= MISSING_SHOWN)
			continue;
		log_info("%s: %s (%" PRIu64 " locations)",
			 text_safe(profile_get_string(s->profile, m->filename), path, sizeof(path)),
			 b->why, b->n_locations);
	}
	if (missing > MISSING_SHOWN)
		log_info("and %" PRIu64 " more binaries that cannot be used",
			 missing - MISSING_SHOWN);
	log_info("named %" PRIu64 " of %" PRIu64 " locations without a name", named, n);
}

static int name_locations(struct symbolizing *s)
{
	s->binaries = calloc((size_t)profile_n_mappings(s->profile) + 1, sizeof(*s->binaries));
	if (!s->binaries)
		return -ENOMEM;
	for (uint32_t i = 1; i <= profile_n_locations(s->profile); i++)
		if (profile_get_location(s->profile, i).mapping <= profile_n_mappings(s->profile))
			name_location(s, i);
	return profile_error(s->profile);
}

static int symbolize(const struct options *opt, struct profile *p, const struct exporter_ops *ops)
{
	struct symbolizing s = { .opt = opt, .profile = p };
	int status = EXIT_FAILED;

	s.objects = objects_new(&(struct object_options){
		.debug_dirs = opt->debug_dirs.items,
		.debuginfod = opt->debuginfod,
	});
	if (!s.objects || name_locations(&s) < 0) {
		log_error("out of memory");
	} else {
		say_result(&s);
		status = output_write(ops, p, opt->output, output_is_private(opt->files.items[0]));
	}
	objects_free(s.objects);
	free(s.binaries);
	return status;
}

static int symbolize_run(const struct options *opt)
{
	const struct exporter_ops *ops;
	struct profile *p;
	int status, loaded, err;

	if (!opt->output) {
		log_error("symbolize: where to? -o FILE, which may be the same file");
		return EXIT_USAGE;
	}
	ops = output_format(opt, opt->output);
	if (!ops)
		return EXIT_USAGE;
	err = output_check(opt->output);
	if (err < 0) {
		log_error("cannot write %s: %s", opt->output, strerror(-err));
		return EXIT_FAILED;
	}
	p = sources_load(opt->files.items[0], opt, &loaded);
	if (!p)
		return loaded;
	status = symbolize(opt, p, ops);
	profile_free(p);
	return status ? status : loaded;
}

const struct verb verb_symbolize = {
	.bit = ON_SYMBOLIZE,
	.name = "symbolize",
	.synopsis = "[OPTIONS] FILE -o OUT",
	.summary = "name the functions of a profile that was written without names",
	.description = "Reads a profile, looks for the names of the native frames that have none, "
		       "and writes it "
		       "again. The binaries are taken from the paths in the profile when their "
		       "build id is the "
		       "right one, else separate debug files by build id. Names that are there "
		       "already stay.",
	.examples = "on the machine that has the debug files\n"
		    "weft symbolize raw.pb.gz --debug-dir ./debug -o named.pb.gz\n",
	.words = "FILE",
	.min_args = 1,
	.max_args = 1,
	.run = symbolize_run,
};
