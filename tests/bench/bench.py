#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
make bench: runs every measure, repeats its `name value unit` lines, and holds them against the goals.
BENCH=text runs only the measures with that text in their name.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import time

import goals
import weft

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURES = ("lockstep", "ticks", "first_samples", "kernel_cost", "user_cost", "memory", "start", "library")
LARGE_FILES = ("~/.rustup/toolchains/*/bin/cargo", "~/.pyenv/versions/*/lib/libpython3.*.so.1.0", "/usr/lib/debug/.build-id/*/*.debug")
BUDGET_MIB = "12"
FIGURE = re.compile(r"^(\w+) (-?[\d.e+-]+|inf|nan) (\S+)$")


def commands():
    """(name, command) of every measure: our scripts, then what was built from *_bench.c."""
    for name in MEASURES:
        yield name, [sys.executable, os.path.join(HERE, name + ".py")]
    for name in sorted(f[:-2] for f in os.listdir(HERE) if f.endswith("_bench.c")):
        yield name, [weft.program(name)]
    path = large_debug_file()
    if path:
        yield "symbol_large", [weft.program("symbol_bench"), path, BUDGET_MIB, "symbol_large"]


def large_debug_file():
    """The file with most debug information among those that many machines have; None: there is none."""
    found = [os.path.realpath(p) for n in ("cargo", "node", "python3") for p in [shutil.which(n)] if p]
    for pattern in LARGE_FILES:
        found += glob.glob(os.path.expanduser(pattern))
    size, path = max(((debug_information_size(p), p) for p in found), default=(0, None))
    return path if size else None


def debug_information_size(path):
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False).stdout
    size = re.search(r" \.z?debug_info +\w+ +\w+ +\w+ +(\w+)", sections)
    return int(size.group(1), 16) if size else 0


def run(name, command):
    """The figures of one measure as it prints them; a measure that fails is a figure that is missed."""
    failed, begun = 0, time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONUNBUFFERED="1")) as child:
        for line in child.stdout:
            found = FIGURE.match(line.strip())
            verdict = goals.verdict(found.group(1), float(found.group(2))) if found else ""
            failed += verdict.startswith("MISS")
            print(line.rstrip() + ("  # " + verdict if verdict else ""), flush=True)
    if child.returncode:
        print("# MISS %s: exit %d" % (name, child.returncode), flush=True)
        failed += 1
    print("# %s took %.0f s" % (name, time.monotonic() - begun), flush=True)
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
