# SPDX-License-Identifier: Apache-2.0
"""What each figure must reach. A pattern of names, a direction, the limit."""
import re

GOALS = (
    ("lockstep_weft_(odd_)?worst", "<=", 2),
    ("ticks_unaccounted", "==", 0),
    ("ticks_cpu_error", "<=", 2),
    ("first_(exec|fork)_seen_3sigma", ">=", 97),
    ("first_exec_programs", ">=", 1000),
    ("first_(exec|fork)_(complete|right_names)", ">=", 99.9),
    ("kernel_997hz_15_per_sample", "<=", 2.5),
    ("kernel_997hz_30_per_sample", "<=", 4),
    (r"kernel_997hz_\d+_per_frame", "<=", 120),
    (r"kernel_\d+hz_\d+_ratio", "<=", 1.5),
    ("user_cost_per_million", "<=", 5),
    ("user_cost_ratio", "<=", 0.5),
    ("table_rows_per_s", ">=", 3e6),
    ("table_bytes_per_row", "<=", 8),
    ("table_largest_build_cpu_s", "<=", 2),
    ("memory_sum", "<=", 50),
    ("start_first_tick_median", "<=", 300),
    ("kill_left_(programs|maps|links|perf_events)", "==", 0),
    ("library_(clang|rustc)_stalled", "==", 0),
    ("library_(clang|rustc)_depth_complete", ">=", 99.9),
    ("symbol(_large)?_cold_inline_frames_per_s", ">=", 2e5),
    ("symbol_warm_frames_per_s", ">=", 2e6),
    ("symbol_large_memory_of_budget", "<=", 100),
)


def verdict(name, value):
    """"ok" or "MISS" with the goal; nothing for a figure without one."""
    for pattern, direction, limit in GOALS:
        if re.fullmatch(pattern, name):
            met = {"<=": value <= limit, ">=": value >= limit, "==": value == limit}[direction]
            return "%s (goal %s %g)" % ("ok" if met else "MISS", direction, limit)
    return ""
