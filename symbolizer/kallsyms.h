/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel symbols from /proc/kallsyms, modules and BPF programs included. Addresses are absolute. */
#ifndef SYMBOLIZER_KALLSYMS_H
#define SYMBOLIZER_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Symbols of the kernel proper that are asked for by what they are, data too: where its text and
 * its ORC tables begin and end, a function of every kernel, and what tracers (function graph
 * tracing, kretprobes by their names of 5.10 to 7.x) put in the place of a return address.
 */
#define LANDMARKS(X)                                          \
	X(LANDMARK_TEXT, "_stext")                            \
	X(LANDMARK_TEXT_END, "_etext")                        \
	X(LANDMARK_ORC_ADDRESSES, "__start_orc_unwind_ip")    \
	X(LANDMARK_ORC_ADDRESSES_END, "__stop_orc_unwind_ip") \
	X(LANDMARK_ORC_ENTRIES, "__start_orc_unwind")         \
	X(LANDMARK_ORC_ENTRIES_END, "__stop_orc_unwind")      \
	X(LANDMARK_SYSCALL, "do_syscall_64")                  \
	X(LANDMARK_TRAP, "return_to_handler")                 \
	X(LANDMARK_TRAP_RETHOOK, "arch_rethook_trampoline")   \
	X(LANDMARK_TRAP_KRETPROBE, "__kretprobe_trampoline")  \
	X(LANDMARK_TRAP_KRETPROBE_OLD, "kretprobe_trampoline")

enum landmark {
#define X(id, name) id,
	LANDMARKS(X)
#undef X
		N_LANDMARKS
};

struct kallsyms;

/* path NULL is /proc/kallsyms. NULL and *err: -EPERM when every address reads 0 (kptr_restrict,
 * CAP_SYSLOG). */
struct kallsyms *kallsyms_load(const char *path, int *err);
void kallsyms_free(struct kallsyms *k);
/* The name at or below addr, borrowed; *module is "" for the kernel proper, *start its first
 * address. NULL: none. */
const char *kallsyms_find(const struct kallsyms *k, uint64_t addr, const char **module,
			  uint64_t *start);
uint64_t kallsyms_landmark(const struct kallsyms *k,
			   enum landmark which); /* 0: not there, or hidden */
size_t kallsyms_memory(const struct kallsyms *k);

#endif
