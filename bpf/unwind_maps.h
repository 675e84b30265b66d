/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel half knows of processes and unwind tables, from user space: the table memory
 * (mapped here) and the map of processes. A vector is the mappings of one process in that memory.
 *
 * An owner is whatever identifies a table's file to the caller (a struct object), NULL for mappings
 * that will never have one. Tables come and go in place in every vector; a process that changes its
 * mappings gets a new vector.
 */
#ifndef BPF_UNWIND_MAPS_H
#define BPF_UNWIND_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/weft.h"

struct unwind_maps;
struct unwind_table;
struct vector;

/* The fds of the maps table_words (of n_words words), unwind_processes and python_processes;
   borrowed. */
struct unwind_maps *unwind_maps_new(int words_fd, uint32_t n_words, int processes_fd,
				    int pythons_fd);
void unwind_maps_free(struct unwind_maps *m);
uint64_t unwind_maps_capacity(const struct unwind_maps *m); /* bytes of the table memory */
uint64_t unwind_maps_used(const struct unwind_maps *m);	    /* of them */

/* Copies a table in. Its first word, or 0 when it does not fit. */
uint32_t unwind_maps_load(struct unwind_maps *m, const struct unwind_table *t);
/* Takes a table out; vectors must not refer to it any more. */
void unwind_maps_unload(struct unwind_maps *m, uint32_t table, uint32_t n_words);
const uint32_t *unwind_maps_words(const struct unwind_maps *m, uint32_t table);
/* Sets the table of every mapping of this owner; 0 is none. */
void unwind_maps_set_table(struct unwind_maps *m, const void *owner, uint32_t table);
/* When a process that maps this owner was last used. */
uint64_t unwind_maps_last_used(const struct unwind_maps *m, const void *owner);

struct python_process;
struct python_slot_at;

struct process_image {
	pid_t pid;
	uint64_t start_time_ns, vdso;
	const struct unwind_mapping *mappings; /* sorted */
	const void *const *owners;	       /* of each */
	size_t n;
	const struct python_process *python;  /* NULL: it runs no Python */
	const struct python_slot_at *context; /* threads' otel_thread_ctx_v1; NULL: there is none */
};

/* Tells the kernel half of a process, in place of *v (NULL at first). -ENOSPC: no room, *v is NULL.
 */
int unwind_maps_set_process(struct unwind_maps *m, struct vector **v,
			    const struct process_image *image);
/* Forgets it; NULL is fine. */
void unwind_maps_drop_process(struct unwind_maps *m, struct vector **v);
/* Forgets a pid that only a fork has told the kernel half of. */
void unwind_maps_drop_pid(struct unwind_maps *m, pid_t pid);
/* Processes whose CPython is not walked because there are too many. */
uint64_t unwind_maps_pythons_refused(const struct unwind_maps *m);
void unwind_maps_touch(struct vector *v, uint64_t time_ns);

#endif
