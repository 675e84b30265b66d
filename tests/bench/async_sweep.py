#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a look at ten thousand suspended asyncio tasks takes of a CPU: weft's own user time, and all of it together
with the process that reads for it."""
import os
import re
import subprocess

import pythons
import weft

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "tasks_program.py")
N_TASKS = 10000
SECONDS = 6 if weft.QUICK else 15


def measure(name, python):
    with subprocess.Popen([*python, "-W", "ignore", PROGRAM, "many", str(N_TASKS)], stdout=subprocess.PIPE) as program:
        try:
            program.stdout.readline()
            said = weft.Recording(["-e", "async", "-d", str(SECONDS), "-p", str(program.pid)]).error
        finally:
            program.kill()
    each = re.search(r"([0-9.]+) ms of user CPU each, ([0-9.]+) ms with the kernel's", said)
    most = re.search(r"the largest: (\d+) tasks", said)
    weft.figure("async_%s_tasks" % name, int(most[1]), "tasks")
    weft.figure("async_%s_sweep_user" % name, float(each[1]), "ms")
    weft.figure("async_%s_sweep_cpu" % name, float(each[2]), "ms")


if __name__ == "__main__":
    for found in pythons.found().items():
        measure(*found)
