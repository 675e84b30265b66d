#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What the labels of a span cost in the kernel: the time of a sample in a span, with few and with many context
variables, less that of the same stack in a program that has nothing of OpenTelemetry. All take turns in every
round; a figure is the least of its rounds, as what else the machine does is more than what is measured. OpenTelemetry is where tests/python/spans_test.sh puts it.
"""
import os
import subprocess

import kernel
import pythons
import weft

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "spans.py")
ROUNDS = 3 if weft.QUICK else 7
WAYS = {"none": ("none", "0"), "outside": ("outside", "0"), "0": ("inside", "0"), "41": ("inside", "41"),
        "500": ("inside", "500")}


def folder_of(python):
    folder = os.path.join(os.environ.get("BENCH_OUT", "build/bench"), "..", "python",
                          "opentelemetry-sdk-3.%d" % pythons.minor_of(python))
    return os.path.abspath(folder)


def cost(python, way, variables):
    """ns a sample once everything is loaded; ticks beside the target are in it."""
    with subprocess.Popen([*python, PROGRAM, way, variables], stdout=subprocess.PIPE,
                          env=dict(os.environ, PYTHONPATH=folder_of(python))) as program:
        try:
            program.stdout.readline()
            recording = weft.Recording(["-F", "997", "-d", "2", "-p", str(program.pid)])
        finally:
            program.kill()
    all_runs, all_ns = recording.run_stats()
    early_runs, early_ns = recording.early
    ns = (all_ns - early_ns) / max(1, all_runs - early_runs) * all_runs
    return ns / max(1, recording.n_samples())


def measure(name, python):
    rounds = [{way: cost(python, *arguments) for way, arguments in WAYS.items()} for _ in range(ROUNDS)]
    for way in WAYS:
        per_sample = min(each[way] for each in rounds)
        more = per_sample - min(each["none"] for each in rounds)
        weft.figure("span_%s_%s_per_sample" % (name, way), per_sample / 1000, "us")
        if way != "none":
            weft.figure("span_%s_%s_more" % (name, way), more / 1000, "us")


if __name__ == "__main__":
    with kernel.statistics():
        measured = [(name, python) for name, python in pythons.found().items()
                    if os.path.isdir(os.path.join(folder_of(python), "opentelemetry"))]
        for one in measured:
            measure(*one)
        if not measured:
            weft.missing("no OpenTelemetry here: run tests/python/spans_test.sh")
