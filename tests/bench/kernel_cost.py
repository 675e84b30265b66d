#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernel time per sample, everything included, beside a minimal frame-pointer sampler over the same stacks.
Both samplers and all depths take turns in every round, so that whatever else the host does meets all of
them; a figure is the median of its rounds, and a ratio the median of the ratios within a round.
"""
import statistics
import subprocess

import kernel
import weft

DEPTHS = (15, 30, 60)
ROUNDS = 3 if weft.QUICK else 7
FREQUENCIES = ((997, "2"), (99, "4"))


def weft_cost(depth, frequency, seconds):
    """(ns a sample once everything is loaded, frames a sample); ticks beside the target are in it."""
    recording = weft.Recording(["-F", str(frequency), "--user-only", "--", weft.program("depth"), str(depth), seconds])
    all_runs, all_ns = recording.run_stats()
    early_runs, early_ns = recording.early
    ns = (all_ns - early_ns) / max(1, all_runs - early_runs) * all_runs
    n = recording.n_samples()
    frames = sum(len(s.frames) * v for s, v in zip(recording.profile.samples, recording.values("samples")))
    return ns / max(1, n), frames / max(1, n)


def fp_cost(depth, frequency, seconds):
    """The same of the other sampler."""
    out = subprocess.run([weft.program("fp_sampler"), weft.program("fp_sampler.bpf.o"), str(frequency),
                          weft.program("depth_fp"), str(depth), seconds], capture_output=True, text=True, check=True).stdout
    return weft.number_after("run_ns", out) / max(1, weft.number_after("samples", out)), weft.number_after("frames", out)


def say(name, pairs):
    """The figures of one depth at one frequency, from its rounds."""
    def median(of):
        return statistics.median(of(ours, theirs) for ours, theirs in pairs)

    weft.figure(name + "_frames", median(lambda ours, _: ours[1]), "frames")
    weft.figure(name + "_per_sample", median(lambda ours, _: ours[0]) / 1000, "us")
    weft.figure(name + "_per_frame", median(lambda ours, _: ours[0] / max(1, ours[1])), "ns")
    weft.figure(name + "_fp_frames", median(lambda _, theirs: theirs[1]), "frames")
    weft.figure(name + "_fp_per_sample", median(lambda _, theirs: theirs[0]) / 1000, "us")
    weft.figure(name + "_ratio", median(lambda ours, theirs: ours[0] / theirs[0]), "ratio")
    print("# %s in each round: %s us" % (name, " ".join("%.2f/%.2f" % (o[0] / 1000, t[0] / 1000) for o, t in pairs)))


def measure(frequency, seconds):
    """Every depth at one frequency."""
    rounds = [{depth: (weft_cost(depth, frequency, seconds), fp_cost(depth, frequency, seconds)) for depth in DEPTHS}
              for _ in range(ROUNDS)]
    for depth in DEPTHS:
        say("kernel_%dhz_%d" % (frequency, depth), [each[depth] for each in rounds])


if __name__ == "__main__":
    with kernel.statistics():
        for one in FREQUENCIES:
            measure(*one)
