#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compilers, whose libraries are the largest there are, start again and again beside a program with deep
stacks: loading their tables must neither lose a tick nor cut anybody's stack.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import weft	# first: it makes the harness of tests/accuracy importable
import tools
from truth import is_complete

SECONDS = "3" if weft.QUICK else "6"
# What a stall would show up as: the snapshots of one second are used up, or a buffer is full.
STALLS = r"(end\.snapshot_budget|end\.snapshot_ring|snapshots\.pages_lost|ticks\.lost_\w+)"
# Into a file of their own: as root a compiler replaces even /dev/null.
COMPILERS = (("clang", "echo 'int main(void) { return 0; }' | %s -O2 -xc -c -o %s/out -", "lib*LLVM*.so*"),
             ("rustc", "echo 'fn main() {}' | %s --emit=metadata -o %s/out -", "librustc_driver-*.so"))
BESIDE = "%s 15 %s & while kill -0 $! 2>/dev/null; do %s >/dev/null 2>&1; done; wait"


def real_path(name):
    """The compiler itself: rustup's is a program that starts it."""
    path = shutil.which(name)
    if path and name == "rustc":
        root = subprocess.run([path, "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
        path = os.path.join(root, "bin", "rustc")
    return path and os.path.realpath(path)


def describe(path, pattern):
    folder = os.path.join(os.path.dirname(path), "..", "lib")
    sizes = [os.path.getsize(f) for f in glob.glob(os.path.join(folder, pattern))]
    weft.note("library: %s, %d MB" % (pattern, max(sizes, default=0) / 1e6))


def record(name, path, compile_line):
    with tempfile.TemporaryDirectory(prefix="weft-bench.") as work:
        script = BESIDE % (weft.program("depth"), SECONDS, compile_line % (path, work))
        recording = weft.Recording(["-F", "997", "--", "sh", "-c", script])
    text = recording.error + "\n" + "\n".join(recording.profile.comments)
    stalls = {counter: int(n.replace(",", "")) for counter, n in re.findall(STALLS + r"[\s:=]+([\d,]+)", text)}
    weft.note("library: " + " ".join("%s=%d" % i for i in sorted(stalls.items())))
    weft.figure("library_%s_stalled" % name, sum(stalls.values()), "samples")
    for who in ("depth", name):
        good = n = 0
        for sample, count in zip(recording.profile.samples, recording.values("samples")):
            stack = tools.weft_stack(sample)
            if stack.comm.startswith(who) and not stack.kernel_only:
                n += count
                good += count * is_complete(stack, "")
        weft.figure("library_%s_%s_samples" % (name, who), n, "samples")
        weft.figure("library_%s_%s_complete" % (name, who), 100 * good / max(1, n), "%")


def measure():
    for name, compile_line, pattern in COMPILERS:
        path = real_path(name)
        if path:
            describe(path, pattern)
            record(name, path, compile_line)
        else:
            weft.missing("no %s here" % name)


if __name__ == "__main__":
    measure()
