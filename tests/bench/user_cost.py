#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of the profiler per million samples, warm, beside perf record -g and perf script."""
import os
import subprocess
import tempfile
import time

import weft

FREQUENCY = "4999"
WARM_UP = 3
DURATIONS = (2, 6) if weft.QUICK else (3, 11)


def cpu_of(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(" ".join(command))
    return usage.ru_utime + usage.ru_stime


def own_seconds(pid):
    """CPU time of a process without its children."""
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def weft_cost(pid, seconds):
    """CPU seconds per million samples, once the start is over; (cost, samples)."""
    window = {}

    def watch(child):
        time.sleep(WARM_UP)
        window["from"], began = own_seconds(child.pid), time.monotonic()
        time.sleep(seconds - 1)
        window["cpu"] = own_seconds(child.pid) - window["from"]
        window["seconds"] = time.monotonic() - began

    recording = weft.Recording(["-F", FREQUENCY, "-p", str(pid), "-d", str(seconds + WARM_UP)], watch)
    n = recording.n_samples() * window["seconds"] / (recording.profile.duration_ns / 1e9)
    return 1e6 * window["cpu"] / max(1, n), n


def perf_run(pid, seconds):
    with tempfile.NamedTemporaryFile(prefix="weft-bench.") as data:
        cpu = cpu_of(["perf", "record", "-q", "-N", "-B", "--no-bpf-event", "-g", "-e", "cpu-clock", "-F", FREQUENCY, "-p", str(pid), "-o", data.name,
                      "--", "sleep", str(seconds)])
        cpu += cpu_of(["perf", "script", "-i", data.name])
        count = subprocess.run(["perf", "script", "-i", data.name, "-F", "pid", "-G"], capture_output=True, text=True,
                               check=True).stdout.count("\n")
    return cpu, count


def perf_cost(pid):
    """The same of perf record and perf script: the slope between a short and a long run."""
    (cpu_a, n_a), (cpu_b, n_b) = (perf_run(pid, seconds) for seconds in DURATIONS)
    return 1e6 * (cpu_b - cpu_a) / max(1, n_b - n_a)


def measure():
    target = subprocess.Popen([weft.program("depth_fp"), "30", "600", str(os.cpu_count())], stdout=subprocess.DEVNULL)
    try:
        cost, n = weft_cost(target.pid, DURATIONS[1])
        weft.figure("user_samples", n, "samples")
        weft.figure("user_cost_per_million", cost, "s")
        if not weft.HAS_PERF:
            weft.missing("no perf runs here")
            return
        try:
            beside = perf_cost(target.pid)
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
