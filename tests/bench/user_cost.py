#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of the profiler per million samples, warm: the slope between a short and a long recording."""
import os
import subprocess
import tempfile

import weft

FREQUENCY = "4999"
DURATIONS = (2, 6) if weft.QUICK else (4, 16)


def cpu_of(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(" ".join(command))
    return usage.ru_utime + usage.ru_stime


def weft_run(pid, seconds):
    recording = weft.Recording(["-F", FREQUENCY, "-p", str(pid), "-d", str(seconds)])
    return recording.cpu, recording.n_samples()


def perf_run(pid, seconds):
    with tempfile.NamedTemporaryFile(prefix="weft-bench.") as data:
        cpu = cpu_of(["perf", "record", "-q", "-N", "-B", "-g", "-e", "cpu-clock", "-F", FREQUENCY, "-p", str(pid), "-o", data.name,
                      "--", "sleep", str(seconds)])
        cpu += cpu_of(["perf", "script", "-i", data.name])
        count = subprocess.run(["perf", "script", "-i", data.name, "-F", "pid", "-G"], capture_output=True, text=True,
                               check=True).stdout.count("\n")
    return cpu, count


def slope(run, pid):
    (cpu_a, n_a), (cpu_b, n_b) = (run(pid, seconds) for seconds in DURATIONS)
    return 1e6 * (cpu_b - cpu_a) / max(1, n_b - n_a), n_b


def measure():
    target = subprocess.Popen([weft.program("depth_fp"), "30", "600"], stdout=subprocess.DEVNULL)
    try:
        cost, n = slope(weft_run, target.pid)
        weft.figure("user_samples", n, "samples")
        weft.figure("user_cost_per_million", cost, "s")
        if weft.HAS_PERF:
            perf_cost, _ = slope(perf_run, target.pid)
            weft.figure("user_cost_perf_per_million", perf_cost, "s")
            weft.figure("user_cost_ratio", cost / perf_cost, "ratio")
    finally:
        target.kill()
        target.wait()


if __name__ == "__main__":
    measure()
