#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose two phases repeat at the sampling period, its half, third, double, triple and 1.11 of it, phase swept."""
import os
import subprocess
import tempfile
from collections import Counter

import weft

PERIOD_NS = 1000000
# The goal is held to the period and its small multiples and fractions; "odd" is shown, since the ticks of
# weft meet few phases of a program with that ratio.
FACTORS = (("half", 1 / 2), ("third", 1 / 3), ("same", 1), ("double", 2), ("triple", 3), ("odd", 1.11))
PHASES = (0.0, 0.5)
SECONDS = {"weft": "2" if weft.QUICK else "5", "perf": "1"}


def true_share(output):
    first, second = (weft.number_after("share " + name, output) for name in ("first", "second"))
    return first / (first + second)


def share(counts):
    return counts["first"] / max(1, counts["first"] + counts["second"])


def weft_error(command):
    recording = weft.Recording(["-F", "1000", "--", *command])
    weft_counts = Counter()
    for sample, n in zip(recording.profile.samples, recording.values("samples")):
        weft_counts.update({f.name: n for f in sample.frames if f.name in ("first", "second")})
    return 100 * (share(weft_counts) - true_share(recording.output))


def perf_error(command):
    with tempfile.NamedTemporaryFile(prefix="weft-bench.") as data:
        done = subprocess.run(["perf", "record", "-q", "-N", "-B", "--no-bpf-event", "-e", "cpu-clock", "-F", "1000", "-o", data.name, "--", *command],
                              capture_output=True, text=True, check=True)
        names = subprocess.run(["perf", "script", "-i", data.name, "-F", "ip,sym"], capture_output=True, text=True,
                               check=True).stdout.split()
    return 100 * (share(Counter(names)) - true_share(done.stdout))


def sweep(tool, error):
    errors = {}
    for name, factor in FACTORS:
        period = PERIOD_NS * factor
        for phase in PHASES:
            command = [weft.program("lockstep"), "%d" % period, "%d" % (phase * period), SECONDS[tool]]
            errors.setdefault(name, []).append(abs(error(command)))
        weft.figure("lockstep_%s_%s" % (tool, name), max(errors[name]), "points")
    in_step = [e for name, list_of in errors.items() if name != "odd" for e in list_of]
    weft.figure("lockstep_%s_worst" % tool, max(in_step), "points")
    weft.figure("lockstep_%s_mean" % tool, sum(in_step) / len(in_step), "points")


def measure():
    tools = [("weft", weft_error)] + ([("perf", perf_error)] if weft.HAS_PERF else [])
    for tool, error in tools:
        if tool not in os.environ.get("TOOLS", tool):
            continue
        try:
            sweep(tool, error)
        except subprocess.CalledProcessError as failed:	# perf's alone: weft's raise another
            weft.note("lockstep: %s ended with status %d, so its figures are missing" % (failed.cmd[0], failed.returncode))


if __name__ == "__main__":
    measure()
