# SPDX-License-Identifier: Apache-2.0
"""Runs a program under weft or perf and hands back its standard output and its stacks with their counts."""
import os
import re
import subprocess
from collections import Counter

import pprof
from stack import KERNEL_START, Frame, Stack, base_name, demangle, is_unknown, plain_name
from truth import START_NAMES

WEFT = os.environ.get("WEFT", "build/weft")
FREQUENCY = 997
TIMEOUT = 120


class ToolFailed(Exception):
    pass


def run(command, **kwargs):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, **kwargs)
    if done.returncode:
        raise ToolFailed("%s: exit %d: %s" % (" ".join(command[:4]), done.returncode,
                                              " ".join(done.stderr.split())[:160]))
    return done


def forget_maps(stacks):
    """Removes the perf maps that the recorded processes left in /tmp."""
    for pid in {s.pid for s in stacks}:
        try:
            os.unlink("/tmp/perf-%d.map" % pid)
        except FileNotFoundError:
            pass


def weft_record(program, work, extra=()):
    path = os.path.join(work, "weft.pb.gz")
    done = run([WEFT, "record", "-q", "-F", str(FREQUENCY), *extra, "-o", path, "--", *program])
    return done.stdout, weft_stacks(path)


def weft_stacks(path):
    profile = pprof.read(path)
    count = profile.sample_types.index(("samples", "count"))
    stacks = Counter()
    for sample in profile.samples:
        stacks[weft_stack(sample)] += sample.values[count]
    return stacks


def weft_stack(sample):
    frames, mark = [], ""
    for f in reversed(sample.frames):
        if f.address >= KERNEL_START or f.file.startswith("[kernel"):
            continue
        if re.match(r"\[(truncated|broken)", f.name):
            mark = f.name
            continue
        name = None if is_unknown(f.name) else plain_name(f.name)
        frames.append(Frame(name, base_name(f.file)))
    comm = str(sample.labels.get("process", sample.labels.get("thread", "")))
    return Stack(tuple(frames), mark, int(sample.labels.get("pid", 0)), comm, not frames and not mark)


def perf_record(mode, program, work):
    """mode: fp or dwarf."""
    data = os.path.join(work, "perf.data")
    graph = ["-g"] if mode == "fp" else ["--call-graph", "dwarf"]
    # perf 6.1 writes files it cannot read when somebody loads BPF programs meanwhile, and trips over its cache.
    done = run(["perf", "record", "-q", "-N", "-B", "--no-bpf-event", "-e", "cpu-clock", "-F", str(FREQUENCY), *graph, "-o", data,
                "--", *program])
    text = run(["perf", "script", "-i", data, "-F", "comm,pid,tid,ip,sym,dso"]).stdout
    os.unlink(data)
    return done.stdout, perf_stacks(text)


def perf_stacks(text):
    stacks = Counter()
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        head = re.match(r"\s*(.*?)\s+(\d+)/(\d+)", lines[0])
        if head:
            stacks[perf_stack(lines[1:], int(head.group(2)), head.group(1))] += 1
    names = demangle({f.name for s in stacks for f in s.frames})
    if not names:
        return stacks
    out = Counter()
    for s, n in stacks.items():
        frames = tuple(f._replace(name=plain_name(names.get(f.name, f.name))) if f.name else f
                       for f in s.frames)
        out[s._replace(frames=frames)] += n
    return out


def perf_stack(lines, pid, comm):
    frames = []
    for line in reversed(lines):
        m = re.match(r"\s*([0-9a-f]+) (.*) \(([^()]*(?:\([^()]*\))?)\)$", line)
        if not m or int(m.group(1), 16) >= KERNEL_START:
            continue
        name = m.group(2)
        if not name.startswith(("_Z", "_R")):
            name = None if is_unknown(name) else plain_name(name)
        frames.append(Frame(name, "(inlined)" if m.group(3) == "inlined" else base_name(m.group(3))))
    if frames and re.fullmatch(START_NAMES, frames[0].name or ""):
        frames.insert(0, Frame("_start", ""))	# to be fair to frame pointers: libc has none at its very start
    return Stack(tuple(frames), "", pid, comm, not frames)
