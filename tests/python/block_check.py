#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Holds a recording of block_program.py with --block-ms against what the program saw itself:

    block_check.py PROFILE SAID ERROR		what weft wrote, what the program said, what weft said
"""
import os
import re
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accuracy"))

import pprof	# noqa: E402

UNITS = {"ms": 1e-3, "s": 1.0}
LONGEST = 0.6	# seconds of CPU time


def who_of(sample):
    """The program's function that the sample is of; the innermost that says it."""
    for frame in sample.frames:
        name = frame.name.rpartition(".")[2]
        if name.startswith("spin_"):
            return name
    return None


def counts_of(profile):
    """{(function, is marked, task): samples}"""
    at = profile.sample_types.index(("samples", "count"))
    counts = Counter()
    for sample in profile.samples:
        who = who_of(sample)
        if who:
            counts[who, sample.labels.get("loop") == "blocked", sample.labels.get("task", "")] += sample.values[at]
    return counts


def check_marks(counts, culprits, found, problems):
    """All of what blocked is marked, from its beginning; nothing else is, but what took longer itself."""
    for who in culprits:
        whole = sum(n for (name, _, _), n in counts.items() if name == who)
        marks = sum(n for (name, is_marked, _), n in counts.items() if name == who and is_marked)
        if not whole or marks < whole:
            problems.append("%s: %d of %d samples are marked" % (who, marks, whole))
    polite = sum(n for (name, is_marked, _), n in counts.items() if name == "spin_polite" and is_marked)
    if polite and "spin_polite" not in [who for _, who in found]:
        problems.append("%d samples of spin_polite are marked" % polite)
    between = [is_marked for who, is_marked, _ in counts if who == "spin_between"]
    if not between or any(between):
        problems.append("what runs while no loop does is %s" % ("marked" if between else "not seen"))
    strangers = {task for (name, _, task), _ in counts.items() if name == "spin_culprit"} - {"the culprit", "culprit", ""}
    if strangers:
        problems.append("tasks of spin_culprit: %s" % ", ".join(map(repr, strangers)))


def check_summary(text, culprits, found, problems):
    """One line says how often and for how long."""
    said = re.search(r"event loop blocked (\d+) times? for more than \d+ ms.*? in all at least, longest at least ([\d.]+) (ms|s)\b(.*)", text)
    if not said:
        problems.append("no summary in: " + text.strip())
        return
    n, longest, task = int(said.group(1)), float(said.group(2)) * UNITS[said.group(3)], said.group(4)
    # What slept has no samples, nor has what only had to wait for a CPU.
    least = sum(who in culprits for _, who in found)
    if not least <= n <= len(found):
        problems.append("%d blocks, not %d to %d" % (n, least, len(found)))
    took, who = max(found)
    if not 0.95 * LONGEST <= longest <= took + 0.02:
        problems.append("the longest took %.3f s, not %.3f" % (took, longest))
    if who == "spin_culprit" and "culprit'" not in task:
        problems.append("the longest is not blamed on its task: " + task)


def main(path, said, error):
    culprits = ("spin_culprit", "spin_callback")
    with open(said, encoding="utf-8") as f:
        found = [(float(took), who) for took, who in re.findall(r"^blocked ([\d.]+) (\w+)$", f.read(), re.M)]
    with open(error, encoding="utf-8") as f:
        text = f.read()
    problems, counts = [], counts_of(pprof.read(path))
    check_marks(counts, culprits, found, problems)
    check_summary(text, culprits, found, problems)
    for problem in problems:
        print("# " + problem)
    print("%d blocks, %d samples in them" % (len(found), sum(n for (_, is_marked, _), n in counts.items() if is_marked)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
