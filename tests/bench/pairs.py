# SPDX-License-Identifier: Apache-2.0
"""
What a profiler takes from a running target: windows with it and without it in pairs, whichever of both first in
turns; the change of the target's progress in each pair, their mean, its 95 % interval, and the smallest loss
that so many pairs of that spread would have told from none.

A profiler that samples by perf events is not started for each pair: its events are switched off and on again, so
that windows are short and close to each other, and what the machine does meanwhile is the same in both.
"""
import collections
import contextlib
import fcntl
import math
import mmap
import os
import signal
import statistics
import subprocess
import tempfile
import time

import kernel
import weft

WINDOW = 1.0 if weft.QUICK else 2.0
SHORT = 0.2		# a window between two switches
IOC_ENABLE, IOC_DISABLE = 0x2400, 0x2401
# Two-sided 95 % of Student's distribution, by degrees of freedom.
STUDENT = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23, 11: 2.20, 12: 2.18, 13: 2.16,
           14: 2.14, 15: 2.13}

Target = collections.namedtuple("Target", "pid counter")	# counter: of what it has done, in its memory
Window = collections.namedtuple("Window", "rate cpu_rate own")	# a second, a second of its CPU time; CPU of the profiler a second


def make_counter():
    """(path, its memory)"""
    fd, path = tempfile.mkstemp(prefix="weft-bench.")
    os.write(fd, bytes(8))
    memory = mmap.mmap(fd, 8)
    os.close(fd)
    return path, memory


def cpu_ns(pid):
    """CPU time of all threads of a process, by the scheduler's clock."""
    total = 0
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, tid), encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def done(target):
    return int.from_bytes(target.counter[:8], "little")


def watch(target, profiler=None, seconds=WINDOW):
    """One window."""
    n, cpu, own = done(target), cpu_ns(target.pid), cpu_ns(profiler) if profiler else 0
    began = time.monotonic()
    time.sleep(seconds)
    seconds = time.monotonic() - began
    n, cpu = done(target) - n, cpu_ns(target.pid) - cpu
    own = cpu_ns(profiler) - own if profiler else 0
    return Window(n / seconds, n / max(1, cpu) * 1e9, own / seconds / 1e9)


def watch_under(target, command, settle):
    """One window under a profiler, once it has started."""
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            time.sleep(settle)
            window = watch(target, child.pid)
            child.send_signal(signal.SIGINT)
            child.wait(20)
        except (OSError, subprocess.TimeoutExpired) as failed:
            said.seek(0)
            raise RuntimeError("%s: %s: %s" % (command[0], failed, said.read()[-300:])) from failed
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    return window


def run(target, command, n, settle):
    """n pairs (without, with)."""
    pairs = []
    for i in range(n):
        if i % 2:
            beside = watch_under(target, command, settle)
            time.sleep(0.3)
            pairs.append((watch(target), beside))
        else:
            alone = watch(target)
            pairs.append((alone, watch_under(target, command, settle)))
            time.sleep(0.3)
    return pairs


def switch(events, request):
    for fd in events:
        fcntl.ioctl(fd, request, 0)


@contextlib.contextmanager
def attached(target, command, settle):
    """A profiler that runs, and its perf events."""
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        events = []
        try:
            time.sleep(settle)
            events = kernel.perf_events_of(child.pid)
            if child.poll() is not None or not events:
                said.seek(0)
                raise RuntimeError("%s: no perf events: %s" % (command[0], said.read()[-300:]))
            yield child, events
        finally:
            for fd in events:
                os.close(fd)
            child.send_signal(signal.SIGINT)
            child.wait(20)


def run_switched(target, command, n, settle):
    """n pairs (without, with), each of two windows: one of both is between those of the other."""
    pairs = []
    with attached(target, command, settle) as (child, events):
        for i in range(n):
            inner, outer = (IOC_DISABLE, IOC_ENABLE) if i % 2 else (IOC_ENABLE, IOC_DISABLE)
            windows = {inner: [], outer: []}
            for request in (outer, inner, inner, outer):
                switch(events, request)
                windows[request].append(watch(target, child.pid, SHORT))
            pairs.append(tuple(Window(*map(statistics.mean, zip(*windows[request])))
                               for request in (IOC_DISABLE, IOC_ENABLE)))
    return pairs


def student(degrees):
    """Beyond the table the distribution is near enough to the normal one for two terms of the difference."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return STUDENT.get(degrees, z + (z ** 3 + z) / (4 * degrees))


def loss(pairs, of):
    """(percent lost, half of its interval, which is the detection limit)"""
    logs = [math.log(max(of(beside), 1e-9) / max(of(alone), 1e-9)) for alone, beside in pairs]
    error = statistics.stdev(logs) / math.sqrt(len(logs)) * student(len(logs) - 1)
    return 100 * (1 - math.exp(statistics.mean(logs))), 100 * error


def say(name, pairs):
    """All figures of one profiler and one target."""
    for kind, of in (("", lambda window: window.rate), ("_cpu", lambda window: window.cpu_rate)):
        lost, limit = loss(pairs, of)
        weft.figure("%s%s_loss" % (name, kind), lost, "%")
        weft.figure("%s%s_loss_from" % (name, kind), lost - limit, "%")
        weft.figure("%s%s_loss_to" % (name, kind), lost + limit, "%")
        weft.figure("%s%s_detection_limit" % (name, kind), limit, "%")
    weft.figure(name + "_own_cpu", statistics.median(beside.own for _, beside in pairs), "core")
