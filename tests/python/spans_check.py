#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples spans_program.py with interpreters and compares the labels trace_id, span_id and span_name of each sample
with the function it is in.

    spans_check.py WEFT PROGRAM...

A PROGRAM is "TEXT|PYTHON|FOLDER OF PACKAGES"; all of them run at the same time and are recorded together. Prints
"ok TEXT, WHO: what was found" or "not ok ..." for each: none is wrong, and 99.5 % of those in a span have its ids and
name (95 % where the name changes all the time)."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

import spans_names

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "spans_program.py")
SECONDS = {"sdk": "4.5", "api": "0.8", "late": "0.8", "asleep": "0"}  # of CPU
IN_SPAN = re.compile(r"(\w+)_in_(?:none|([0-9a-f]{32})_([0-9a-f]{16})_(\w+))$")
GOAL = 0.995
WHO = {"threads%d" % n: "two threads, %d context variables" % n for n in (0, 5, 41, 500)}
WHO.update(tasks="asyncio tasks", api="without an SDK", late="imported while it is sampled",
           renamed="renamed by another thread")


class Program:
    def __init__(self, subject, scene):
        self.text, self.python, self.folder = subject.split("|")
        self.scene = scene
        self.counts = defaultdict(Counter)  # by who
        self.weft_said = ""

    def command(self):
        return [self.python, PROGRAM, self.scene, SECONDS[self.scene], self.text]

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=dict(os.environ, PYTHONPATH=self.folder))
        return self.process.pid

    def is_ready(self):
        return self.process.stdout.readline() == b"ready\n"

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()


def count(counts, frames, labels, n):
    """Is its innermost Python function one that says which span is current?"""
    frames = [f for f in frames if f.get("file", "").endswith(".py") or f.get("file") == "spans"]
    said = IN_SPAN.search(frames[0]["method"]) if frames else None
    got = labels.get("trace_id"), labels.get("span_id")
    if not said:
        return
    who, trace_id, span_id, kind = said.groups()
    if not trace_id:
        what = "wrong outside" if any(got) or "span_name" in labels else "outside"
    elif got == (trace_id, span_id):
        is_right = spans_names.is_right(kind, int(span_id, 16), labels.get("span_name"))
        what = {True: "right", False: "wrong", None: "missing"}[is_right]
    else:
        what = "wrong" if any(got) else "missing"
    counts[who][what] += n
    if what not in ("right", "outside") and counts[who][what] < 5:
        print("# %s: %s in %s" % (what, labels, [f["method"] for f in frames][:6]))


def say(text, is_right, found):
    print("%s %s: %s" % ("ok" if is_right else "not ok", text, found))


def say_samples(program, who):
    counts = program.counts[who]
    inside = counts["right"] + counts["wrong"] + counts["missing"]
    wrong = counts["wrong"] + counts["wrong outside"]
    # What was sampled before the module was found out: some 100 ms of it. A name that changes while it is read is left out.
    goal = {"late": 0.85, "renamed": 0.95}.get(who, GOAL)
    is_right = (not wrong and inside > 100 and (counts["outside"] or who == "renamed") and
                counts["right"] >= goal * inside)
    if not is_right:
        print(program.weft_said)
    say("%s, %s" % (program.text, WHO[who]), is_right,
        "%d of %d samples in a span carry its ids and name, %d wrong ones, %d samples outside of spans" % (
            counts["right"], inside, wrong, counts["outside"]))


def record(weft, path, *args):
    return subprocess.Popen([weft, "record", "-v", "-F", "499", "-o", path, *args],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def remember(programs, weft_said):
    for program in programs:
        program.weft_said = "".join("# weft: %s\n" % line for line in weft_said.decode().splitlines())


def running(weft, programs, path):
    """All of them from the same moment on. Their pids."""
    of = {p.start(): p for p in programs}
    if not all([p.is_ready() for p in programs]):
        sys.exit("a program did not start")
    recorder = record(weft, path, "-p", ",".join(map(str, of)))
    for line in recorder.stderr:
        if b"recording" in line:
            break
    for program in programs:
        program.go()
    remember(programs, recorder.communicate()[1])
    return of


def late(weft, programs, path):
    """All of them as one command. Their pids, which they say."""
    line = " ".join("PYTHONPATH=%s %s &" % (p.folder, " ".join(map(shlex.quote, p.command()))) for p in programs)
    said, weft_said = record(weft, path, "--", "sh", "-c", line + " wait").communicate()
    remember(programs, weft_said)
    of = {p.text: p for p in programs}
    return {int(pid): of[text] for pid, text in re.findall(r"^(\d+) (.*)$", said.decode(), re.M)}


def check_samples(weft, programs, how, work):
    path = os.path.join(work, "weft.json")
    of = how(weft, programs, path)
    for line in open(path):
        event = json.loads(line)
        if event["pid"] in of:
            count(of[event["pid"]].counts, event["stackFrames"], event.get("labels", {}), event["sampleWeight"])


def check_asleep(weft, programs, work):
    """What weft dump and -e async say of tasks that are suspended."""
    path = os.path.join(work, "async.json")
    pids = [p.start() for p in programs]
    if not all([p.is_ready() for p in programs]):
        sys.exit("a program did not start")
    subprocess.run([weft, "record", "-q", "-e", "async", "-d", "0.5", "-o", path, "-p", ",".join(map(str, pids))])
    sweeps = {pid: defaultdict(Counter) for pid in pids}
    for line in open(path):
        event = json.loads(line)
        frames = [f for f in event["stackFrames"] if f.get("file") == "spans"]
        count(sweeps[event["pid"]], frames, event.get("labels", {}), event["sampleWeight"])
    for program, pid in zip(programs, pids):
        result = subprocess.run([weft, "dump", "--json", str(pid)], stdout=subprocess.PIPE)
        for task in json.loads(result.stdout.decode())["tasks"]:
            frames = [{"method": f["function"], "file": f["file"]} for f in task["stack"] if f["file"] == "spans"]
            labels = {key: task[key] for key in ("trace_id", "span_id", "span_name") if task[key] is not None}
            count(program.counts, frames, labels, 1)
        dumped, swept = program.counts["asleep"], sweeps[pid]["asleep"]
        is_wrong = any(c[what] for c in (dumped, swept) for what in ("wrong", "wrong outside", "missing"))
        say("%s, suspended asyncio tasks" % program.text,
            not is_wrong and (dumped["right"], dumped["outside"]) == (30, 10) and swept["right"] and swept["outside"],
            "of 30 in a span %d have its ids and name, of 10 outside %d have none; in sweeps %d right, %d without" % (
                dumped["right"], dumped["outside"], swept["right"], swept["outside"]))


def main():
    weft, subjects = sys.argv[1], sys.argv[2:]
    groups = {scene: [Program(subject, scene) for subject in subjects] for scene in SECONDS}
    with tempfile.TemporaryDirectory() as work:
        try:
            check_samples(weft, groups["sdk"] + groups["api"], running, work)
            check_samples(weft, groups["late"], late, work)
            check_asleep(weft, groups["asleep"], work)
        finally:
            for program in sum(groups.values(), []):
                if hasattr(program, "process"):
                    program.end()
    for sdk, api, last in zip(groups["sdk"], groups["api"], groups["late"]):
        for who in WHO:
            say_samples(api if who == "api" else last if who == "late" else sdk, who)


main()
