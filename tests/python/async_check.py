#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `weft record -e async` says of a program with what is so.

    async_check.py stacks WEFT PYTHON [pure|uvloop]   tasks_program.py: every task's logical stack
    async_check.py times WEFT PYTHON [uvloop]         async_program.py: seconds by state and place
    async_check.py churn WEFT PYTHON                  tasks_program.py: tasks that never stay where they are
    async_check.py cpu WEFT PYTHON                    async_cpu_program.py: the stacks of --async
    async_check.py forked WEFT PYTHON [uvloop]        forked_program.py: what children have of their parent's tasks
    async_check.py many WEFT PYTHON N                 N tasks: one sample, and what a sweep costs"""
import bisect
import collections
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accuracy"))
import pprof

LOST = "[broken: who waits for it changed meanwhile]"
SEVERAL = "[several tasks wait for it]"
# What one place may be off by: a share of what it should be, and chance, as a sweep sees one moment. The tasks of
# one kind may all be at the same place at the same time.
SHARE, SIGMAS = 0.04, 4
N_NAPPERS = 20
SECONDS = 8


def run(program, python, *args):
    return subprocess.Popen([python, "-W", "ignore", os.path.join(HERE, program), *args], stdout=subprocess.PIPE)


def record(weft, pid, folder, *options):
    path = os.path.join(folder, "async.pb.gz")
    result = subprocess.run([weft, "record", "-p", str(pid), "-o", path, *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        sys.exit("weft record exits with %d: %s" % (result.returncode, result.stderr.decode()))
    return pprof.read(path), result.stderr.decode()


def names(sample):
    return [f.name for f in reversed(sample.frames)]


def stack_of(name, chains, parents):
    """The logical stack of a task, its root first."""
    chain = chains[name]
    above = [stack_of(parent, chains, parents) + ["[%s]" % how] for parent, how in sorted(parents.get(name, ()))]
    if any(a != above[0] for a in above):
        return [SEVERAL] + chain
    return (above[0] if above else []) + chain


def wanted_stacks(so):
    chains = {t["coroutine"]: [f[0] for f in t["chain"]] for t in so["tasks"]}
    chains[so["running"]] = ["busy", "spin"]
    parents = collections.defaultdict(set)
    for child, parent, how in so["edges"]:
        parents[child].add((parent, how))
    # Its loop is none that a thread runs.
    return sorted(stack_of(name, chains, parents) for name in chains if name != "never_started")


def short(stack, running):
    """Functions have no qualified names before 3.11, coroutines have."""
    return [name.rpartition(".")[2] if running in stack else name for name in stack]


def check_stacks(weft, python, *kind):
    program = run("tasks_program.py", python, "edges", *kind)
    try:
        so = json.loads(program.stdout.readline())
        with tempfile.TemporaryDirectory() as folder:
            profile, _ = record(weft, program.pid, folder, "-e", "async", "-d", "0.5")
    finally:
        program.kill()
        program.wait()
    got = {}
    for sample in profile.samples:
        got.setdefault(tuple(short(names(sample), so["running"])), set()).add(
            (sample.labels["state"], sample.labels.get("wait")))
    want = {tuple(stack) for stack in wanted_stacks(so)}
    for stack in sorted(want - set(got)):
        print("# missing:", " → ".join(stack))
    for stack in sorted(set(got) - want):
        print("# not so:", " → ".join(stack))
    print("%d logical stacks, %d of %d are so" % (len(got), len(want & set(got)), len(want)))
    return want == set(got)


def seconds_between(lines, start, end):
    times = [line["t"] for line in lines]

    def until(t):
        i = min(max(bisect.bisect(times, t) - 1, 0), len(lines) - 1)
        return lines[i]["seconds"]

    before, after = until(start), until(end)
    return {point: s - before.get(point, 0) for point, s in after.items()}


def may_be_off(point, want, seconds, n_sweeps):
    n_tasks = N_NAPPERS if "nap" in point else 2 if "part" in point else 1
    share = min(want / (n_tasks * seconds), 1)
    return SHARE * want + SIGMAS * n_tasks * seconds * math.sqrt(max(share * (1 - share), 0.01) / n_sweeps)


def sums_of(profile, points):
    value = [t[0] for t in profile.sample_types].index("async_wall")
    sums = collections.Counter()
    for sample in profile.samples:
        name = next((n for n in reversed(names(sample)) if n in points), None)
        state = sample.labels["state"]
        # Only one task knows when it is about to go on: for the others that is the end of their waiting.
        if state == "runnable" and name != "woken":
            state = "waiting"
        if name:
            sums["%s %s" % (state, name)] += sample.values[value] / 1e9
    return sums


def check_times(weft, python, *kind):
    with tempfile.TemporaryDirectory() as folder:
        truth = os.path.join(folder, "truth")
        program = run("async_program.py", python, truth, *kind)
        try:
            while not os.path.exists(truth) or not os.path.getsize(truth):
                if program.poll() is not None:
                    sys.exit("the program ended")
                time.sleep(0.05)
            profile, _ = record(weft, program.pid, folder, "-e", "async", "-d", str(SECONDS), "-F", "40")
        finally:
            program.kill()
            program.wait()
        with open(truth) as f:
            lines = [json.loads(line) for line in f if line.endswith("\n")]
    # weft says when its recording began and how long it was; what was before and after is not in it.
    begin = profile.time_ns / 1e9
    want = seconds_between(lines, begin, begin + profile.duration_ns / 1e9)
    got = sums_of(profile, {point.split()[1] for point in want})
    all_seconds, is_right = profile.duration_ns / 1e9, True
    n_sweeps = sum(s.values[0] for s in profile.samples if "gatherer" in names(s) and "part" not in names(s))
    for point in sorted(set(want) | set(got)):
        off = abs(got[point] - want.get(point, 0))
        is_off = off > may_be_off(point, want.get(point, 0), all_seconds, n_sweeps)
        is_right = is_right and not is_off
        if is_off:
            print("# %s: %.2f s instead of %.2f s" % (point, got[point], want.get(point, 0)))
    print("%d looks, %s" % (n_sweeps, ", ".join("%s %.2f (%.2f)" % (p, got[p], want[p]) for p in sorted(want))))
    return is_right and n_sweeps > 10


def check_forked(weft, python, *kind):
    program = run("forked_program.py", python, *kind)
    children = []
    try:
        n_copies, *children = [int(word) for word in program.stdout.readline().split()]
        with tempfile.TemporaryDirectory() as folder:
            profile, said = record(weft, program.pid, folder, "-e", "async", "-d", "1.5")
    finally:
        for pid in [*children, program.pid]:
            os.kill(pid, signal.SIGKILL)
        program.wait()
    value = [t[0] for t in profile.sample_types].index("async_wall")
    seconds = sum(s.values[value] for s in profile.samples if "sleeper" in names(s)) / 1e9
    print("ten tasks sleep for %.1f s in all, those of %d children not at all" % (seconds, len(children)))
    tasks = seconds / (profile.duration_ns / 1e9)
    return len(children) == 2 and 8 < tasks < 11 and ("no thread ran its loop" in said) == (n_copies > 0)


def check_many(weft, python, n):
    program = run("tasks_program.py", python, "many", n)
    try:
        program.stdout.readline()
        with tempfile.TemporaryDirectory() as folder:
            profile, said = record(weft, program.pid, folder, "-e", "async", "-d", "4",
                                   "--stats")
    finally:
        program.kill()
        program.wait()
    sleepers = [s for s in profile.samples if s.labels.get("task") == "Task-*" and s.labels["state"] == "waiting"]
    largest = re.search(r"the largest: (\d+) tasks, ([0-9.]+) ms of user CPU", said)
    print("%s tasks are %d samples, %s ms of user CPU a sweep" % (largest[1], len(profile.samples), largest[2]))
    # The goal is 100 ms; a sanitizer or a busy machine is no failure of it.
    return int(largest[1]) == int(n) + 1 and len(sleepers) <= 2 and float(largest[2]) <= 400


def check_cpu(weft, python):
    program = run("async_cpu_program.py", python)
    try:
        legal = {tuple(stack) for stack in json.loads(program.stdout.readline())}
        with tempfile.TemporaryDirectory() as folder:
            profile, _ = record(weft, program.pid, folder, "--async", "-F", "199", "-d", "4")
    finally:
        program.kill()
        program.wait()
    n = collections.Counter()
    for sample in profile.samples:
        if "task" not in sample.labels:
            continue
        # What asyncio and the interpreter do in a task is theirs; what counts is the program's, and what is between.
        frames = [f for f in reversed(sample.frames) if f.source.endswith("async_cpu_program.py") or f.name[0] == "["]
        stack = tuple(f.name.rpartition(".")[2] for f in frames)
        kind = "unknown" if stack[:1] == (LOST,) else "right" if stack in legal else "wrong"
        n[kind] += sample.values[0]
        if kind == "wrong":
            print("#", " → ".join(stack))
    print("%d stacks right, %d with parents unknown, %d wrong" % (n["right"], n["unknown"], n["wrong"]))
    # Tasks that end before weft has its turn have unknown parents: some 1 %, and more on a busy machine.
    return n["right"] > 20 and not n["wrong"] and n["unknown"] <= n["right"]


def check_churn(weft, python):
    program = run("tasks_program.py", python, "churn", "200")
    try:
        legal = [list(chain) for chain in json.loads(program.stdout.readline())["legal"]]
        with tempfile.TemporaryDirectory() as folder:
            profile, _ = record(weft, program.pid, folder, "-e", "async", "-F", "50", "-d", "3")
    finally:
        program.kill()
        program.wait()
    parent = next(chain for chain in legal if chain[-1] == "both")
    legal = [parent + ["[gather]"] + chain if chain[0] == "child" else chain for chain in legal]
    n = collections.Counter()
    for sample in profile.samples:
        stack, state = names(sample), sample.labels["state"]
        if stack[0] == LOST:
            kind = "lost"
        elif state == "waiting":
            kind = "right" if stack in legal else "wrong"
        else:  # on its way through one of them, or not begun and nobody's yet
            is_on_way = stack == ["child"] or any(stack == way[:len(stack)] for way in legal)
            kind = "right" if state == "running" or is_on_way else "wrong"
        n[kind] += sample.values[0]
        if kind == "wrong":
            print("# %s:" % state, " → ".join(stack))
    print("%d stacks right, %d with parents unknown, %d wrong" % (n["right"], n["lost"], n["wrong"]))
    return n["right"] > 200 and not n["wrong"] and n["lost"] <= n["right"]


CHECKS = {"churn": check_churn, "cpu": check_cpu, "stacks": check_stacks, "times": check_times, "many": check_many,
          "forked": check_forked}
sys.exit(not CHECKS[sys.argv[1]](*sys.argv[2:]))
