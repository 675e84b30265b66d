#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From exec of weft to its first tick; and that a SIGKILL at any time leaves nothing in the kernel."""
import os
import random
import subprocess
import tempfile
import time

import kernel
import weft

STARTS = 3 if weft.QUICK else 9
KILLS = 6 if weft.QUICK else 20
# A perf event lives as long as a descriptor or a link to its program.
KINDS = {"programs": kernel.program_ids, "maps": kernel.map_ids, "links": kernel.link_ids,
         "perf_events": kernel.perf_event_descriptors}


def start_weft(pid, folder):
    path = os.path.join(folder, "profile.pb.gz")
    return subprocess.Popen([weft.WEFT, "record", "-q", "-F", "997", "-p", str(pid), "-d", "30", "-o", path],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def stop(child):
    child.kill()
    child.wait()


def time_to_first_tick(pid, folder):
    begun = time.monotonic()
    child = start_weft(pid, folder)
    held = {}
    try:
        while time.monotonic() - begun < 20 and child.poll() is None:
            for number in kernel.programs_of(child.pid) - set(held):
                fd = kernel.hold_program(number)
                if fd >= 0:
                    held[number] = fd
            if any(runs > 0 and is_sampler for runs, _, is_sampler in map(kernel.run_stats, held.values())):
                return 1000 * (time.monotonic() - begun)
            time.sleep(0.0005)
    finally:
        stop(child)
        for fd in held.values():
            os.close(fd)
    return float("inf")


def left_over(ids, before):
    """How many are new and held by nobody for ten seconds: others may use BPF at the same time."""
    left = None
    for _ in range(20):
        time.sleep(0.5)
        new = ids() - before - kernel.held_ids()
        left = new if left is None else left & new
        if not left:
            break
    return len(left)


def measure(folder):
    target = subprocess.Popen([weft.program("depth"), "15", "600", str(os.cpu_count())], stdout=subprocess.DEVNULL)
    try:
        with kernel.statistics():
            times = sorted(time_to_first_tick(target.pid, folder) for _ in range(STARTS))
        weft.figure("start_first_tick_median", times[len(times) // 2], "ms")
        weft.figure("start_first_tick_worst", times[-1], "ms")
        time.sleep(0.5)
        before = {name: ids() for name, ids in KINDS.items()}
        for _ in range(KILLS):
            child = start_weft(target.pid, folder)
            time.sleep(random.uniform(0.0, 1.0))
            stop(child)
        for name, ids in KINDS.items():
            weft.figure("kill_left_" + name, left_over(ids, before[name]), name)
    finally:
        target.kill()
        target.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="weft-bench.") as into:
        measure(into)
