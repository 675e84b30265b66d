#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernel time of a sample with some 60 frames, Python and C mixed, under one CPython for each kind of frames; and
of one with 150 Python frames, as a share of the target's time at 199 Hz. All take turns in every round, as in
kernel_cost.py, and a figure is the median of its rounds.
"""
import os
import statistics

import kernel
import pythons
import weft

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "mixed.py")
ROUNDS = 2 if weft.QUICK else 5
FRAMES = 60
DEPTH = 75	# levels: two Python frames each
FREQUENCIES = ((997, "2"), (199, "4"))


def frames_of(recording):
    """Of a sample, on average; those of the interpreter's start are few."""
    frames = sum(len(s.frames) * v for s, v in zip(recording.profile.samples, recording.values("samples")))
    return frames / max(1, recording.n_samples())


def record(python, ways, levels, frequency, seconds):
    return weft.Recording(["-F", str(frequency), "--", *python, PROGRAM, ways, str(levels), seconds])


def levels_for(python, frames):
    """How many levels of the program make so many frames: they grow evenly."""
    few, many = (frames_of(record(python, "mixed", levels, 997, "1")) for levels in (4, 12))
    return max(1, round(4 + (frames - few) * 8 / (many - few)))


def cost(python, ways, levels, frequency, seconds):
    """(ns a sample once everything is loaded, frames a sample); ticks beside the target are in it."""
    recording = record(python, ways, levels, frequency, seconds)
    all_runs, all_ns = recording.run_stats()
    early_runs, early_ns = recording.early
    ns = (all_ns - early_ns) / max(1, all_runs - early_runs) * all_runs
    return ns / max(1, recording.n_samples()), frames_of(recording)


def say(name, rounds):
    weft.figure(name + "_frames", statistics.median(frames for _, frames in rounds), "frames")
    weft.figure(name + "_per_sample", statistics.median(ns for ns, _ in rounds) / 1000, "us")
    print("# %s in each round: %s us" % (name, " ".join("%.2f" % (ns / 1000) for ns, _ in rounds)))


def measure():
    commands = pythons.found()
    levels = {name: levels_for(command, FRAMES) for name, command in commands.items()}
    for frequency, seconds in FREQUENCIES:
        rounds = [{name: cost(command, "mixed", levels[name], frequency, seconds) for name, command in commands.items()}
                  for _ in range(ROUNDS)]
        for name in commands:
            say("python_%s_%dhz" % (name, frequency), [each[name] for each in rounds])
    rounds = [{name: cost(command, "plain", DEPTH, 199, "4") for name, command in commands.items()} for _ in range(ROUNDS)]
    for name in commands:
        say("python_%s_depth" % name, [each[name] for each in rounds])
        share = statistics.median(each[name][0] for each in rounds) * 199 / 1e9
        weft.figure("python_%s_depth_kernel_loss" % name, 100 * share, "%")


if __name__ == "__main__":
    with kernel.statistics():
        measure()
