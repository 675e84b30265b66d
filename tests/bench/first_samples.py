#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that live for 30 ms (exec) and 10 ms (fork): seen against expected ticks, and their stacks."""
import math

import weft	# first: it makes the harness of tests/accuracy importable
import tools
from truth import is_complete, judge, legal, read_truth

FREQUENCY = 997
PROGRAMS = 100 if weft.QUICK else 1000
FORK_SECONDS = "2" if weft.QUICK else "6"


def stacks_of(recording, wanted):
    at = [t[0] for t in recording.profile.sample_types].index("samples")
    for sample in recording.profile.samples:
        stack = tools.weft_stack(sample)
        if wanted(sample, stack):
            yield stack, sample.values[at]


def report(name, legals, stacks, expected):
    """Kernel-only samples count as seen: an exec is the process's time too."""
    seen = exact = complete = inside = 0
    for stack, n in stacks:
        seen += n
        if stack.kernel_only:
            continue
        verdict, _ = judge(stack, legals)
        inside += n
        complete += n * is_complete(stack, verdict)
        exact += n * (verdict in ("exact", "outside"))
    sigma = math.sqrt(expected)
    weft.figure("first_%s_expected" % name, expected, "ticks")
    weft.figure("first_%s_seen" % name, 100 * seen / expected, "%")
    weft.figure("first_%s_seen_3sigma" % name, 100 * (seen + 3 * sigma) / expected, "%")
    weft.figure("first_%s_complete" % name, 100 * complete / max(1, inside), "%")
    weft.figure("first_%s_right_names" % name, 100 * exact / max(1, inside), "%")


def measure():
    recording = weft.Recording(["-F", str(FREQUENCY), "--", weft.program("spawner"), str(PROGRAMS), weft.program("burst")])
    cpu = weft.number_after("children", recording.output)
    if not weft.QUICK:
        weft.figure("first_exec_programs", PROGRAMS, "programs")
    report("exec", [legal("main;burst_run;burst_leaf(;{plt}|;{libc}|;{libc}?{vdso})?", cpu), legal("main(;burst_run)?", 0)],
           stacks_of(recording, lambda sample, stack: stack.comm == "burst"), cpu * FREQUENCY)

    recording = weft.Recording(["-F", str(FREQUENCY), "--", weft.program("fork"), FORK_SECONDS])
    legals = read_truth(recording.output)
    legals.append(legal("main;start_child(;forked_run(;forked_leaf(;truth_clock(;{plt}|;{libc}?;{vdso}?)?)?)?)?", 0))
    parent, cpu = (weft.number_after(word, recording.output) for word in ("parent", "children"))
    report("fork", legals, stacks_of(recording, lambda sample, stack: stack.pid != parent), cpu * FREQUENCY)


if __name__ == "__main__":
    measure()
