#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose two phases repeat at the sampling period, its small multiples and fractions, and odd ratios; phase swept
(in eighths for the period and its multiples)."""
import os
import subprocess
import tempfile
from collections import Counter

import weft

PERIOD_NS = 1000000
MULTIPLES = (("same", 1), ("double", 2), ("triple", 3))
FRACTIONS = (("half", 1 / 2), ("third", 1 / 3))
ODD_FACTORS = (("0_58", 3 ** -0.5), ("0_37", 0.37), ("1_11", 1.11), ("1_73", 1.73), ("2_2", 2.2), ("3_46", 3.46))
PHASES = {"sweep": [i / 8 for i in range(8)], "two": [0.0, 0.5]}
# Of n samples taken at random a share of 30 % is off by 46 / sqrt(n) points: what is swept more often is measured longer.
SECONDS = {"sweep": 2 if weft.QUICK else 6, "two": 2 if weft.QUICK else 4}
PERF_SECONDS = 1
# On a machine that is busy with other things a program gets less of a CPU, and so fewer samples: then once more.
ENOUGH = 0.75
TRIES = 4


def true_share(output):
    first, second = (weft.number_after("share " + name, output) for name in ("first", "second"))
    return first / (first + second)


def share(counts):
    return counts["first"] / max(1, counts["first"] + counts["second"])


def weft_error(program, seconds):
    """Of the first recording with enough samples, or else of the one with most, against what the program says of itself."""
    best = (-1, 0.0)
    for _ in range(TRIES):
        recording = weft.Recording(["-F", "1000", "--", *program, str(seconds)])
        times = Counter()
        for sample, ns in zip(recording.profile.samples, recording.values("cpu")):
            times.update({f.name: ns for f in sample.frames if f.name in ("first", "second")})
        best = max(best, (sum(times.values()), abs(share(times) - true_share(recording.output))))
        if best[0] >= ENOUGH * 1e9 * seconds:
            break
    return 100 * best[1]


def perf_error(program, _):
    with tempfile.NamedTemporaryFile(prefix="weft-bench.") as data:
        done = subprocess.run(["perf", "record", "-q", "-N", "-B", "--no-bpf-event", "-e", "cpu-clock", "-F", "1000", "-o", data.name, "--", *program, str(PERF_SECONDS)],
                              capture_output=True, text=True, check=True)
        names = subprocess.run(["perf", "script", "-i", data.name, "-F", "ip,sym"], capture_output=True, text=True,
                               check=True).stdout.split()
    return 100 * abs(share(Counter(names)) - true_share(done.stdout))


def errors_of(tool, error, factors, phases):
    """In points, of every factor and phase."""
    errors = []
    for name, factor in factors:
        period = PERIOD_NS * factor
        of_factor = [error([weft.program("lockstep"), "%d" % period, "%d" % (phase * period)], SECONDS[phases])
                     for phase in PHASES[phases]]
        weft.figure("lockstep_%s_%s" % (tool, name), max(of_factor), "points")
        errors += of_factor
    return errors


def summarize(tool, summary, errors):
    weft.figure("lockstep_%s_%sworst" % (tool, summary), max(errors), "points")
    weft.figure("lockstep_%s_%smean" % (tool, summary), sum(errors) / len(errors), "points")


def measure():
    tools = [("weft", weft_error)] + ([("perf", perf_error)] if weft.HAS_PERF else [])
    for tool, error in tools:
        if tool not in os.environ.get("TOOLS", tool):
            continue
        try:
            summarize(tool, "", errors_of(tool, error, MULTIPLES, "sweep") + errors_of(tool, error, FRACTIONS, "two"))
            summarize(tool, "odd_", errors_of(tool, error, ODD_FACTORS, "two"))
        except subprocess.CalledProcessError as failed:	# perf's alone: weft's raise another
            weft.note("lockstep: %s ended with status %d, so its figures are missing" % (failed.cmd[0], failed.returncode))


if __name__ == "__main__":
    measure()
