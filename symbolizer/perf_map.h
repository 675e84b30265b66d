/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of JIT code that a process writes itself: /tmp/perf-PID.map (linux
 * tools/perf/Documentation/ jit-interface.txt) and jitdump (jitdump-specification.txt). The files
 * are the target's: opened below its root without following links, refused unless regular, owned by
 * the target's user or root, one link only, under the size cap; read incrementally as they grow.
 * Later entries win.
 */
#ifndef SYMBOLIZER_PERF_MAP_H
#define SYMBOLIZER_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_room;
struct perf_map;

/* root_fd: the target's root directory; ns_pid: its pid in its own pid namespace; uid: its
 * effective user; room as in jit_symbols.h. */
struct perf_map *perf_map_new(int root_fd, pid_t ns_pid, uid_t uid, struct jit_room *room);
/* A jitdump file that the process has mapped (its marker mapping), by path below the root. */
int perf_map_add_jitdump(struct perf_map *m, const char *path);
void perf_map_free(struct perf_map *m);
/* Reads what was appended since. 0; -ENOENT no file; -EPERM, -ELOOP, -EINVAL, -E2BIG refused;
   -EBADMSG damaged, or cut while it was read. */
int perf_map_refresh(struct perf_map *m);
/* Source file and line at addr when a jitdump said so; 0: unknown. */
uint32_t perf_map_line(const struct perf_map *m, uint64_t addr, const char **file);
/* The name at addr that was valid at a time (CLOCK_MONOTONIC ns): entries carry the time they were
   read or a jitdump's own. Borrowed until the next refresh; NULL: none. start and size of its
   range, where they are wanted. */
const char *perf_map_find_at(const struct perf_map *m, uint64_t addr, uint64_t time_ns,
			     uint64_t *start, uint64_t *size);
/* Ranges read so far: another number means that there are new names. */
size_t perf_map_count(const struct perf_map *m);
size_t perf_map_memory(const struct perf_map *m);

#endif
