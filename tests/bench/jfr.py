#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
How fast recordings are read, beside other readers in the same run: in turns, medians. Rates are megabytes (1e6) of the file a
CPU second.
"""
import os
import statistics
import subprocess
import tempfile
import time

import weft
import jfr_peers as peers

ROUNDS = 3 if weft.QUICK else 31
PASSES = "10"
PRINT_ROUNDS = 1 if weft.QUICK else 3
LARGE_ROUNDS = 3 if weft.QUICK else 11
GOAL_BYTES = 376_498_520	# of the file that the goal's seconds are for
# What a profile is made of; the rest of a recording is passed over.
PROFILE_TYPES = ("jdk.ExecutionSample", "jdk.CPUTimeSample", "jdk.ObjectAllocationSample", "jdk.JavaMonitorEnter", "jdk.ThreadPark")
PROFILE_EVENTS = "cpu,alloc,lock"


def rate(path, seconds):
    return os.path.getsize(path) / 1e6 / seconds


def in_turns(commands, n):
    """{name: median of all passes}, the programs one after the other n times."""
    seconds = {name: [] for name in commands}
    for _ in range(n):
        for name, command in commands.items():
            seconds[name] += peers.passes(command)
    return {name: statistics.median(all_of) for name, all_of in seconds.items()}


def say_reading(name, path, events):
    """Reading in one process again and again; seconds of ours. What weft makes of the events is a profile in memory; grafana's
    parser only reads them, or makes profiles, too."""
    commands = {"weft": [weft.program("jfr_bench"), PASSES, path, events]}
    if os.path.exists(peers.GRAFANA):
        commands["grafana"] = [peers.GRAFANA, PASSES, path]
        commands["grafana_profile"] = [peers.GRAFANA, "profile", PASSES, path]
    else:
        weft.missing("no grafana jfr-parser here")
    seconds = in_turns(commands, ROUNDS)
    for reader, each in seconds.items():
        weft.figure("jfr_%s_%s_mb_per_s" % (name, reader), rate(path, each), "MB/s")
    for reader, each in list(seconds.items())[1:]:
        weft.figure("jfr_%s_of_%s" % (name, reader), each / seconds["weft"], "x")
    return seconds["weft"]


def without_scopes(path, folder):
    """The same recording, but as of a program without OpenTelemetry: nobody knows the type of its scopes."""
    name = b"io.opentelemetry.context.Scope"
    with open(path, "rb") as f:
        data = f.read()
    plain = os.path.join(folder, "plain.jfr")
    with open(plain, "wb") as f:
        f.write(data.replace(name, name[:-1] + b"_"))
    return plain if name in data else None


def say_jdk(path, weft_seconds):
    """What `jfr print` takes for the same events, its start included; ours end to end beside it."""
    jdk = peers.newest_jdk()
    if not jdk:
        weft.missing("no JDK here")
        return
    weft.note("jfr print of %s" % os.path.basename(jdk))
    printed = statistics.median(peers.run(peers.print_command(jdk, PROFILE_TYPES, path)).cpu for _ in range(PRINT_ROUNDS))
    weft.figure("jfr_profile_jfr_print_mb_per_s", rate(path, printed), "MB/s")
    weft.figure("jfr_profile_of_jfr_print", printed / weft_seconds, "x")
    if peers.jars("jmc"):
        each = peers.passes(peers.jmc_command(jdk, path, 3))
        weft.figure("jfr_profile_jmc_mb_per_s", rate(path, min(each)), "MB/s")


def convert(path, out, *options):
    return [weft.WEFT, "jfr", path, "-o", out, *options]


def wall_side_by_side(commands):
    """How long until all are done, each on a CPU of its own."""
    began = time.monotonic()
    running = [subprocess.Popen(["taskset", "-c", str(cpu), *command]) for cpu, command in enumerate(commands)]
    if any([program.wait() for program in running]):
        raise RuntimeError("%s failed beside another" % " ".join(commands[0]))
    return time.monotonic() - began


def say_large(path, folder):
    """A large file to pprof, end to end, on one core and on two; and what two cores of this machine are worth to programs that
    have nothing to do with each other: CPUs of a virtual machine may be two threads of one core."""
    out = os.path.join(folder, "large.pb.gz")
    one, two, apart = [], [], []
    for _ in range(LARGE_ROUNDS):
        if peers.has_taskset():
            apart.append(wall_side_by_side([convert(path, os.path.join(folder, "%d.pb.gz" % i)) for i in range(2)]))
        one.append(peers.run(convert(path, out), "0" if peers.has_taskset() else None))
        two.append(peers.run(convert(path, out)))
    cpu = statistics.median(r.cpu for r in one)
    weft.figure("jfr_large_cpu", cpu * GOAL_BYTES / os.path.getsize(path), "s")
    weft.figure("jfr_large_mb_per_s", rate(path, cpu), "MB/s")
    weft.figure("jfr_large_two_cores", statistics.median(r.wall for r in one) / statistics.median(r.wall for r in two), "x")
    if apart:
        weft.figure("jfr_large_two_apart", 2 * statistics.median(r.wall for r in one) / statistics.median(apart), "x")
    weft.figure("jfr_large_memory", max(r.peak for r in one + two) / 1e6, "MB")
    for name, command in peers.end_to_end(path, os.path.join(folder, "peer.pprof")):
        done = peers.run(command, "0" if peers.has_taskset() else None)
        weft.figure("jfr_large_%s_cpu" % name, done.cpu * GOAL_BYTES / os.path.getsize(path), "s")
        weft.figure("jfr_large_%s_memory" % name, done.peak / 1e6, "MB")


def measure():
    big, profiled, large = (peers.recording(name) for name in ("big17", "ap-big", "large17"))
    with tempfile.TemporaryDirectory(prefix="weft-bench.") as folder:
        if big:
            seconds = say_reading("profile", big, PROFILE_EVENTS)
            say_jdk(big, seconds)
            plain = without_scopes(big, folder)
            if plain:
                say_reading("plain_profile", plain, PROFILE_EVENTS)
            weft.figure("jfr_lines_memory", peers.run(convert(big, os.path.join(folder, "x.json"))).peak / 1e6, "MB")
            weft.figure("jfr_profile_memory", peers.run(convert(big, os.path.join(folder, "x.pb.gz"))).peak / 1e6, "MB")
        if profiled:
            say_reading("async", profiled, "all")
        if large:
            say_large(large, folder)


if __name__ == "__main__":
    measure()
