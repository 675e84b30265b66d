# SPDX-License-Identifier: Apache-2.0
"""What each figure must reach, by measure. A figure that never appears misses its goal."""
import itertools
import re

# Names ({a,b} stands for both), a direction, the limit. What 15 frames may cost is said for the whole sample:
# what does not depend on the depth is most of it.
GOALS = {
    "lockstep": (("lockstep_weft_{,odd_}worst", "<=", 2),),
    "ticks": (("ticks_unaccounted", "==", 0), ("ticks_cpu_error", "<=", 2)),
    "first_samples": (("first_{exec,fork}_seen_3sigma", ">=", 97), ("first_exec_programs", ">=", 1000),
                      ("first_{exec,fork}_{complete,right_names}", ">=", 99.9)),
    "kernel_cost": (("kernel_997hz_15_per_sample", "<=", 2.5), ("kernel_997hz_30_per_sample", "<=", 4),
                    ("kernel_997hz_{30,60}_per_frame", "<=", 120), ("kernel_{997,99}hz_{15,30,60}_ratio", "<=", 1.5)),
    "python_cost": (("python_{old,311,313,new}_{997,199}hz_per_sample", "<=", 12),
                    ("python_{old,311,313,new}_depth_kernel_loss", "<=", 0.5)),
    # Paired runs prove a loss where their whole interval lies above the goal.
    "python_loss": (("python_{clock,depth,service}_kernel_loss", "<=", 0.5),
                    ("python_{clock,depth,service}{,_cpu}_loss_from", "<=", 0.5), ("python_{clock,depth,service}_own_cpu", "<=", 0.014)),
    "async_sweep": (("async_{old,311,313,new}_tasks", ">=", 10001), ("async_{old,311,313,new}_sweep_user", "<=", 100)),
    "user_cost": (("user_cost_per_million", "<=", 5), ("user_cost_ratio", "<=", 0.5)),
    "memory": (("memory_sum", "<=", 50),),
    "start": (("start_first_tick_{median,worst}", "<=", 300), ("kill_left_{programs,maps,links,perf_events}", "==", 0)),
    "library": (("library_{clang,rustc}_stalled", "==", 0), ("library_{clang,rustc}_depth_complete", ">=", 99.9)),
    "jfr": (("jfr_{,plain_}profile_weft_mb_per_s", ">=", 1500), ("jfr_{,plain_}profile_of_grafana", ">=", 2), ("jfr_profile_of_jfr_print", ">=", 100),
            ("jfr_async_weft_mb_per_s", ">=", 350), ("jfr_large_cpu", "<=", 0.6), ("jfr_large_two_cores", ">=", 1.7),
            ("jfr_{profile,lines,large}_memory", "<=", 30)),
    "symbol_bench": (("symbol_cold_inline_frames_per_s", ">=", 2e5), ("symbol_warm_frames_per_s", ">=", 2e6)),
    "symbol_large": (("symbol_large_cold_inline_frames_per_s", ">=", 2e5), ("symbol_large_memory_of_budget", "<=", 100)),
    "table_bench": (("table_rows_per_s", ">=", 3e6), ("table_bytes_per_row", "<=", 8), ("table_largest_build_cpu_s", "<=", 2)),
}


def expand(names):
    """Every name that is meant."""
    parts = [part.split(",") for part in re.split(r"[{}]", names)]
    return ["".join(choice) for choice in itertools.product(*parts)]


def goals_of(measure):
    """name: (direction, limit)"""
    return {name: goal for names, *goal in GOALS.get(measure, ()) for name in expand(names)}


def verdict(measure, name, value):
    """"ok" or "MISS" with the goal; nothing for a figure without one."""
    if name not in goals_of(measure):
        return ""
    direction, limit = goals_of(measure)[name]
    met = {"<=": value <= limit, ">=": value >= limit, "==": value == limit}[direction]
    return "%s (goal %s %g)" % ("ok" if met else "MISS", direction, limit)
