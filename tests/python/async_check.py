#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `weft record -e async` says of programs with what is so.

    async_check.py SCENE WEFT PROGRAM...

A PROGRAM is "TEXT|PYTHON[|KIND[|FOLDER OF PACKAGES]]"; all of them run at the same time and are recorded together.
Prints "ok TEXT: what was found" or "not ok ..." for each, behind lines with # that say what is wrong. SCENE:

    stacks    tasks_program.py: every task's logical stack; KIND: pure, uvloop
    times     async_program.py: seconds by state and place; KIND: uvloop
    churn     tasks_program.py: tasks that never stay where they are
    cpu       async_cpu_program.py: the stacks of --async, and the names of tasks; KIND: brief
    pool      async_pool_program.py: names of tasks on the samples of threads that work for them; KIND: anyio, uvloop
    forked    forked_program.py: what children have of their parent's tasks; KIND: uvloop
    many      10,000 tasks: one sample, and what a sweep costs"""
import bisect
import collections
import contextlib
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
N_MANY = 10000
GOAL = 0.995


class Program:
    """One that runs, and what the recording has of it."""

    def __init__(self, script, subject, *args):
        self.text, python, self.kind, folder = (subject.split("|") + ["", ""])[:4]
        env = dict(os.environ, PYTHONPATH=folder) if folder else None
        args = [*args, self.kind] if self.kind else args
        self.process = subprocess.Popen([python, "-W", "ignore", os.path.join(HERE, script), *args],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.pid = self.process.pid
        self.children = []

    def line(self):
        return self.process.stdout.readline()

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stdin.close()

    def samples(self, profile):
        return [s for s in profile.samples if s.labels["pid"] in (self.pid, *self.children)]


@contextlib.contextmanager
def programs(script, subjects, *args):
    running = []
    try:
        for subject in subjects:
            running.append(Program(script, subject, *args))
        yield running
    finally:
        for program in running:
            program.end()


def record(weft, running, *options, begin=lambda: None):
    """The profile, and what weft said. It calls begin() once it records."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "async.pb.gz")
        pids = ",".join(str(program.pid) for program in running)
        recorder = subprocess.Popen([weft, "record", "-p", pids, "-o", path, *options],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = ""
        for line in recorder.stderr:
            said += line.decode()
            if b"recording" in line:
                begin()
        if recorder.wait():
            sys.exit("weft record exits with %d: %s" % (recorder.returncode, said))
        return pprof.read(path), said


def say(program, is_right, found):
    print("%s %s: %s" % ("ok" if is_right else "not ok", program.text, found))


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


def check_stacks(weft, subjects):
    with programs("tasks_program.py", subjects, "edges") as running:
        truths = [json.loads(program.line()) for program in running]
        profile, _ = record(weft, running, "-e", "async", "-d", "0.5")
    for program, so in zip(running, truths):
        got = {}
        for sample in program.samples(profile):
            got.setdefault(tuple(short(names(sample), so["running"])), set()).add(
                (sample.labels["state"], sample.labels.get("wait")))
        want = {tuple(stack) for stack in wanted_stacks(so)}
        for stack in sorted(want - set(got)):
            print("# missing:", " → ".join(stack))
        for stack in sorted(set(got) - want):
            print("# not so:", " → ".join(stack))
        say(program, want == set(got), "%d logical stacks, %d of %d are so" % (len(got), len(want & set(got)), len(want)))


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
    # Looks are worth from half of their mean to half more, which adds a twelfth.
    chance = max(share * (1 - share), 0.01) * 13 / 12 / n_sweeps
    return SHARE * want + SIGMAS * n_tasks * seconds * math.sqrt(chance)


def sums_of(samples, value, points):
    sums = collections.Counter()
    for sample in samples:
        name = next((n for n in reversed(names(sample)) if n in points), None)
        state = sample.labels["state"]
        # Only one task knows when it is about to go on: for the others that is the end of their waiting.
        if state == "runnable" and name != "woken":
            state = "waiting"
        if name:
            sums["%s %s" % (state, name)] += sample.values[value] / 1e9
    return sums


def check_sums(program, profile, lines):
    value = [t[0] for t in profile.sample_types].index("async_wall")
    samples = program.samples(profile)
    # weft says when its recording began and how long it was; what was before and after is not in it.
    begin, all_seconds = profile.time_ns / 1e9, profile.duration_ns / 1e9
    want = seconds_between(lines, begin, begin + all_seconds)
    got, is_right = sums_of(samples, value, {point.split()[1] for point in want}), True
    n_sweeps = sum(s.values[0] for s in samples if "gatherer" in names(s) and "part" not in names(s))
    for point in sorted(set(want) | set(got)):
        off = abs(got[point] - want.get(point, 0))
        is_off = off > may_be_off(point, want.get(point, 0), all_seconds, max(n_sweeps, 1))
        is_right = is_right and not is_off
        if is_off:
            print("# %s: %.2f s instead of %.2f s" % (point, got[point], want.get(point, 0)))
    say(program, is_right and n_sweeps > 5,
        "%d looks, %s" % (n_sweeps, ", ".join("%s %.2f (%.2f)" % (p, got[p], want[p]) for p in sorted(want))))


def check_times(weft, subjects):
    """Two at a time: each one uses some 45 % of a CPU."""
    for pair in [subjects[i:i + 2] for i in range(0, len(subjects), 2)]:
        with programs("async_program.py", pair) as running:
            lines = [[] for _ in running]
            for program in running:
                program.line()
            profile, _ = record(weft, running, "-e", "async", "-d", "6", "-F", "40")
            time.sleep(0.1)
            for program, said in zip(running, lines):
                program.process.send_signal(signal.SIGTERM)
                said += [json.loads(line) for line in program.process.stdout if line.endswith(b"\n")]
        for program, said in zip(running, lines):
            check_sums(program, profile, said)


def check_forked(weft, subjects):
    with programs("forked_program.py", subjects) as running:
        n_copies = []
        for program in running:
            n, *program.children = [int(word) for word in program.line().split()]
            n_copies.append(n)
        said = {}
        for is_copied in {n > 0 for n in n_copies}:
            some = [program for program, n in zip(running, n_copies) if (n > 0) == is_copied]
            said[is_copied] = record(weft, some, "-e", "async", "-d", "1")
    for program, n in zip(running, n_copies):
        profile, text = said[n > 0]
        value = [t[0] for t in profile.sample_types].index("async_wall")
        seconds = sum(s.values[value] for s in program.samples(profile) if "sleeper" in names(s)) / 1e9
        tasks = seconds / (profile.duration_ns / 1e9)
        say(program, len(program.children) == 2 and 8 < tasks < 11 and ("no thread ran its loop" in text) == (n > 0),
            "ten tasks sleep for %.1f s in all, those of %d children not at all" % (seconds, len(program.children)))


def check_many(weft, subjects):
    with programs("tasks_program.py", subjects, "many", str(N_MANY)) as running:
        running[0].line()
        profile, said = record(weft, running, "-e", "async", "-d", "2", "--stats")
    sleepers = [s for s in profile.samples if s.labels.get("task") == "Task-*" and s.labels["state"] == "waiting"]
    n, ms = re.search(r"the largest: (\d+) tasks, ([0-9.]+) ms of user CPU", said).groups()
    # The goal is 100 ms; a sanitizer or a busy machine is no failure of it.
    say(running[0], int(n) == N_MANY + 1 and len(sleepers) <= 2 and float(ms) <= 400,
        "%s tasks are %d samples, %s ms of user CPU a sweep" % (n, len(profile.samples), ms))


def count_cpu(samples, legal):
    """Of the samples in a task: are stack and name right? A task is named after its coroutine."""
    n = collections.Counter()
    for sample in samples:
        # What asyncio and the interpreter do in a task is theirs; what counts is the program's, and what is between.
        frames = [f for f in reversed(sample.frames) if f.source.endswith("async_cpu_program.py") or f.name[:1] == "["]
        stack = tuple(f.name.rpartition(".")[2] for f in frames)
        name = sample.labels.get("task", "")
        if "spin" in stack:
            own = next(stack[i + 1] for i in range(len(stack) - 1, -2, -1) if i < 0 or stack[i][0] == "[")
            what = "named" if name.rpartition(".")[2] == own else "wrong name" if name else "no name"
            n[what] += sample.values[0]
            if what != "named":
                print("# %r:" % name, " → ".join(stack))
        if not name or stack == ("<module>",):
            continue  # asyncio begins or ends a step of it
        kind = "unknown" if stack[:1] == (LOST,) else "right" if stack in legal else "wrong"
        n[kind] += sample.values[0]
        if kind == "wrong":
            print("#", " → ".join(stack))
    return n


def check_cpu(weft, subjects):
    with programs("async_cpu_program.py", subjects) as running:
        legal = [{tuple(stack) for stack in json.loads(program.line())} for program in running]
        profile, _ = record(weft, running, "--async", "-F", "499", begin=lambda: [p.go() for p in running])
    for program, stacks in zip(running, legal):
        n = count_cpu(program.samples(profile), stacks)
        n_spins = n["named"] + n["no name"] + n["wrong name"]
        say(program, n_spins > 100 and n["named"] >= GOAL * n_spins and not n["wrong name"] and
            not n["wrong"] and n["right"] >= GOAL * (n["right"] + n["unknown"]),
            "%d of %d samples have the name of their task; %d stacks right, %d with parents unknown, %d wrong" % (
                n["named"], n_spins, n["right"], n["unknown"], n["wrong"]))


POOLED = ("held", "released", "gathered", "wrapped", "shielded", "copied", "lent", "left", "nobody")


def check_pool(weft, subjects):
    with programs("async_pool_program.py", subjects) as running:
        for program in running:
            program.line()
        profile, _ = record(weft, running, "-F", "499", begin=lambda: [p.go() for p in running])
    for program in running:
        n = collections.Counter()
        for sample in program.samples(profile):
            function = next((f.name for f in reversed(sample.frames) if f.name in POOLED), None)
            name = sample.labels.get("task", "")
            # Until then it may run before the task comes to wait for it.
            if function and all(f.name != "await_waiter" for f in sample.frames):
                kind = "wrong" if name not in (function, "") or name == "nobody" else function if function in (
                    "left", "nobody") else "named" if name else "none"
                n[kind] += sample.values[0]
                if kind in ("wrong", "none"):
                    print("# %s has %r" % (function, name))
        n_waited = n["named"] + n["none"]
        say(program, n["named"] > 100 and n["named"] >= 0.99 * n_waited and n["nobody"] > 20 and not n["wrong"],
            "%d of %d samples have the name of the task that waits, %d a wrong one; %d are of nobody's" % (
                n["named"], n_waited, n["wrong"], n["nobody"]))


def kind_of(sample, legal):
    stack, state = names(sample), sample.labels["state"]
    if stack[0] == LOST:
        return "lost"
    if state == "waiting":
        return "right" if stack in legal else "wrong"
    # On its way through one of them, or not begun and nobody's yet.
    is_on_way = stack == ["child"] or any(stack == way[:len(stack)] for way in legal)
    return "right" if state == "running" or is_on_way else "wrong"


def check_churn(weft, subjects):
    with programs("tasks_program.py", subjects, "churn", "200") as running:
        legals = [[list(chain) for chain in json.loads(program.line())["legal"]] for program in running]
        profile, _ = record(weft, running, "-e", "async", "-F", "50", "-d", "3")
    for program, legal in zip(running, legals):
        parent = next(chain for chain in legal if chain[-1] == "both")
        legal = [parent + ["[gather]"] + chain if chain[0] == "child" else chain for chain in legal]
        n = collections.Counter()
        for sample in program.samples(profile):
            kind = kind_of(sample, legal)
            n[kind] += sample.values[0]
            if kind == "wrong":
                print("# %s:" % sample.labels["state"], " → ".join(names(sample)))
        say(program, n["right"] > 500 and not n["wrong"] and n["lost"] <= 0.1 * n["right"],
            "%d stacks right, %d with parents unknown, %d wrong" % (n["right"], n["lost"], n["wrong"]))


CHECKS = {"churn": check_churn, "cpu": check_cpu, "pool": check_pool, "stacks": check_stacks, "times": check_times, "many": check_many,
          "forked": check_forked}
CHECKS[sys.argv[1]](sys.argv[2], sys.argv[3:])
