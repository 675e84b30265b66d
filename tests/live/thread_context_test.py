#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that say which span they are in by OTEP 4947, with the variable in a program or a library, in every way in
which compilers refer to one; each sample's labels against the function it is in. Needs root and BPF."""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

TOP = os.path.abspath(os.path.dirname(__file__) + "/../..")
WEFT = os.path.join(TOP, os.environ.get("BUILD", "build"), "weft")
CC = os.environ.get("CC", "cc")
IN = re.compile(r"in_(?:none|([0-9a-f]{32})_([0-9a-f]{16}))$")
GOAL = 0.995
GNU2 = "-mtls-dialect=gnu2"
# name: how the program is compiled, how the library is, and whether it is loaded or linked
WAYS = {
    "a program's own": (["-DIN_PROGRAM", "-rdynamic"], None, None),
    "a program's own, not relocatable": (["-DIN_PROGRAM", "-rdynamic", "-no-pie", "-fno-pie"], None, None),
    "a linked library's": (["-DIS_LINKED"], [], "linked"),
    "a linked library's, initial-exec": (["-DIS_LINKED"], ["-ftls-model=initial-exec"], "linked"),
    "a linked library's, descriptors": (["-DIS_LINKED"], [GNU2], "linked"),
    "a loaded library's": ([], [], "loaded"),
    "a loaded library's, descriptors": ([], [GNU2], "loaded"),
    "a loaded library's, large, descriptors": ([], [GNU2, "-DLARGE"], "loaded"),
    "a linked library's with musl": (["-DIS_LINKED"], [], "linked"),
    "a loaded library's with musl": ([], [], "loaded"),
    "a library's, loaded while it is sampled,": ([], [], "loaded"),
}


def build(work, way):
    """The command of the program."""
    flags, library_flags, kind = WAYS[way]
    compiler = "musl-gcc" if "musl" in way else CC
    program, library = os.path.join(work, "program"), os.path.join(work, "libcontext.so")
    source = os.path.join(TOP, "tests/live/thread_context")
    if library_flags is not None:
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", *library_flags, "-o", library, source + "_lib.c"], check=True)
    subprocess.run([compiler, "-O2", "-g", "-D_GNU_SOURCE", *flags, "-o", program, source + ".c",
                    *([library, "-Wl,-rpath," + work] if kind == "linked" else []), "-ldl", "-lpthread"], check=True)
    return [program, "1.5" if "while" in way else "30"] + ([library] if kind == "loaded" else [])


def verdict(event):
    names = (IN.match(f["method"]) for f in event["stackFrames"])
    function = next((m for m in names if m), None)
    labels = event.get("labels", {})
    got = labels.get("trace_id"), labels.get("span_id")
    if not function:
        return "elsewhere"
    if got == function.groups():
        return "right" if any(got) else "outside"
    return "wrong" if any(got) else "missing"


def measure(work, way):
    path = os.path.join(work, "weft.json")
    command, record = build(work, way), [WEFT, "record", "-q", "-F", "997", "-o", path]
    counts = Counter()
    if "while" in way:
        subprocess.run([*record, "--", *command], stdout=subprocess.DEVNULL, check=True)
    else:
        with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
            program.stdout.readline()
            try:
                subprocess.run([*record, "-d", "1.5", "-p", str(program.pid)], check=True)
            finally:
                program.kill()
    with open(path) as f:
        for line in f:
            event = json.loads(line)
            counts[verdict(event)] += event["sampleWeight"]
    return counts


def main():
    if subprocess.run([WEFT, "doctor"], capture_output=True, check=False).returncode == 3:
        print("1..0 # SKIP weft cannot profile here")
        return 77
    failed = 0
    for i, way in enumerate(WAYS, 1):
        with tempfile.TemporaryDirectory(prefix="weft-context.") as work:
            try:
                counts = measure(work, way)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"ok {i} - {way} variable # SKIP {error}")
                continue
        inside = counts["right"] + counts["wrong"] + counts["missing"]
        goal = 0.8 if "while" in way else GOAL  # what was sampled before it was found
        is_good = inside > 100 and counts["outside"] and not counts["wrong"] and counts["right"] >= goal * inside
        failed += not is_good
        print(f"{'' if is_good else 'not '}ok {i} - {way} variable: {counts['right']} of {inside} samples in a span "
              f"carry its ids, {counts['wrong']} wrong ones, {counts['outside']} outside of spans", flush=True)
    print(f"1..{len(WAYS)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
