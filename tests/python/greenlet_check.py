#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples greenlet_program.py with an interpreter: every stack is one of the program's, begins where its greenlet
does, and is whole. And greenlet_tasks_program.py: what asyncio tasks run in greenlets has their names.

    greenlet_check.py WEFT PYTHON MINOR"""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accuracy"))
import greenlet_program  # noqa: E402
import pprof  # noqa: E402
import snakes  # noqa: E402

PROGRAMS = [os.path.join(HERE, name) for name in ("greenlet_program.py", "greenlet_tasks_program.py")]
BOTTOM = re.compile(r"greenlet::UserGreenlet::(inner_bootstrap|g_initialstub)\(|g_initialstub$")


def pattern_of(text):
    """Of a whole stack in which Python frames are P and their name, and native ones N: code of C that calls back is
    more than what the interpreter itself needs for a call before 3.11."""
    words = ["(?:N )+" if word == "~" else "P%s (?:N )*" % re.escape(word) for word in text.split(";")]
    return re.compile("(?:N )+" + "".join(words))


def text_of(stack):
    return "".join("P%s " % name.rpartition(".")[2] if is_python else "N " for is_python, name in stack)


def verdict(stack):
    text = text_of(stack)
    names = [name for is_python, name in stack if is_python]
    if "spin" not in names or any(name.startswith("in_") for name in names):
        return "elsewhere"
    if any(name.startswith("[") for _, name in stack):
        return "not whole"
    is_other = bool({"first", "second"} & set(names))
    if is_other != bool(BOTTOM.match(stack[0][1])):
        return "with another beginning"
    # Where the sort is, is where it calls back.
    at = [i for i, frame in enumerate(stack) if frame == (False, "list_sort_impl") or frame[1] == "list_sort"]
    if "first" in names and at and not stack.index((True, "first")) < at[0] < stack.index((True, "key")):
        return "in another order"
    return "right" if any(p.fullmatch(text) for p in map(pattern_of, greenlet_program.STACKS)) else "wrong"


def count_tasks(profile, at):
    """Of the functions that are named after a task."""
    n = Counter()
    for sample in profile.samples:
        said = next((f.name[3:] for f in sample.frames if f.name.startswith("in_")), None)
        label = sample.labels.get("task", "")
        if said:
            what = "none" if said == "none" and not label else "right" if said == label else "wrong" if label else "missing"
            n[what] += sample.values[at]
    return n


def main():
    weft, python, has_tasks = sys.argv[1], sys.argv[2], sys.argv[3] != "6"
    seen, odd = Counter(), Counter()
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "weft.pb.gz")
        both = " ".join("'%s' '%s' 1.5 &" % (python, program) for program in PROGRAMS[:1 + has_tasks])
        subprocess.run([weft, "record", "-q", "-F", "499", "-o", path, "--", "sh", "-c", both + " wait"], check=True)
        profile = pprof.read(path)
    at = profile.sample_types.index(("samples", "count"))
    for sample in profile.samples:
        stack = snakes.stack_of(sample)
        what = verdict(stack)
        seen[what] += sample.values[at]
        if what not in ("right", "elsewhere"):
            odd[what, ";".join(name for _, name in stack)] += sample.values[at]
    for (what, text), n in odd.most_common(3):
        print("# %d %s: %s" % (n, what, text))
    n = sum(seen.values()) - seen["elsewhere"]
    tasks = count_tasks(profile, at)
    in_tasks = tasks["right"] + tasks["wrong"] + tasks["missing"]
    print("# %s; %s" % (dict(tasks), dict(seen)))
    print("%d of %d stacks of greenlets are right; %d of %d samples of tasks have their names, %d wrong ones" % (
        seen["right"], n, tasks["right"], in_tasks, tasks["wrong"]))
    has_names = in_tasks > 100 and tasks["right"] >= 0.98 * in_tasks and tasks["none"] > 20 and not tasks["wrong"]
    return 0 if n > 40 and seen["right"] >= 0.995 * n and not seen["wrong"] and (has_names or not has_tasks) else 1


if __name__ == "__main__":
    sys.exit(main())
