#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What weft makes of a recording, held against what the JDK says of it.

    oracle.py WEFT JDK FILE

Events of each type and their bytes, against `jfr summary`; times, durations, threads, stacks and weights of every event that
weft writes as a line, against `jfr print`. Prints a line for each claim: 0 or 1, which is a failure, and the claim.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import chunks as jfr
import jdk_events

# The JDK calculates with floating point. It converts all chunks by the clock of the first one.
ROUNDING_NS = 1
DRIFT_NS = 50 * 10**6
MAX_DEPTH = 64	# that the JDK prints
# Where the JDK says what one event stands for; the others count one, or what they last.
WEIGHTS = {"jdk.CPUTimeSample": "samplingPeriod", "jdk.ObjectAllocationSample": "weight", "jdk.ObjectAllocationInNewTLAB": "tlabSize",
           "jdk.ObjectAllocationOutsideTLAB": "allocationSize"}
PERIODIC = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
# Nobody writes these two the same way.
BOOKKEEPING = ("jdk.metadata", "jdk.checkpoint")
# A name that HotSpot wrote with halves of a character: the JDK has a mark for each.
HALVES = re.compile("[\ud800-\udfff\ufffd\U00010000-\U0010ffff]+")

Seen = collections.namedtuple("Seen", "time duration weight ids")


def plain(text):
    return text if text is None else HALVES.sub("?", text)


def weft_types(weft, path):
    text = subprocess.run([weft, "jfr", "--json", path], capture_output=True, check=True).stdout
    return {t["name"]: (t["count"], t["bytes"]) for t in json.loads(text)["types"] if t["count"]}


def weft_lines(weft, path):
    with tempfile.TemporaryDirectory(prefix="weft-oracle.") as folder:
        out = os.path.join(folder, "x.json")
        done = subprocess.run([weft, "jfr", path, "-o", out], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError("weft jfr ends with %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")[-300:]))
        with open(out, encoding="utf-8") as f:
            return [json.loads(line) for line in f]


def ours(line):
    """(key, what may differ by rounding) of a line of weft."""
    stack = tuple((plain(f.get("class")), plain(f.get("method")), f.get("line", -1), f.get("bci", -1), f.get("type"))
                  for f in line.get("stackFrames", [])[:MAX_DEPTH])
    key = line["eventType"], plain(line.get("threadName")), stack
    return key, Seen(jdk_events.nanoseconds(line["timestamp"]), line.get("durationNs"), line.get("sampleWeight"), line.get("threadId"))


def thread_name(name, ids, is_virtual):
    """The JDK has no name for some threads; weft says at least which one it is."""
    if name:
        return name
    return "virtual-%d" % ids[1] if is_virtual else name


def theirs(kind, values, periods):
    """The same of an event of the JDK."""
    name, ids = jdk_events.thread(values)
    who = values.get("sampledThread") or values.get("eventThread") or {}
    stack = tuple((plain(c), plain(m), line, bci, t) for c, m, line, bci, t in jdk_events.frames(values))
    duration = jdk_events.nanoseconds(values["duration"]) if "duration" in values else None
    weight = values.get(WEIGHTS.get(kind), periods.get(kind))
    if isinstance(weight, str):
        weight = jdk_events.nanoseconds(weight)
    return (kind, plain(thread_name(name, ids, who.get("virtual"))), stack), Seen(jdk_events.nanoseconds(values["startTime"]), duration, weight, ids)


def differs(mine, jdk, tolerance):
    """What of two events that should be the same is not."""
    if abs(mine.time - jdk.time) > tolerance:
        return "time by %d ns" % (mine.time - jdk.time)
    if jdk.duration is not None and mine.duration is not None and abs(mine.duration - jdk.duration) > ROUNDING_NS:
        return "duration %s, not %s" % (mine.duration, jdk.duration)
    if jdk.weight is not None and (mine.weight is None or abs(mine.weight - jdk.weight) > ROUNDING_NS):
        return "weight %s, not %s" % (mine.weight, jdk.weight)
    if mine.ids is not None and jdk.ids and mine.ids not in jdk.ids:
        return "thread id %s, not one of %s" % (mine.ids, jdk.ids)
    return ""


def grouped(pairs):
    groups = collections.defaultdict(list)
    for key, seen in pairs:
        groups[key].append(seen)
    return groups


def shorter(key):
    kind, thread, stack = key
    return "%s in %r at %s (%d frames)" % (kind, thread, list(stack[:2]), len(stack))


def faults(mine, jdk, tolerance):
    """Differences of two multisets of events of one type."""
    for key in set(mine) | set(jdk):
        a, b = sorted(mine.get(key, ()), key=lambda s: s.time), sorted(jdk.get(key, ()), key=lambda s: s.time)
        if len(a) != len(b):
            yield "%d, not %d: %s" % (len(a), len(b), shorter(key))
            continue
        for x, y in zip(a, b):
            difference = differs(x, y, tolerance)
            if difference:
                yield "%s: %s" % (difference, shorter(key))


def claim(bad, text):
    print("%d %s" % (bool(bad), text), flush=True)
    for line in bad[:4]:
        print("# " + line)


def compare_types(weft, jdk, path):
    mine = {name.lower(): v for name, v in weft_types(weft, path).items()}
    # The JDK's checkpoints are called otherwise.
    expected = {name.lower(): v for name, v in jdk_events.summary(jdk, path).items()}
    bad = ["%s: %s, not %s" % (name, mine.get(name), expected.get(name)) for name in sorted(set(mine) | set(expected))
           if mine.get(name) != expected.get(name) and name not in BOOKKEEPING]
    claim(bad, "%d types: counts and bytes as in jfr summary" % len(expected))


def compare_events(weft, jdk, path):
    with open(path, "rb") as f:
        recording = jfr.read(f.read())
    tolerance = ROUNDING_NS if len(recording) == 1 else DRIFT_NS
    lines = weft_lines(weft, path)
    types = {line["eventType"] for line in lines} | set(WEIGHTS) | set(PERIODIC)
    settings = [values for _, values in jdk_events.events(jdk, path, {"jdk.ActiveSetting"})]
    ids = {name: {i for chunk in recording for i, n in chunk.names.items() if n == name} for name in PERIODIC}
    periods = {name: jdk_events.execution_period(settings, ids[name]) for name in PERIODIC}
    mine, expected = collections.defaultdict(list), collections.defaultdict(list)
    for line in lines:
        mine[line["eventType"]].append(ours(line))
    for kind, values in jdk_events.events(jdk, path, types):
        expected[kind].append(theirs(kind, values, periods))
    for kind in sorted(set(mine) | set(expected)):
        bad = list(faults(grouped(mine[kind]), grouped(expected[kind]), tolerance))
        claim(bad, "%s: %d events as jfr print has them%s" % (kind, len(expected[kind]), ", %d differ" % len(bad) if bad else ""))


def main():
    weft, jdk, path = sys.argv[1:4]
    compare_types(weft, jdk, path)
    compare_events(weft, jdk, path)


if __name__ == "__main__":
    main()
