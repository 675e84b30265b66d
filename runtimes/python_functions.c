// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_functions.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/text.h"
#include "runtimes/python_qualnames.h"
#include "runtimes/python_str.h"
#include "unwinders/python_identity.h"

/* Code objects and strs are freed, and others take their places: what they are is a part of it. */
struct key {
	uint64_t code, qualname, identity;
};

struct python_functions {
	struct intern *keys;	       /* struct key */
	struct python_function *items; /* by id - 1 */
	size_t cap, n_bytes;
};

struct python_functions *python_functions_new(void)
{
	struct python_functions *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->keys = intern_new();
	if (fs->keys)
		return fs;
	free(fs);
	return NULL;
}

void python_functions_free(struct python_functions *fs)
{
	if (!fs)
		return;
	for (uint32_t i = 0; i < intern_count(fs->keys); i++) {
		free(fs->items[i].name);
		python_code_deinit(&fs->items[i].code);
	}
	free(fs->items);
	intern_free(fs->keys);
	free(fs);
}

size_t python_functions_memory(const struct python_functions *fs)
{
	return sizeof(*fs) + intern_memory(fs->keys) + fs->n_bytes;
}

/* Its file is right in a folder named asyncio of the standard library or of a package; or it is
 * anyio's. */
static bool is_asyncio(const char *file)
{
	const char *base = path_basename(file), folder[] = "/asyncio/";
	size_t len = strlen(folder);

	return ((size_t)(base - file) >= len && !memcmp(base - len, folder, len)) ||
	       strstr(file, "/anyio/_");
}

static void read_function(struct python_heap *h, uint64_t code, uint64_t qualname,
			  struct python_function *f)
{
	size_t len;

	if (python_code_read(h->mem, h->layout, code, 0, &f->code) < 0)
		return;
	f->is_asyncio = is_asyncio(f->code.file);
	if (!qualname ||
	    python_str_read(h->mem, h->layout, qualname, PYTHON_MAX_NAME, &f->name, &len) < 0)
		f->name = strdup(f->code.name);
}

/* False: it cannot be read. */
static bool make_key(struct python_heap *h, uint64_t code, uint64_t qualname, struct key *out)
{
	uint64_t hash = qualname ? python_word(h, qualname + h->layout->str.hash) : 0;
	uint32_t identity;

	if (!code || python_code_identify(h->mem, h->layout, code, &identity) < 0)
		return false;
	*out = (struct key){ code, qualname, python_identity_add(identity, hash) };
	return true;
}

uint32_t python_functions_id(struct python_functions *fs, struct python_heap *h, uint64_t code,
			     uint64_t qualname)
{
	uint32_t id, n = intern_count(fs->keys);
	struct python_function *f;
	struct key key;

	if (!make_key(h, code, qualname, &key))
		return 0;
	id = intern_find(fs->keys, &key, sizeof(key));
	if (!id) {
		if (fs->n_bytes > PYTHON_MAX_FUNCTION_BYTES ||
		    ARRAY_RESERVE(fs->items, fs->cap, n) < 0)
			return 0;
		id = intern_add(fs->keys, &key, sizeof(key));
		if (!id)
			return 0;
		f = &fs->items[id - 1];
		*f = (struct python_function){ 0 };
		read_function(h, code, qualname, f);
		fs->n_bytes += sizeof(*f) + f->code.name_len + f->code.file_len + f->code.lines_len;
		fs->n_bytes += f->name ? strlen(f->name) : 0;
	}
	return fs->items[id - 1].name ? id : 0;
}

const struct python_function *python_functions_get(const struct python_functions *fs, uint32_t id)
{
	return id && id <= intern_count(fs->keys) ? &fs->items[id - 1] : NULL;
}

void python_functions_qualify(struct python_functions *fs, struct python_heap *h, uint64_t interp)
{
	struct python_qualnames *names =
		h->layout->code.qualname ? NULL : python_qualnames_new(PYTHON_MAX_QUALNAMES);

	for (uint32_t i = 0; names && i < intern_count(fs->keys); i++) {
		struct python_function *f = &fs->items[i];
		struct key key;
		char *name;

		memcpy(&key, intern_get(fs->keys, i + 1, NULL), sizeof(key));
		name = f->name && !key.qualname
			       ? python_qualnames_find(names, h, interp, key.code, f->name)
			       : NULL;
		if (!name)
			continue;
		free(f->name);
		f->name = name;
	}
	python_qualnames_free(names);
}

struct python_place python_functions_place(struct python_functions *fs, struct python_heap *h,
					   uint64_t code, uint64_t qualname, uint64_t instr)
{
	struct python_place place = { python_functions_id(fs, h, code, qualname), 0 };
	const struct python_function *f = python_functions_get(fs, place.function);
	int line;

	if (f &&
	    !python_code_line(h->layout, &f->code, python_position(h->layout, code, instr), &line))
		place.line = line > 0 ? line : 0;
	return place;
}
