#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What a Python target loses while it is sampled at 199 Hz, and what the profiler itself takes: a program that does nothing
but look at the clock below 150 frames, and so knows exactly for how long it was stopped; one that works at that depth; and
a web service under load. weft, then py-spy and austin where there are any (.ci/peers.sh).
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import time

import kernel
import pairs
import pythons
import weft

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
N_PAIRS = 6 if weft.QUICK else 100
N_PEER_PAIRS = 2 if weft.QUICK else 5
N_CLOCK_PAIRS = 6 if weft.QUICK else 20	# whose noise is small
RATE = 199
FAST = 10 * RATE	# at which a tick's own price shows
FOREVER = "100000"
PEERS = {
    "py_spy": ("py-spy", lambda tool, pid, out: [tool, "record", "-r", str(RATE), "-d", FOREVER, "-f", "raw", "-o", out, "-p", str(pid)]),
    "austin": ("austin", lambda tool, pid, out: [tool, "-i", str(1000000 // RATE), "-o", out, "-p", str(pid)]),
}


@contextlib.contextmanager
def running(*commands):
    """Their processes, until this is left."""
    children = []
    try:
        for command in commands:
            children.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
            if "serve" in command:
                children[-1].stdout.readline()
        yield children
    finally:
        for child in reversed(children):
            child.kill()
            child.wait()
            child.stdout.close()


@contextlib.contextmanager
def depth(python):
    path, memory = pairs.make_counter()
    command = [*python, os.path.join(PROGRAMS, "mixed.py"), "plain", "75", FOREVER, path]
    with running(command) as (child,):
        time.sleep(0.5)
        yield pairs.Target(child.pid, memory)
    os.unlink(path)


@contextlib.contextmanager
def clock(python):
    path, memory = pairs.make_counter()
    with running([*python, os.path.join(PROGRAMS, "clock.py"), weft.program("clock.so"), "150", path]) as (child,):
        time.sleep(0.5)
        yield pairs.Target(child.pid, memory)
    os.unlink(path)


@contextlib.contextmanager
def service(python):
    path, memory = pairs.make_counter()
    program = os.path.join(PROGRAMS, "service.py")
    with tempfile.TemporaryDirectory(prefix="weft-bench.") as folder:
        address = os.path.join(folder, "socket")
        with running([*python, program, "serve", address], [*python, program, "load", address, path]) as children:
            time.sleep(1)
            yield pairs.Target(children[0].pid, memory)
    os.unlink(path)


TARGETS = {"clock": clock, "depth": depth, "service": service}


def kernel_loss(name, target):
    """Kernel time in each second of the target's time, by the kernel's own count."""
    window = {}

    def watch(child):
        time.sleep(1)
        ns, cpu, began = recorded_ns(child.pid), pairs.cpu_ns(target.pid), time.monotonic()
        time.sleep(2 * pairs.WINDOW)
        window["ns"], window["cpu"] = recorded_ns(child.pid) - ns, pairs.cpu_ns(target.pid) - cpu
        window["seconds"] = time.monotonic() - began

    def recorded_ns(pid):
        held = [kernel.hold_program(number) for number in kernel.programs_of(pid)]
        ns = sum(kernel.run_stats(fd)[1] for fd in held if fd >= 0)
        for fd in held:
            os.close(fd)
        return ns

    with kernel.statistics():
        weft.Recording(["-F", str(RATE), "-p", str(target.pid), "-d", str(2 + 2 * pairs.WINDOW)], watch)
    weft.figure(name + "_kernel_ns_per_s", window["ns"] / window["seconds"], "ns")
    weft.figure(name + "_kernel_loss", 100 * window["ns"] / window["cpu"], "%")


def peer(name, word, target, out):
    """The figures of one of the others."""
    tool, command = PEERS[name]
    path = os.path.join(os.environ.get("PEERS", ""), tool, "bin", tool)
    if not os.path.exists(path):
        weft.note("%s is not here" % tool)
        return
    try:
        pairs.say("python_%s_%s" % (word, name), pairs.run(target, command(path, target.pid, out), N_PEER_PAIRS, 1.5))
    except RuntimeError as failed:
        weft.note(str(failed).replace("\n", " "))


def tick_prices(name, target, out, n):
    """What a tick takes from the target in all, and what of it is the kernel's clock without anybody's program."""
    commands = {"": [weft.WEFT, "record", "-q", "-F", str(FAST), "-o", out, "-p", str(target.pid)],
                "_bare": [sys.executable, os.path.join(PROGRAMS, "ticks.py"), str(FAST)]}
    for kind, command in commands.items():
        lost, limit = pairs.loss(pairs.run_switched(target, command, n, 1), lambda window: window.cpu_rate)
        for end, percent in (("", lost), ("_from", lost - limit), ("_to", lost + limit)):
            weft.figure("%s%s_tick%s" % (name, kind, end), percent / 100 / FAST * 1e6, "us")


def measure(word, python):
    n = N_CLOCK_PAIRS if word == "clock" else N_PAIRS
    with TARGETS[word](python) as target, tempfile.TemporaryDirectory(prefix="weft-bench.") as folder:
        out = os.path.join(folder, "out.pb.gz")
        kernel_loss("python_" + word, target)
        command = [weft.WEFT, "record", "-q", "-F", str(RATE), "-o", out, "-p", str(target.pid)]
        pairs.say("python_" + word, pairs.run_switched(target, command, n, 1))
        tick_prices("python_" + word, target, out, n // 2)
        for name in PEERS:
            peer(name, word, target, out)


if __name__ == "__main__":
    there = pythons.found()
    for one in TARGETS:
        if "311" in there:
            measure(one, there["311"])
