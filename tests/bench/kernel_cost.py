#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernel time per sample, everything included, beside a minimal frame-pointer sampler over the same stacks."""
import subprocess

import kernel
import weft

DEPTHS = (15, 30, 60)
REPEATS = 2	# the least of them counts: whatever else runs only makes it slower
FREQUENCIES = ((997, "2"), (99, "4"))


def weft_cost(depth, frequency, seconds):
    """(ns a sample, frames a sample); runs for ticks that were passed over are paid by the samples."""
    recording = weft.Recording(["-F", str(frequency), "--user-only", "--", weft.program("depth"), str(depth), seconds])
    _, ns = recording.run_stats()
    n = recording.n_samples()
    frames = sum(len(s.frames) * v for s, v in zip(recording.profile.samples, recording.values("samples")))
    return ns / max(1, n), frames / max(1, n)


def fp_cost(depth, frequency, seconds):
    out = subprocess.run([weft.program("fp_sampler"), weft.program("fp_sampler.bpf.o"), str(frequency),
                          weft.program("depth_fp"), str(depth), seconds], capture_output=True, text=True, check=True).stdout
    return weft.number_after("run_ns", out) / max(1, weft.number_after("samples", out)), weft.number_after("frames", out)


def measure_one(frequency, seconds, depth):
    pairs = [(weft_cost(depth, frequency, seconds), fp_cost(depth, frequency, seconds)) for _ in range(REPEATS)]
    ns, frames = min(p[0] for p in pairs)
    fp_ns, fp_frames = min(p[1] for p in pairs)
    name = "kernel_%dhz_%d" % (frequency, depth)
    weft.figure(name + "_frames", frames, "frames")
    weft.figure(name + "_per_sample", ns / 1000, "us")
    weft.figure(name + "_per_frame", ns / max(1, frames), "ns")
    weft.figure(name + "_fp_frames", fp_frames, "frames")
    weft.figure(name + "_fp_per_sample", fp_ns / 1000, "us")
    weft.figure(name + "_ratio", ns / fp_ns, "ratio")


def measure():
    with kernel.statistics():
        for frequency, seconds in FREQUENCIES:
            for depth in DEPTHS:
                measure_one(frequency, seconds, depth)


if __name__ == "__main__":
    measure()
