/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that a test compiles for itself, in a directory of its own below /tmp. SOURCE files are
 * written by compiled_source(), commands run in the directory.
 */
#ifndef TESTS_UNIT_COMPILED_H
#define TESTS_UNIT_COMPILED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/profile.h"
#include "core/scoped.h"
#include "symbolizer/object.h"

struct compiled {
	char dir[64];
	struct objects *objects;
	struct profile *profile;
	struct line lines[MAX_INLINE_DEPTH]; /* of the last lookup */
	uint16_t flags;
};

static inline int compiled_setup(void **state)
{
	struct compiled *c = calloc(1, sizeof(*c));

	strcpy(c->dir, "/tmp/compiled_test.XXXXXX");
	if (!mkdtemp(c->dir))
		return -1;
	c->objects = objects_new(NULL);
	c->profile = profile_new();
	*state = c;
	return 0;
}

static inline int compiled_teardown(void **state)
{
	struct compiled *c = *state;
	char command[96];

	objects_free(c->objects);
	profile_free(c->profile);
	snprintf(command, sizeof(command), "rm -rf %s", c->dir);
	free(c);
	return system(command);
}

static inline void compiled_source(struct compiled *c, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Runs a command in the directory; false when it failed, as when there is no such compiler. */
static inline bool compiled_run(struct compiled *c, const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && { %s ; } >log 2>&1", c->dir, command);
	return system(line) == 0;
}

static inline struct object *compiled_open_in(struct compiled *c, struct objects *os,
					      const char *name)
{
	char path[128];
	struct object *o;
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", c->dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	o = objects_get(os, fd, path, -1, &err);
	close(fd);
	assert_non_null(o);
	return o;
}

static inline struct object *compiled_open(struct compiled *c, const char *name)
{
	return compiled_open_in(c, c->objects, name);
}

static inline uint64_t compiled_symbol(struct object *o, const char *name)
{
	uint64_t vaddr = 0, size;

	assert_true(object_symbol(o, name, &vaddr, &size));
	return vaddr;
}

static inline size_t compiled_lookup(struct compiled *c, struct object *o, uint64_t vaddr)
{
	c->flags = 0;
	return object_symbolize(o, vaddr, c->profile, c->lines, MAX_INLINE_DEPTH, &c->flags);
}

static inline const struct function *compiled_function(struct compiled *c, size_t i)
{
	return profile_get_function(c->profile, c->lines[i].function);
}

/* The name of the physical function at an address, or "" when nobody knows it. */
static inline const char *compiled_name(struct compiled *c, struct object *o, uint64_t vaddr)
{
	size_t n = compiled_lookup(c, o, vaddr);

	if (!n || c->flags & LOCATION_UNNAMED)
		return "";
	return profile_get_string(c->profile, compiled_function(c, n - 1)->name);
}

#endif
