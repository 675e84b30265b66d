#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much the verifier looks at before it lets each program of the kernel half in, for every event and mode: it ends at
a million instructions, so no program may come near. Needs root and BPF, and a kernel that says it (5.16)."""
import glob
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.dirname(__file__) + "/../..")
WEFT = os.path.join(TOP, os.environ.get("BUILD", "build"), "weft")
MODES = ((), ("-e", "gil"), ("-e", "async"), ("--async",), ("--block-ms", "50"), ("--kernel-only",),
         ("-a",), ("--cgroup", "/"))
MOST = 600000
PATIENCE_S = 30
N_PROGRAMS = 2  # of every mode: what takes samples, and what follows forks


def looked_at(pid):
    """The most of the programs that a process holds, and how many they are."""
    counts = {}
    for path in glob.glob("/proc/%d/fdinfo/*" % pid):
        try:
            with open(path, encoding="ascii") as f:
                info = dict(line.strip().split(":\t") for line in f if ":\t" in line)
        except OSError:
            continue
        if "prog_type" in info:  # links have the id of their program too
            counts[info["prog_id"]] = int(info.get("verified_insns", 0))
    return max(counts.values(), default=0), len(counts)


def loaded(command):
    """The same of a recording once it has loaded them; (0, 0) when it ended without any. And its last words."""
    end = time.monotonic() + PATIENCE_S
    with tempfile.TemporaryFile("w+") as words, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=words) as child:
        most, n = 0, 0
        while child.poll() is None and time.monotonic() < end and n < N_PROGRAMS:
            time.sleep(0.05)
            most, n = looked_at(child.pid)
        child.kill()
        words.seek(0)
        return most, n, words.read().strip().split("\n")[-1]


def main():
    if subprocess.run([WEFT, "doctor"], capture_output=True, check=False).returncode == 3:
        print("1..0 # SKIP weft cannot profile here")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="weft-verifier.") as work:
        for i, mode in enumerate(MODES, 1):
            target = ["--", "sleep", "2"] if not mode or mode[0] not in ("-a", "--cgroup") else []
            most, n, said = loaded([WEFT, "record", "-q", *mode, "-o", os.path.join(work, "out.pb.gz"), *target])
            name = "record %s" % " ".join(mode)
            if not most and n:
                print(f"ok {i} - {name} # SKIP this kernel does not say it")
                continue
            is_good = n == N_PROGRAMS and 0 < most <= MOST
            failed += not is_good
            print(f"{'' if is_good else 'not '}ok {i} - {name}: {n} programs, the verifier looks at {most} instructions "
                  f"of the largest, {MOST} at most{' (' + said + ')' if not n else ''}", flush=True)
    print(f"1..{len(MODES)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
