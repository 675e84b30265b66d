// SPDX-License-Identifier: Apache-2.0
#include "bpf/unwind_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/shared.h"
#include "bpf/word_pool.h"
#include "core/clock.h"
#include "core/log.h"
#include "unwinders/cfi.h"
#include "unwinders/python_walk.h"

_Static_assert(LAST_PROCESS_NS <= WORD_POOL_GRACE_NS, "ticks may still look at what was freed");

struct vector {
	struct vector *prev, *next;
	pid_t pid;
	uint32_t first, n; /* word; mappings */
	uint64_t last_used_ns;
	const void *owners[];
};

struct unwind_maps {
	int processes_fd, pythons_fd;
	uint32_t *words;
	uint32_t n_words;
	struct word_pool *pool;
	struct vector *vectors;
	uint32_t last_generation;
	uint64_t last_serial; /* of what was said of Python */
	uint64_t n_pythons_refused;
};

struct unwind_maps *unwind_maps_new(int words_fd, uint32_t n_words, int processes_fd,
				    int pythons_fd)
{
	struct unwind_maps *m = calloc(1, sizeof(*m));
	void *words;

	if (!m)
		return NULL;
	m->processes_fd = processes_fd;
	m->pythons_fd = pythons_fd;
	m->pool = word_pool_new(n_words);
	words = mmap(NULL, (size_t)n_words * 4, PROT_READ | PROT_WRITE, MAP_SHARED, words_fd, 0);
	m->words = words == MAP_FAILED ? NULL : words;
	m->n_words = n_words;
	if (!m->pool || !m->words) {
		unwind_maps_free(m);
		return NULL;
	}
	return m;
}

void unwind_maps_free(struct unwind_maps *m)
{
	if (!m)
		return;
	while (m->vectors) {
		struct vector *next = m->vectors->next;

		free(m->vectors);
		m->vectors = next;
	}
	if (m->words)
		munmap(m->words, (size_t)m->n_words * 4);
	word_pool_free(m->pool);
	free(m);
}

uint64_t unwind_maps_capacity(const struct unwind_maps *m)
{
	return (uint64_t)m->n_words * 4;
}

uint64_t unwind_maps_used(const struct unwind_maps *m)
{
	return (uint64_t)word_pool_used(m->pool) * 4;
}

static uint32_t get_words(struct unwind_maps *m, uint32_t n)
{
	word_pool_settle(m->pool, clock_ns(CLOCK_MONOTONIC));
	return word_pool_get(m->pool, n);
}

uint32_t unwind_maps_load(struct unwind_maps *m, const struct unwind_table *t)
{
	uint32_t first = t->n_words < UINT32_MAX ? get_words(m, (uint32_t)t->n_words) : 0;

	if (first)
		memcpy(m->words + first, t->words, t->n_words * 4);
	return first;
}

void unwind_maps_unload(struct unwind_maps *m, uint32_t table, uint32_t n_words)
{
	word_pool_put(m->pool, table, n_words, clock_ns(CLOCK_MONOTONIC));
}

const uint32_t *unwind_maps_words(const struct unwind_maps *m, uint32_t table)
{
	return m->words + table;
}

static struct unwind_vector *vector_words(const struct unwind_maps *m, const struct vector *v)
{
	return (struct unwind_vector *)(m->words + v->first);
}

static uint32_t vector_n_words(size_t n)
{
	return (uint32_t)((sizeof(struct unwind_vector) + n * sizeof(struct unwind_mapping)) / 4);
}

void unwind_maps_set_table(struct unwind_maps *m, const void *owner, uint32_t table)
{
	/* What the table's words say must be there before anybody is sent to them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (struct vector *v = m->vectors; v; v = v->next) {
		struct unwind_vector *words = vector_words(m, v);

		for (uint32_t i = 0; i < v->n; i++) {
			if (v->owners[i] == owner)
				__atomic_store_n(&words->mappings[i].table, table,
						 __ATOMIC_RELEASE);
		}
	}
}

uint64_t unwind_maps_last_used(const struct unwind_maps *m, const void *owner)
{
	uint64_t last = 0;

	for (const struct vector *v = m->vectors; v; v = v->next) {
		for (uint32_t i = 0; i < v->n && v->last_used_ns > last; i++) {
			if (v->owners[i] == owner)
				last = v->last_used_ns;
		}
	}
	return last;
}

/* Zero is "none", and what cached rules and free memory start with. */
static uint32_t next_generation(struct unwind_maps *m)
{
	if (++m->last_generation == 0)
		m->last_generation = 1;
	return m->last_generation;
}

static void vector_free(struct unwind_maps *m, struct vector *v)
{
	/* Forks may have copied the entry: a vector that is gone must not look like one. */
	__atomic_store_n(&vector_words(m, v)->generation, 0, __ATOMIC_RELEASE);
	word_pool_put(m->pool, v->first, vector_n_words(v->n), clock_ns(CLOCK_MONOTONIC));
	if (v->prev)
		v->prev->next = v->next;
	else
		m->vectors = v->next;
	if (v->next)
		v->next->prev = v->prev;
	free(v);
}

static struct vector *vector_new(struct unwind_maps *m, const struct process_image *image)
{
	struct vector *v = calloc(1, sizeof(*v) + image->n * sizeof(*v->owners));
	struct unwind_vector *words;

	if (!v)
		return NULL;
	v->first = get_words(m, vector_n_words(image->n));
	if (!v->first) {
		free(v);
		return NULL;
	}
	v->pid = image->pid;
	v->n = (uint32_t)image->n;
	memcpy(v->owners, image->owners, image->n * sizeof(*v->owners));
	words = vector_words(m, v);
	words->n_mappings = v->n;
	memcpy(words->mappings, image->mappings, image->n * sizeof(*words->mappings));
	__atomic_store_n(&words->generation, next_generation(m), __ATOMIC_RELEASE);
	v->next = m->vectors;
	if (v->next)
		v->next->prev = v;
	m->vectors = v;
	return v;
}

/* A process with a strange number of mappings does not get the memory of all others' tables. */
static size_t max_mappings(const struct unwind_maps *m)
{
	return m->n_words / MAPPING_WORDS / 16;
}

/* False: the kernel half knows too many already. */
static bool set_python(struct unwind_maps *m, const struct process_image *image)
{
	struct python_process python = *image->python;
	uint32_t pid = (uint32_t)image->pid;

	python.serial = ++m->last_serial;
	python.vdso = image->vdso;
	if (!bpf_map_update_elem(m->pythons_fd, &pid, &python, BPF_ANY))
		return true;
	if (!m->n_pythons_refused++)
		log_info("more processes run Python than weft follows at a time: further ones (pid "
			 "%d) have native frames only",
			 (int)image->pid);
	return false;
}

int unwind_maps_set_process(struct unwind_maps *m, struct vector **v,
			    const struct process_image *image)
{
	struct vector *fresh = image->n <= max_mappings(m) ? vector_new(m, image) : NULL;
	struct unwind_process entry = {
		.start_time_ns = image->start_time_ns,
		.vdso = image->vdso,
		.n_mappings = (uint32_t)image->n,
	};
	uint32_t pid = (uint32_t)image->pid;

	if (!fresh) {
		unwind_maps_drop_process(m, v);
		return -ENOSPC;
	}
	if (*v)
		fresh->last_used_ns = (*v)->last_used_ns;
	if (image->python && set_python(m, image))
		entry.flags |= UNWIND_PROCESS_PYTHON;
	if (image->context) {
		entry.flags |= UNWIND_PROCESS_CONTEXT;
		entry.context = *image->context;
	}
	entry.vector = fresh->first;
	entry.generation = vector_words(m, fresh)->generation;
	if (bpf_map_update_elem(m->processes_fd, &pid, &entry, BPF_ANY)) {
		vector_free(m, fresh);
		unwind_maps_drop_process(m, v);
		return -ENOSPC;
	}
	if (*v)
		vector_free(m, *v);
	*v = fresh;
	return 0;
}

void unwind_maps_drop_process(struct unwind_maps *m, struct vector **v)
{
	if (!*v)
		return;
	unwind_maps_drop_pid(m, (*v)->pid);
	vector_free(m, *v);
	*v = NULL;
}

void unwind_maps_drop_pid(struct unwind_maps *m, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(m->processes_fd, &key);
	bpf_map_delete_elem(m->pythons_fd, &key);
}

uint64_t unwind_maps_pythons_refused(const struct unwind_maps *m)
{
	return m->n_pythons_refused;
}

void unwind_maps_touch(struct vector *v, uint64_t time_ns)
{
	if (v)
		v->last_used_ns = time_ns;
}
