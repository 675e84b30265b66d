#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `weft dump` and `weft record -e async` say of anyio_program.py with its own list of who waits for whom.

    anyio_check.py WEFT PYTHON"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accuracy"))
import pprof  # noqa: E402

PROGRAM = os.path.join(HERE, "anyio_program.py")
EDGES = [["inner", "outer"], ["inner", "outer"], ["one", "inner"], ["one", "inner"], ["two", "starting"]]
STACKS = {("outer",), ("outer", "[TaskGroup]", "inner"), ("outer", "[TaskGroup]", "inner", "[TaskGroup]", "one"),
          ("starting",), ("starting", "[TaskGroup]", "two")}
REASONS = {"outer": "TaskGroup", "inner": "Event.wait", "starting": "TaskGroup", "one": "sleep", "two": "Event.wait"}
MINE = set(REASONS)


def mine(names):
    """The program's function of a task's stack: anyio's own coroutines may stand before it."""
    return next(name for name in names if name in MINE)


def said_by_dump(weft, pid):
    result = subprocess.run([weft, "dump", "--json", str(pid)], stdout=subprocess.PIPE, check=True)
    tasks = json.loads(result.stdout.decode())["tasks"]
    names = {t["id"]: mine(f["function"] for f in t["stack"]) for t in tasks}
    edges = sorted([names[t["id"]], names[w["task"]]] for t in tasks for w in t["awaited_by"])
    return edges, {names[t["id"]]: t["reason"] for t in tasks}


def said_by_sweeps(weft, pid):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "weft.pb.gz")
        subprocess.run([weft, "record", "-q", "-e", "async", "-d", "0.5", "-o", path, "-p", str(pid)], check=True)
        samples = pprof.read(path).samples
    stacks = [[f.name for f in reversed(s.frames) if f.name in MINE or f.name.startswith("[")] for s in samples]
    # anyio.run() runs the coroutine in one that it calls the same.
    return {tuple(name for name, _ in itertools.groupby(stack)) for stack in stacks}


def main():
    weft, python = sys.argv[1:3]
    program = subprocess.Popen([python, PROGRAM], stdout=subprocess.PIPE)
    try:
        if program.stdout.readline() != b"ready\n":
            sys.exit("the program did not start")
        edges, reasons = said_by_dump(weft, program.pid)
        stacks = said_by_sweeps(weft, program.pid)
    finally:
        program.kill()
        program.wait()
    for what, got, want in (("edges", edges, EDGES), ("reasons", reasons, REASONS), ("stacks", stacks, STACKS)):
        if got != want:
            print("# %s: %s instead of %s" % (what, got, want))
    print("%d edges of anyio's task groups, %d logical stacks" % (len(edges), len(stacks)))
    sys.exit((edges, reasons, stacks) != (EDGES, REASONS, STACKS))


main()
