#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples spans_program.py with an interpreter and compares the labels trace_id and span_id of each sample with
the function it is in.

    spans_check.py WEFT PYTHON SCENE [VARIABLES]    exit 0: none is wrong, and 99.5 % of those in a span have its ids"""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "spans_program.py")
SECONDS = 1.5
IN_SPAN = re.compile(r"in_([0-9a-f]{32})_([0-9a-f]{16})$")
GOAL = 0.995


def verdict(event):
    """Of one event: is its innermost Python function one that says which span is current?"""
    frames = [f for f in event["stackFrames"] if f.get("file", "").endswith(".py") or f.get("file") == "spans"]
    name = frames[0]["method"] if frames else ""
    labels = event.get("labels", {})
    got = labels.get("trace_id"), labels.get("span_id")
    in_span = IN_SPAN.search(name)
    if not in_span and not name.endswith("in_none"):
        return "elsewhere"
    if in_span:
        return "right" if got == in_span.groups() else "wrong" if any(got) else "missing"
    return "wrong outside" if any(got) else "outside"


def dump(weft, pid, counts):
    """The tasks of `weft dump`, of which one that sleeps says in its stack which span it is in."""
    result = subprocess.run([weft, "dump", "--json", str(pid)], stdout=subprocess.PIPE)
    for task in json.loads(result.stdout.decode())["tasks"]:
        frames = [{"method": f["function"], "file": f["file"]} for f in reversed(task["stack"]) if f["file"] == "spans"]
        ids = {"trace_id": task["trace_id"], "span_id": task["span_id"]}
        counts[verdict({"stackFrames": frames, "labels": ids})] += 1


def sleeping(weft, python, variables):
    """Of tasks that are suspended: what weft dump and -e async say."""
    program = subprocess.Popen([*python, PROGRAM, "asleep", "0", variables], stdout=subprocess.PIPE)
    counts, sweeps = Counter(), Counter()
    try:
        if program.stdout.readline() != b"ready\n":
            sys.exit("the program did not start")
        dump(weft, program.pid, counts)
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "weft.json")
            subprocess.run([weft, "record", "-q", "-e", "async", "-d", "1", "-o", path, "-p", str(program.pid)])
            for line in open(path):
                event = json.loads(line)
                event["stackFrames"] = [f for f in event["stackFrames"] if f.get("file") == "spans"]
                sweeps[verdict(event)] += event["sampleWeight"]
    finally:
        program.kill()
        program.wait()
    print("of 30 suspended tasks in a span %d have its ids, of 10 outside %d have none; in sweeps %d right, %d without" % (
        counts["right"], counts["outside"], sweeps["right"], sweeps["outside"]))
    is_right = all(not c["wrong"] and not c["wrong outside"] and not c["missing"] for c in (counts, sweeps))
    return 0 if is_right and (counts["right"], counts["outside"]) == (30, 10) and sweeps["right"] else 1


def record(weft, python, scene, variables, path):
    command = [*python, PROGRAM, scene, str(SECONDS), variables]
    if scene == "late":
        command = [weft, "record", "-q", "-F", "499", "-o", path, "--", *command]
        return subprocess.run(command, stdout=subprocess.PIPE).returncode
    program = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        if program.stdout.readline() != b"ready\n":
            sys.exit("the program did not start")
        return subprocess.run([weft, "record", "-q", "-F", "499", "-o", path, "-p", str(program.pid)]).returncode
    finally:
        program.kill()
        program.wait()


def main():
    weft, python, scene = sys.argv[1], sys.argv[2].split(), sys.argv[3]
    variables = sys.argv[4] if len(sys.argv) > 4 else "0"
    if scene == "asleep":
        sys.exit(sleeping(weft, python, variables))
    counts, examples = Counter(), []
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "weft.json")
        if record(weft, python, scene, variables, path):
            sys.exit("weft record failed")
        for line in open(path):
            event = json.loads(line)
            what = verdict(event)
            counts[what] += event["sampleWeight"]
            if what in ("wrong", "wrong outside", "missing") and len(examples) < 5:
                examples.append((what, event.get("labels"), [f["method"] for f in event["stackFrames"]][:6]))
    for example in examples:
        print("# %s: %s in %s" % example)
    inside = counts["right"] + counts["wrong"] + counts["missing"]
    wrong = counts["wrong"] + counts["wrong outside"]
    print("%d of %d samples in a span carry its ids, %d wrong ones, %d samples outside of spans" % (
        counts["right"], inside, wrong, counts["outside"]))
    # What was sampled before the module was found out: some 100 ms of it.
    goal = 0.9 if scene == "late" else GOAL
    sys.exit(0 if not wrong and inside > 100 and counts["outside"] and counts["right"] >= goal * inside else 1)


main()
