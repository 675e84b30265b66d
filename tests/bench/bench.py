#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
make bench: runs every measure, repeats its `name value unit` lines, and holds them against the goals.
BENCH=text runs only the measures with that text in their name.
"""
import os
import re
import subprocess
import sys
import time

import goals
import large_files
import weft

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURES = ("lockstep", "ticks", "first_samples", "kernel_cost", "python_cost", "python_loss", "async_sweep", "user_cost", "memory", "start",
	    "library", "jfr")
N_LARGEST = 6
BUDGET_MIB = "12"
FIGURE = re.compile(r"^(\w+) (-?[\d.e+-]+|inf|nan) (\S+)$")
IN_QUICK = () if not weft.QUICK else ("first_exec_programs",)	# not measured then


def commands():
    """(name, command) of every measure: our scripts, then what was built from *_bench.c."""
    for name in MEASURES:
        yield name, [sys.executable, os.path.join(HERE, name + ".py")]
    yield "symbol_bench", [weft.program("symbol_bench")]
    yield "table_bench", [weft.program("table_bench"), *large_files.largest_libraries(N_LARGEST)]
    path = large_files.most_debug_information() or weft.program("large")
    yield "symbol_large", [weft.program("symbol_bench"), path, BUDGET_MIB, "symbol_large"]


def run(measure, command):
    """The figures of one measure as it prints them; how many goals it misses, also by not saying anything."""
    failed, begun, missing, reason = 0, time.monotonic(), dict.fromkeys(goals.goals_of(measure)), ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONUNBUFFERED="1")) as child:
        for line in child.stdout:
            found, verdict = FIGURE.match(line.strip()), ""
            if found:
                verdict = goals.verdict(measure, found.group(1), float(found.group(2)))
                missing.pop(found.group(1), None)
            elif line.startswith(weft.MISSING):
                reason = line[len(weft.MISSING):].strip()
            failed += verdict.startswith("MISS")
            print(line.rstrip() + ("  # " + verdict if verdict else ""), flush=True)
    if child.returncode:
        reason = reason or "exit %d" % child.returncode
        print("# MISS %s: exit %d" % (measure, child.returncode), flush=True)
        failed += 1
    for name in (n for n in missing if n not in IN_QUICK):
        print("# MISS %s: %s" % (name, reason or "it never appeared"), flush=True)
        failed += 1
    print("# %s took %.0f s" % (measure, time.monotonic() - begun), flush=True)
    return failed


def describe_machine():
    with open("/proc/loadavg", encoding="ascii") as f:
        load = f.read().split()[0]
    print("# kernel %s, %d CPUs, load %s" % (os.uname().release, os.cpu_count(), load))


def main():
    begun = time.monotonic()
    describe_machine()
    wanted = os.environ.get("BENCH", "")
    failed = sum(run(name, command) for name, command in commands() if wanted in name)
    print("# bench took %.0f s; %d goals missed" % (time.monotonic() - begun, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
