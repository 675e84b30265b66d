/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One list for both halves: where ticks go, why walks end, what was lost. The name is what outputs
 * show. Every tick (one run of the CPU sampler's BPF program, one wait that ended) ends in
 * exactly one TICK_* counter.
 */
#ifndef BPF_COUNTERS_H
#define BPF_COUNTERS_H

/* X(identifier, "name", "what it means") */
#define TICK_COUNTERS(X)                                                              \
	X(TICK_SAMPLED, "ticks.sampled", "became a sample")                           \
	X(TICK_SKIPPED, "ticks.skipped", "a wait that was passed over")               \
	X(TICK_IDLE, "ticks.idle", "the CPU was idle")                                \
	X(TICK_FILTERED, "ticks.filtered", "not a target, or not in the mode wanted") \
	X(TICK_UNSUPPORTED, "ticks.unsupported", "a 32-bit task")                     \
	X(TICK_LOST_RING, "ticks.lost_ring", "the ring buffer was full")              \
	X(TICK_LOST_BUSY, "ticks.lost_busy", "the scratch slot was in use")           \
	X(TICK_LOST_ERROR, "ticks.lost_error", "a map was missing: a bug")

/* Where a walk ended. END_ROOT is the good one; the first group is counted as complete. */
#define END_REASONS(X)                                                                    \
	X(END_ROOT, "end.root", "the outermost frame")                                    \
	X(END_KERNEL_ONLY, "end.kernel_only",                                             \
	  "a kernel thread, or only kernel frames were asked for")                        \
	X(END_MAX_FRAMES, "end.max_frames", "more frames than the cap: truncated")        \
	X(END_SNAPSHOT, "end.snapshot",                                                   \
	  "the stack left as a snapshot (interim; user space replaces it)")               \
	X(END_SNAPSHOT_TRUNCATED, "end.snapshot_truncated",                               \
	  "the stack is deeper than the snapshot")                                        \
	X(END_SNAPSHOT_BUDGET, "end.snapshot_budget", "too many snapshots a second")      \
	X(END_SNAPSHOT_RING, "end.snapshot_ring",                                         \
	  "user space was behind; no room for a stack copy")                              \
	X(END_NO_PROCESS, "end.no_process", "the process is not known yet")               \
	X(END_NO_MAPPING, "end.no_mapping", "the pc is in no mapping")                    \
	X(END_NO_TABLE, "end.no_table", "the file's unwind table is not loaded")          \
	X(END_NO_RULE, "end.no_rule", "code without unwind data")                         \
	X(END_EXPRESSION, "end.expression", "a rule only user space can evaluate")        \
	X(END_BAD_RULE, "end.bad_rule", "unwind data that contradicts itself")            \
	X(END_READ_FAULT, "end.read_fault", "stack memory could not be read")             \
	X(END_NOT_ADVANCING, "end.not_advancing", "the walk would not move up the stack") \
	X(END_NO_REGISTERS, "end.no_registers", "the user registers are not available")   \
	X(END_GUESS_FAILED, "end.guess_failed", "no return address could be proved")

/* Events that are neither ticks nor ends. */
#define OTHER_COUNTERS(X)                                                                   \
	X(SNAPSHOTS, "snapshots.taken", "stacks copied")                                    \
	X(SNAPSHOT_PAGES_LOST, "snapshots.pages_lost",                                      \
	  "pages of a copied stack that did not fit the ring")                              \
	X(EVENTS_LOST, "events.lost", "side-band records lost by the kernel; no samples")   \
	X(KERNEL_LEFT, "kernel.left",                                                       \
	  "kernel stacks that lead through modules, or other stacks: walked by the kernel") \
	X(KERNEL_DIFFERED, "kernel.differed",                                               \
	  "times our walk of a kernel stack was not the kernel's: it was not used again")   \
	X(TARGETS_REFUSED, "targets.refused",                                               \
	  "children of targets that are not sampled: too many at a time")                   \
	X(CPUS_CHANGED, "cpus.changed",                                                     \
	  "CPUs that came online or went; up to a second of one that came is missing")      \
	X(CPUS_REFUSED, "cpus.refused", "CPUs that came online and could not be sampled")   \
	X(FILES_GONE, "files.gone",                                                         \
	  "files that could not be opened any more: frames keep build id and offset")       \
	X(FILES_BAD, "files.bad", "files that are not what they claim")                     \
	X(FILES_UNIDENTIFIED, "files.unidentified",                                         \
	  "of files gone or bad, those whose build id is not known either")                 \
	X(FILES_CUT, "files.cut",                                                           \
	  "files cut while they were read: nothing more is taken from them")                \
	X(TABLES_OVER_BUDGET, "tables.over_budget",                                         \
	  "unwind tables that did not fit the memory budget")                               \
	X(MAPS_REREAD, "maps.reread", "times the mappings of a process were read again")    \
	X(SYMBOLS_REFUSED, "symbols.refused",                                               \
	  "perf maps or debug files refused by the safety rules")                           \
	X(SAMPLES_UNREAD, "samples.unread", "left behind at the second ^C")                 \
	X(JIT_OVER_BUDGET, "jit.over_budget",                                               \
	  "names of generated code forgotten to stay in the memory budget")                 \
	X(LABELS_OVER_BUDGET, "labels.over_budget",                                         \
	  "samples without their thread or process: too many for the memory budget")        \
	X(PYTHON_STACKS, "python.stacks", "Python stacks walked to their root")             \
	X(PYTHON_BROKEN, "python.broken", "Python stacks that contradict themselves")       \
	X(PYTHON_TRUNCATED, "python.truncated", "Python stacks deeper than the cap")        \
	X(PYTHON_LOST_RING, "python.lost_ring", "Python stacks that found the ring full")   \
	X(SPANS_FOUND, "spans.found", "samples with their trace and span")                  \
	X(SPANS_LOST_RING, "spans.lost_ring", "spans that found the ring full")             \
	X(ASYNC_SWEEPS, "async.sweeps", "looks at all asyncio tasks of a process")          \
	X(ASYNC_SLOWED, "async.slowed",                                                     \
	  "pauses made longer, so that sweeping stays a small share of a CPU")              \
	X(ASYNC_TORN, "async.torn", "tasks that kept changing, or too many to read")        \
	X(ASYNC_STOPPED, "async.stopped",                                                   \
	  "tasks left out as no thread runs their loop: as in forked children")             \
	X(ASYNC_PARENTS_LOST, "async.parents_lost",                                         \
	  "stacks of tasks without what waits for them: it changed before it was read")     \
	X(PYTHON_UNKNOWN, "python.unknown",                                                 \
	  "processes whose CPython is laid out otherwise than weft knows: native only")     \
	X(PYTHON_REFUSED, "python.refused",                                                 \
	  "processes or files beyond the number whose CPython weft follows")                \
	X(PYTHON_OVER_BUDGET, "python.over_budget",                                         \
	  "times a code object was not named to stay in the memory budget")                 \
	X(PYTHON_NO_STEPS, "python.no_steps",                                               \
	  "things not looked up as processes had used up their share of weft's time")       \
	X(MEMORY_STUCK, "memory.stuck",                                                     \
	  "processes that kept weft waiting for their memory, and are read after pauses")   \
	X(PYTHON_PROCESSES, "python.processes", "processes that run CPython")               \
	X(PYTHON_FREE_THREADED, "python.free_threaded",                                     \
	  "of them those whose CPython was built without a GIL")                            \
	X(GIL_WAITS, "gil.waits", "times a thread went to sleep to wait for the GIL")       \
	X(GIL_NS, "gil.ns", "ns of those that were sampled or passed over")                 \
	X(GIL_UNFINISHED, "gil.unfinished",                                                 \
	  "of them those whose end weft did not see: not in the profile")                   \
	X(LOOP_BLOCKS, "loop.blocks", "turns of event loops longer than --block-ms")        \
	X(MEMORY_OVER_BUDGET, "memory.over_budget", "things given up to stay in the memory budget")

enum counter {
#define X(id, name, text) id,
	TICK_COUNTERS(X) END_REASONS(X) OTHER_COUNTERS(X)
#undef X
		N_COUNTERS
};

#endif
