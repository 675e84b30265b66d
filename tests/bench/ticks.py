#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every run of the sampler's BPF program must be in one counter, and the samples worth the CPU time used."""
import re

import kernel
import weft

SECONDS = "4" if weft.QUICK else "10"
TRIES = 5


def tick_counters(recording):
    """The `ticks.*` counters that weft prints or writes into the profile."""
    text = recording.error + "\n" + "\n".join(recording.profile.comments)
    return {name: int(n.replace(",", "")) for name, n in re.findall(r"(ticks\.\w+)[\s:=]+([\d,]+)", text)}


def measure():
    for _ in range(TRIES):
        stolen = kernel.stolen_ticks()
        with kernel.statistics():
            recording = weft.Recording(["-F", "997", "--", weft.program("depth"), "15", SECONDS])
            runs, _ = recording.run_stats()
        stolen = kernel.stolen_ticks() - stolen
        if not stolen:
            break
    ticks = tick_counters(recording)
    cpu = weft.number_after("cpu", recording.output)
    weft.note("ticks: " + " ".join("%s=%d" % i for i in sorted(ticks.items())))
    weft.figure("ticks_unaccounted", runs - sum(ticks.values()), "runs")
    weft.figure("ticks_runs", runs, "runs")
    weft.figure("ticks_stolen", stolen, "jiffies")
    weft.figure("ticks_cpu_error", 100 * abs(sum(recording.values("cpu")) / 1e9 / cpu - 1), "%")


if __name__ == "__main__":
    measure()
