/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of a process: an array sorted by start without overlaps, in which the
 * newest mapping of an address wins. A forked child shares its parent's array; whoever changes it
 * first gets a copy. What is learned about a mapping's file may be written into a shared one.
 *
 * Nothing here sets process.generation: the functions that change something say so.
 */
#ifndef RUNTIMES_MAPPINGS_H
#define RUNTIMES_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping;
struct process;

/* More executable mappings than this in one process are not kept. */
#define MAX_MAPPINGS (1u << 16)

void mappings_clear(struct process *proc);
/* Makes to's mappings those of from. */
void mappings_share(struct process *to, const struct process *from);
/* Maps m over what is there. 1 changed, 0 was there already, -ENOMEM, -E2BIG over the cap. */
int mappings_add(struct process *proc, const struct mapping *m);
/* Makes the mappings exactly list (sorted, no overlaps; copied); keeps what is known of those that
   are the same. 1 changed, 0 not, -ENOMEM. */
int mappings_assign(struct process *proc, const struct mapping *list, size_t n);
/* Are the files in list mapped as they are known to be, and no others known? */
bool mappings_have_files(const struct process *proc, const struct mapping *list, size_t n);
/* The mapping of a pc, or NULL. */
struct mapping *mappings_find(const struct process *proc, uint64_t pc);
/* Bytes of the array; shared ones count in each process in part. */
size_t mappings_memory(const struct process *proc);

#endif
