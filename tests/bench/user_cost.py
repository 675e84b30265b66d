#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of the profiler per million samples, to the written profile, beside perf record -g and perf script."""
import os
import subprocess
import tempfile

import weft

FREQUENCY = "4999"
DURATIONS = (2, 6) if weft.QUICK else (3, 11)


def cpu_of(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(" ".join(command))
    return usage.ru_utime + usage.ru_stime


def weft_run(pid, seconds):
    """(CPU seconds from start to end, samples): naming and writing are in it."""
    recording = weft.Recording(["-F", FREQUENCY, "-p", str(pid), "-d", str(seconds)])
    return recording.cpu, recording.n_samples()


def perf_run(pid, seconds):
    with tempfile.NamedTemporaryFile(prefix="weft-bench.") as data:
        cpu = cpu_of(["perf", "record", "-q", "-N", "-B", "--no-bpf-event", "-g", "-e", "cpu-clock", "-F", FREQUENCY, "-p", str(pid), "-o", data.name,
                      "--", "sleep", str(seconds)])
        cpu += cpu_of(["perf", "script", "-i", data.name])
        count = subprocess.run(["perf", "script", "-i", data.name, "-F", "pid", "-G"], capture_output=True, text=True,
                               check=True).stdout.count("\n")
    return cpu, count


def per_million(run, pid):
    """(CPU seconds per million samples, samples): the slope between a short and a long run, so that starts do not count."""
    (cpu_a, n_a), (cpu_b, n_b) = (run(pid, seconds) for seconds in DURATIONS)
    return 1e6 * (cpu_b - cpu_a) / max(1, n_b - n_a), n_b - n_a


def measure():
    target = subprocess.Popen([weft.program("depth_fp"), "30", "600", str(os.cpu_count())], stdout=subprocess.DEVNULL)
    try:
        cost, n = per_million(weft_run, target.pid)
        weft.figure("user_samples", n, "samples")
        weft.figure("user_cost_per_million", cost, "s")
        if not weft.HAS_PERF:
            weft.missing("no perf runs here")
            return
        try:
            beside, _ = per_million(perf_run, target.pid)
        except (RuntimeError, subprocess.CalledProcessError) as failed:
            weft.missing("perf failed: %s" % failed)
            return
        weft.figure("user_cost_perf_per_million", beside, "s")
        weft.figure("user_cost_ratio", cost / beside, "ratio")
    finally:
        target.kill()
        target.wait()


if __name__ == "__main__":
    measure()
