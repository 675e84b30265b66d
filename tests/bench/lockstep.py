#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose two phases repeat at the sampling period, its small multiples and fractions, and odd ratios; phase swept."""
import os
import subprocess
import tempfile
from collections import Counter

import weft

PERIOD_NS = 1000000
FACTORS = (("half", 1 / 2), ("third", 1 / 3), ("same", 1), ("double", 2), ("triple", 3))
# tick: the mean period of weft's ticks, which no fixed grid of theirs would survive.
ODD_FACTORS = (("tick", 3 ** -0.5), ("0_37", 0.37), ("1_11", 1.11), ("1_73", 1.73), ("2_2", 2.2), ("3_46", 3.46))
PHASES = (0.0, 0.5)
SECONDS = {"weft": "2" if weft.QUICK else "4", "perf": "1"}
# On a machine that is busy with other things a program gets less of a CPU, and so fewer samples.
MIN_SAMPLES = 0 if weft.QUICK else 3000
TRIES = 4


def true_share(output):
    first, second = (weft.number_after("share " + name, output) for name in ("first", "second"))
    return first / (first + second)


def share(counts):
    return counts["first"] / max(1, counts["first"] + counts["second"])


def weft_error(command):
    """Of as many recordings as make enough samples, each against what the program says of itself."""
    n, errors = 0, 0.0
    for _ in range(TRIES):
        recording = weft.Recording(["-F", "1000", "--", *command])
        weft_counts = Counter()
        for sample, count in zip(recording.profile.samples, recording.values("samples")):
            weft_counts.update({f.name: count for f in sample.frames if f.name in ("first", "second")})
        n += sum(weft_counts.values())
        errors += sum(weft_counts.values()) * (share(weft_counts) - true_share(recording.output))
        if n >= MIN_SAMPLES:
            break
    return 100 * errors / max(1, n)


def perf_error(command):
    with tempfile.NamedTemporaryFile(prefix="weft-bench.") as data:
        done = subprocess.run(["perf", "record", "-q", "-N", "-B", "--no-bpf-event", "-e", "cpu-clock", "-F", "1000", "-o", data.name, "--", *command],
                              capture_output=True, text=True, check=True)
        names = subprocess.run(["perf", "script", "-i", data.name, "-F", "ip,sym"], capture_output=True, text=True,
                               check=True).stdout.split()
    return 100 * (share(Counter(names)) - true_share(done.stdout))


def sweep(tool, error, factors, summary):
    errors = {}
    for name, factor in factors:
        period = PERIOD_NS * factor
        for phase in PHASES:
            command = [weft.program("lockstep"), "%d" % period, "%d" % (phase * period), SECONDS[tool]]
            errors.setdefault(name, []).append(abs(error(command)))
        weft.figure("lockstep_%s_%s" % (tool, name), max(errors[name]), "points")
    both = [e for of_factor in errors.values() for e in of_factor]
    weft.figure("lockstep_%s_%sworst" % (tool, summary), max(both), "points")
    weft.figure("lockstep_%s_%smean" % (tool, summary), sum(both) / len(both), "points")


def measure():
    tools = [("weft", weft_error)] + ([("perf", perf_error)] if weft.HAS_PERF else [])
    for tool, error in tools:
        if tool not in os.environ.get("TOOLS", tool):
            continue
        try:
            sweep(tool, error, FACTORS, "")
            sweep(tool, error, ODD_FACTORS, "odd_")
        except subprocess.CalledProcessError as failed:	# perf's alone: weft's raise another
            weft.note("lockstep: %s ended with status %d, so its figures are missing" % (failed.cmd[0], failed.returncode))


if __name__ == "__main__":
    measure()
