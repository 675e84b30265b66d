#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Anonymous and BPF map memory of a whole-machine recording at 99 Hz, at its highest."""
import os
import subprocess
import time

import kernel
import weft

SECONDS = 6 if weft.QUICK else 8


def measure():
    peak = {"anonymous": 0, "maps": 0, "sum": 0}

    def watch(child):
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            try:
                now = {"anonymous": kernel.anonymous_bytes(child.pid), "maps": kernel.map_bytes(child.pid)}
            except (FileNotFoundError, ProcessLookupError):
                break
            now["sum"] = now["anonymous"] + now["maps"]
            for key, value in now.items():
                peak[key] = max(peak[key], value)
            time.sleep(0.05)

    busy = [subprocess.Popen(["openssl", "speed", "-seconds", "60", "sha256"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
            subprocess.Popen([weft.program("depth"), "30", "600"], stdout=subprocess.DEVNULL)]
    try:
        weft.Recording(["-a", "-F", "99", "-d", str(SECONDS)], watch)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    for key, value in peak.items():
        weft.figure("memory_" + key, value / 1e6, "MB")


if __name__ == "__main__":
    measure()
