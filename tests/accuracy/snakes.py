#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
make accuracy GROUP=python: a program whose Python stacks are known (programs/snake.py) under every CPython
there is. A sample is exact when its Python frames are those of a legal stack, and in order when the native
frames stand between them where native code was between. Ticks: samples by the time that the program measured of itself. The label `task` is
right when it is the name of the task that the stack's functions belong to, and absent where they belong to none.
"""
import json
import math
import operator
import os
import re
import sys
import tempfile
import time
from collections import Counter, namedtuple

import pprof
import tools
from bound import wilson

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "programs", "snake.py")
SCENES = ("calls", "deep", "mixed", "native", "awaits", "threads", "forks", "tasks")
QUICK_SCENES = ("mixed", "native", "threads", "tasks")
EVAL = re.compile(r"_PyEval_EvalFrame(Default)?\b")

# How far the time of samples may be from what passed: the goal, and three standard deviations of the sampling.
TICKS_OFF, TICKS_SPREAD = 0.01, 3

# timed: ns of samples in what the program measures of itself.
Score = namedtuple("Score", "n exact order outside wrong lost timed expected missed")
Legal = namedtuple("Legal", "frames order")


def short(name):
    return name.rpartition(".")[2]


def legal(text, version):
    """(names each Python frame may have, root first, pattern of the whole stack). Up to 3.10 a name is only
    qualified where that is certain, and every call goes through native code."""
    frames, order = [], []
    between = "(?:N )*"
    text = text.replace("@thread", "Thread._bootstrap;Thread._bootstrap_inner;?;Thread.run")
    for part in text.split(";"):
        if part in ("~", "?"):
            between = "(?:N )+" if part == "~" else "(?:N )*"
            continue
        names = [part] if version >= (3, 11) else [part, short(part)]
        frames.append(names)
        order.append(between + "P(?:" + "|".join(map(re.escape, names)) + ") ")
        between = "" if version >= (3, 11) else "(?:N )*"
    return Legal(tuple(frames), re.compile("".join(order) + "(?:N )*"))


def read_truth(text, version):
    legals, seconds = {}, 0
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "legal":
            cpu, _, stack = rest.partition(" ")
            seconds += float(cpu)
            legals[stack] = legal(stack, version)
    return list(legals.values()), seconds


def stack_of(sample):
    """[(is Python, name)], root first, user frames only."""
    out = []
    for f in reversed(sample.frames):
        if f.address >= tools.KERNEL_START or f.file.startswith("[kernel"):
            continue
        out.append((f.source.endswith(".py") or f.source.startswith("<"), f.name))
    return out


def judge(stack, legals, leaves):
    python = tuple(name for is_python, name in stack if is_python)
    text = "".join(("P" + name if is_python else "N") + " " for is_python, name in stack)
    mark = any(re.match(r"\[(truncated|broken|unknown Python)", name) for _, name in stack)
    for l in legals:
        if len(l.frames) == len(python) and all(map(operator.contains, l.frames, python)) and not mark:
            return "order" if l.order.fullmatch(text) and (False, "_PyEval_EvalFrame") not in stack else "exact"
    if not python:
        is_start = any(name.startswith("Py_InitializeFromConfig") for _, name in stack)
        return "lost" if not mark and not is_start and any(EVAL.match(name) for _, name in stack) else "outside"
    # What is neither a leaf nor under it: the program's start and end, its own bookkeeping.
    if not any(short(name) in leaves for name in python):
        return "outside"
    return "wrong"


def score(path, output, version):
    legals, seconds = read_truth(output, version)
    leaves = {short(l.frames[-1][0]) for l in legals}
    profile = pprof.read(path)
    at, time_at = (profile.sample_types.index(kind) for kind in (("samples", "count"), ("cpu", "nanoseconds")))
    counts, missed, timed, worth = Counter(), Counter(), 0, clock_lines()
    for sample in profile.samples:
        stack = stack_of(sample)
        verdict = judge(stack, legals, leaves)
        timed += sample.values[time_at] * sum(worth.get(f.line, 0) for f in sample.frames if f.name == "timed")
        counts[verdict] += sample.values[at]
        if verdict not in ("order", "outside"):
            missed[verdict, ";".join(name for _, name in stack)] += sample.values[at]
    inside = counts["order"] + counts["exact"] + counts["wrong"] + counts["lost"]
    return Score(inside, counts["order"] + counts["exact"], counts["order"], counts["outside"], counts["wrong"],
                 counts["lost"], timed, seconds * 1e9, missed)


def clock_lines():
    """What a sample counts for, by the line that `timed` is at: between its two looks at the clock, and half at those."""
    with open(PROGRAM, encoding="utf-8") as f:
        lines = [line.strip() for line in f]
    return {lines.index("start = clock()") + 1: 0.5, lines.index("result = call(*arguments)") + 1: 1,
            lines.index("used = clock() - start") + 1: 0.5}


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def version_of(python):
    out = tools.run([*python, "-c", "import sys; print(sys.version_info[:3])"]).stdout
    return tuple(int(n) for n in re.findall(r"\d+", out))


def name_of(python):
    return tools.run([*python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3] + sys.abiflags)"]).stdout.strip()


def measure(python, scene, seconds, work):
    version = version_of(python)
    path = os.path.join(work, "weft.pb.gz")
    done = tools.run([tools.WEFT, "record", "-q", "-F", str(tools.FREQUENCY), "-o", path, "--", *python, PROGRAM, scene,
                      str(seconds)])
    s = score(path, done.stdout, version)
    ticks = s.timed / s.expected if s.expected else 0
    ok = (percent(s.exact, s.n) >= 99.5 and percent(s.order, s.n) >= 99.0 and s.n and s.wrong == 0 and
          abs(ticks - 1) <= TICKS_OFF + TICKS_SPREAD / math.sqrt(max(1, s.n)))
    print("%-8s %-8s %6d %7.2f %7.2f %7.2f %5d %5d %5d %6.3f  %s" % (
        name_of(python), scene, s.n, percent(s.exact, s.n), wilson(s.exact, s.n)[0], percent(s.order, s.n),
        s.wrong, s.lost, s.outside, ticks, "ok" if ok else "MISS"), flush=True)
    for (verdict, stack), n in s.missed.most_common(8 if os.environ.get("V") else 3 if not ok else 0):
        print("    %5d %-6s %s" % (n, verdict, stack))
    return ok


def read_owners(text):
    """function: names of its tasks, "" for none"""
    words = [line.split(" ", 2) for line in text.splitlines() if line.startswith("task ")]
    return {word[1]: json.loads(word[2]) for word in words}


def is_name(label, names):
    is_cut = label.endswith("\u2026") and len(label) > 100
    return any(label == name or (is_cut and name.startswith(label[:-1])) for name in names)


def judge_task(stack, label, owners):
    """Whoever calls a coroutine function executes it until it has made the coroutine. Samples of no function
    that is known prove nothing: the program's start and end, a loop between two tasks."""
    known = [short(name) for is_python, name in stack if is_python and short(name) in owners]
    if not known:
        return "open" if label else "outside"
    names = owners[known[-1]]
    if names == [""]:
        return "wrong" if label else "free"
    if is_name(label, names) or (len(known) > 1 and not known[-1].startswith(("spin_", "hash_")) and
                                 is_name(label, owners[known[-2]])):
        return "right"
    return "wrong" if label else "none"


def measure_tasks(python, seconds, work):
    version = version_of(python)
    path = os.path.join(work, "weft.pb.gz")
    done = tools.run([tools.WEFT, "record", "-q", "-F", str(tools.FREQUENCY), "-o", path, "--", *python, PROGRAM,
                      "tasks", str(seconds)])
    owners, profile = read_owners(done.stdout), pprof.read(path)
    at = profile.sample_types.index(("samples", "count"))
    counts, missed = Counter(), Counter()
    for sample in profile.samples:
        stack, label = stack_of(sample), sample.labels.get("task", "")
        verdict = judge_task(stack, label, owners)
        counts[verdict] += sample.values[at]
        if verdict in ("none", "wrong"):
            missed[verdict, label, ";".join(name for _, name in stack)] += sample.values[at]
    n = counts["right"] + counts["none"] + counts["wrong"]	# of a task, or labelled
    ok = n and percent(counts["right"], n) >= 99.5 and not counts["wrong"]
    print("%-8s tasks    %6d right %6.2f %% (bound %.2f) none %d wrong %d; free %d open %d outside %d  %s" % (
        name_of(python), n, percent(counts["right"], n), wilson(counts["right"], n)[0], counts["none"],
        counts["wrong"], counts["free"], counts["open"], counts["outside"], "ok" if ok else "MISS"), flush=True)
    for (verdict, label, stack), count in missed.most_common(8 if os.environ.get("V") else 3 if not ok else 0):
        print("    %5d %-6s %s %s" % (count, verdict, label, stack))
    return ok


def measure_scene(python, scene, seconds, work):
    """In QUICK, on machines that do other things meanwhile, what missed is measured once more."""
    for _ in range(2 if os.environ.get("QUICK") else 1):
        if scene == "tasks" and version_of(python) < (3, 7):
            return True
        if measure_tasks(python, seconds, work) if scene == "tasks" else measure(python, scene, seconds, work):
            return True
    return False


def main():
    started = time.monotonic()
    seconds = float(os.environ.get("CPU_SECONDS", "0.7" if os.environ.get("QUICK") else "3.6"))
    pythons = [p.split(" ") for p in os.environ["PYTHONS"].split(":") if p]
    scenes = [s for s in (QUICK_SCENES if os.environ.get("QUICK") else SCENES) if os.environ.get("CELLS", "") in s]
    failures = 0
    print("%-8s %-8s %6s %7s %7s %7s %5s %5s %5s %6s" % ("python", "scene", "n", "exact%", "bound", "order%", "wrong",
                                                      "lost", "out", "ticks"))
    with tempfile.TemporaryDirectory(prefix="weft-accuracy.") as work:
        for python in pythons:
            for scene in scenes:
                failures += not measure_scene(python, scene, seconds, work)
    print("%d failures; it took %.0f s" % (failures, time.monotonic() - started))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
