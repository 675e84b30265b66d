// SPDX-License-Identifier: Apache-2.0
#include "jfr/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/intern.h"
#include "core/scoped.h"

#define FIRST_SLOTS 64

static void file_free(struct file *file)
{
	tail_deinit(&file->tail);
	scoped_close(&file->packed);
	free(file->path);
	free(file->reason);
	free(file);
}

void files_deinit(struct files *f)
{
	for (size_t i = 0; i < f->n; i++)
		file_free(f->items[i]);
	free(f->items);
	free(f->slots);
	*f = (struct files){ 0 };
}

static size_t slot_of(const struct files *f, uint64_t dev, uint64_t ino)
{
	const uint64_t key[] = { dev, ino };

	return hash_bytes(key, sizeof(key)) & (f->n_slots - 1);
}

struct file *files_find(const struct files *f, uint64_t dev, uint64_t ino)
{
	if (!f->n_slots)
		return NULL;
	for (size_t i = slot_of(f, dev, ino); f->slots[i]; i = (i + 1) & (f->n_slots - 1))
		if (f->slots[i]->dev == dev && f->slots[i]->ino == ino)
			return f->slots[i];
	return NULL;
}

static void put(struct files *f, struct file *file)
{
	size_t i = slot_of(f, file->dev, file->ino);

	while (f->slots[i])
		i = (i + 1) & (f->n_slots - 1);
	f->slots[i] = file;
}

static void put_all(struct files *f)
{
	memset(f->slots, 0, f->n_slots * sizeof(struct file *));
	for (size_t i = 0; i < f->n; i++)
		put(f, f->items[i]);
}

/* At most half of the slots are taken. */
static int reserve_slots(struct files *f)
{
	size_t n_slots = f->n_slots ? f->n_slots * 2 : FIRST_SLOTS;
	struct file **slots;

	if (f->n_slots && f->n < f->n_slots / 2)
		return 0;
	slots = (struct file **)calloc(n_slots, sizeof(struct file *));
	if (!slots)
		return -ENOMEM;
	free(f->slots);
	f->slots = slots;
	f->n_slots = n_slots;
	put_all(f);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct file *x = *(struct file *const *)a, *y = *(struct file *const *)b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return strcmp(x->path, y->path);
}

void files_sort(struct files *f)
{
	if (f->n)
		qsort(f->items, f->n, sizeof(struct file *), compare);
}

int file_set_path(struct file *file, unsigned int root, const char *path)
{
	char *copy;

	file->root = root;
	if (file->path && !strcmp(file->path, path))
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	free(file->path);
	file->path = copy;
	return 0;
}

void file_set_reason(struct file *file, const char *reason)
{
	free(file->reason);
	file->reason = reason ? strdup(reason) : NULL;
}

struct file *files_add(struct files *f, uint64_t dev, uint64_t ino, unsigned int root,
		       const char *path)
{
	struct file *file;

	if (ARRAY_RESERVE(f->items, f->cap, f->n) || reserve_slots(f))
		return NULL;
	file = (struct file *)calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->dev = dev;
	file->ino = ino;
	file->packed = file->tail.fd = -1;
	if (file_set_path(file, root, path)) {
		free(file);
		return NULL;
	}
	f->items[f->n++] = file;
	put(f, file);
	return file;
}

/* What stands behind it and would not be found any more moves up. */
static void take_slot(struct files *f, const struct file *file)
{
	size_t mask = f->n_slots - 1, i = slot_of(f, file->dev, file->ino), j;

	while (f->slots[i] != file)
		i = (i + 1) & mask;
	for (j = (i + 1) & mask; f->slots[j]; j = (j + 1) & mask) {
		size_t home = slot_of(f, f->slots[j]->dev, f->slots[j]->ino);

		if (((j - home) & mask) < ((j - i) & mask))
			continue;
		f->slots[i] = f->slots[j];
		i = j;
	}
	f->slots[i] = NULL;
}

void files_remove(struct files *f, size_t index)
{
	struct file *file = f->items[index];

	take_slot(f, file);
	f->items[index] = f->items[--f->n];
	file_free(file);
}
