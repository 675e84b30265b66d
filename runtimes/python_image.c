// SPDX-License-Identifier: Apache-2.0
#include "runtimes/python_image.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reader.h"
#include "runtimes/python_stamp.h"
#include "symbolizer/object.h"

#define MAX_IMAGES 65536 /* objects asked about; further ones have no interpreter */

struct slot {
	struct object *object;
	struct python_image *image; /* NULL: none */
	bool was_said;
};

struct python_images {
	struct slot *slots; /* open addressing */
	size_t n, n_slots;  /* a power of two */
	uint64_t n_refused;
};

struct python_images *python_images_new(void)
{
	return calloc(1, sizeof(struct python_images));
}

void python_images_free(struct python_images *is)
{
	if (!is)
		return;
	for (size_t i = 0; i < is->n_slots; i++)
		free(is->slots[i].image);
	free(is->slots);
	free(is);
}

static struct slot *slot_of(struct slot *slots, size_t n_slots, const struct object *o)
{
	size_t i = ((uintptr_t)o >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	while (slots[i & (n_slots - 1)].object && slots[i & (n_slots - 1)].object != o)
		i++;
	return &slots[i & (n_slots - 1)];
}

static int grow(struct python_images *is)
{
	size_t n_slots = is->n_slots ? is->n_slots * 2 : 64;
	struct slot *slots;

	if (is->n * 2 < is->n_slots)
		return 0;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < is->n_slots; i++)
		if (is->slots[i].object)
			*slot_of(slots, n_slots, is->slots[i].object) = is->slots[i];
	free(is->slots);
	is->slots = slots;
	is->n_slots = n_slots;
	return 0;
}

/* Bytes of a section at a virtual address; NULL when it is not all there. */
static const void *bytes_at(struct object *o, const char *section, uint64_t vaddr, size_t len)
{
	const void *data;
	uint64_t start;
	size_t n;

	if (!object_section(o, section, &data, &n, &start) || vaddr < start || vaddr - start > n ||
	    len > n - (vaddr - start))
		return NULL;
	return (const uint8_t *)data + (vaddr - start);
}

/* A decimal number of at most three digits that begins at `at`; -1: none. */
static int number_at(const char *at, const char *end, const char **behind)
{
	int n = 0, n_digits = 0;

	for (; at < end && n_digits < 4 && isdigit((unsigned char)*at); at++, n_digits++)
		n = n * 10 + *at - '0';
	*behind = at;
	return n_digits && n_digits < 4 ? n : -1;
}

/* The number behind the first occurrence of a text that has one; -1: none. */
static int number_behind(const char *data, size_t len, const char *text, const char **behind)
{
	const char *end = data + len, *at = data;
	size_t text_len = strlen(text);

	while ((at = memmem(at, (size_t)(end - at), text, text_len))) {
		int n = number_at(at + text_len, end, behind);

		if (n >= 0)
			return n;
		at += text_len;
	}
	return -1;
}

/* 3.6 to 3.10 have their version only in texts: "python3.8" in paths, and "3.8.18", which may be
   the end of another text. Releases hardly differ: where the last number is unknown it is taken for
   a late one. */
static uint32_t version_in_text(struct object *o)
{
	const char *behind;
	const void *data;
	char text[16];
	uint64_t vaddr;
	size_t len;
	int minor, micro;

	if (!object_section(o, ".rodata", &data, &len, &vaddr) || !len)
		return 0;
	minor = number_behind(data, len, "python3.", &behind);
	if (minor < 0 || minor > 99)
		return 0;
	snprintf(text, sizeof(text), "3.%d.", minor);
	micro = number_behind(data, len, text, &behind);
	if (micro < 0 || micro > 255)
		micro = 99;
	return PYTHON_VERSION(3u, (unsigned int)minor, (unsigned int)micro);
}

static uint32_t version_of(struct object *o)
{
	uint64_t vaddr, size;
	const void *bytes = NULL;
	struct reader r;

	if (object_symbol(o, "Py_Version", &vaddr, &size))
		bytes = bytes_at(o, ".rodata", vaddr, sizeof(uint32_t));
	if (!bytes)
		return version_in_text(o);
	reader_init(&r, bytes, sizeof(uint32_t));
	return reader_u32(&r, "Py_Version");
}

static int read_layout(struct object *o, struct python_layout *out)
{
	const void *bytes;
	uint64_t vaddr;
	uint32_t version;
	size_t len;

	if (object_section(o, ".PyRuntime", &bytes, &len, &vaddr)) {
		int err = python_layout_parse(bytes, len, out);

		if (err != -EBADMSG) /* before 3.13 it does not describe itself */
			return err;
	}
	version = version_of(o);
	out->version = version;
	return version ? python_layout_of_version(version, false, out) : -ENOTSUP;
}

/* By the function that returns it. */
static struct python_tls tls_of(struct object *o, const char *function)
{
	uint64_t vaddr, size, most = 64; /* bytes: it does nothing else */
	const void *code = NULL;

	if (object_symbol(o, function, &vaddr, &size))
		code = bytes_at(o, ".text", vaddr, size < most ? size : most);
	if (!code)
		return (struct python_tls){ PYTHON_TLS_NONE, 0, 0 };
	return python_tls_find(code, size < most ? size : most, vaddr);
}

static void read_tls(struct object *o, struct python_image *image)
{
	unsigned int minor = PYTHON_MINOR(image->layout.version);

	if (minor >= 12)
		image->attached = tls_of(o, minor > 12 ? "PyThreadState_GetUnchecked"
						       : "_PyThreadState_UncheckedGet");
	if (minor >= 15)
		image->sticky = tls_of(o, "PyGILState_GetThisThreadState");
}

static void read_stamp(struct object *o, struct python_image *image)
{
	unsigned int minor = PYTHON_MINOR(image->layout.version);
	uint64_t vaddr, size;
	const void *bytes;
	size_t len;

	if (minor == 13 && !image->layout.is_free_threaded &&
	    object_section(o, ".PyRuntime", &bytes, &len, &vaddr))
		image->made_codes = python_stamp_find(bytes, len);
	if (minor == 12)
		object_symbol(o, "_Py_next_func_version", &image->next_code, &size);
	if (minor < 12)
		object_symbol(o, "interned", &image->interned, &size);
}

static struct python_image *read_image(struct object *o)
{
	struct python_image image = { 0 };
	struct python_image *copy;
	uint64_t size;

	if (!object_symbol(o, "_PyRuntime", &image.runtime, &size) &&
	    !object_symbol(o, "_PyThreadState_Current", &image.runtime, &size))
		return NULL;
	image.err = read_layout(o, &image.layout);
	object_symbol(o, "_PyEval_EvalFrameDefault", &image.eval, &image.eval_len);
	read_tls(o, &image);
	read_stamp(o, &image);
	object_symbol(o, "autoTLSkey", &image.key, &size);
	object_symbol(o, "gil_cond", &image.gil_cond, &size);
	object_symbol(o, "PyUnicode_Type", &image.str, &size);
	object_symbol(o, "PyLong_Type", &image.integer, &size);
	object_symbol(o, "PyCode_Type", &image.code, &size);
	copy = malloc(sizeof(*copy));
	if (copy)
		*copy = image;
	return copy;
}

const struct python_image *python_images_get(struct python_images *is, struct object *o)
{
	struct slot *slot;

	if (grow(is))
		return NULL;
	slot = slot_of(is->slots, is->n_slots, o);
	if (!slot->object && is->n >= MAX_IMAGES) {
		is->n_refused++;
	} else if (!slot->object) {
		slot->object = o;
		slot->image = read_image(o);
		is->n++;
	}
	return slot->image;
}

bool python_images_say(struct python_images *is, const struct python_image *image)
{
	for (size_t i = 0; i < is->n_slots; i++)
		if (is->slots[i].image == image && !is->slots[i].was_said)
			return is->slots[i].was_said = true;
	return false;
}

uint64_t python_images_refused(const struct python_images *is)
{
	return is->n_refused;
}
