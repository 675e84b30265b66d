#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What weft makes of a recording, held against what the JDK says of it.

    oracle.py WEFT JDK FILE		a JDK that is - : only counts and bytes, against a walk of our own

Events of each type and their bytes, against `jfr summary`; times, durations, threads, stacks and weights of every event that
weft writes as a line, against `jfr print`. Prints a line for each claim: 0 or 1, which is a failure, and the claim.
"""
import collections
import json
import math
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
# Worth nothing beside allocation samples, which stand for the same objects.
TLABS = ("jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB")
PERIODIC = ("jdk.ExecutionSample", "jdk.NativeMethodSample")
# Nobody writes these two the same way.
BOOKKEEPING = ("jdk.metadata", "jdk.checkpoint")
# A name that HotSpot wrote with halves of a character: the JDK has a mark for each. NUL is no text of ours.
HALVES = re.compile("[\0\ud800-\udfff\ufffd\U00010000-\U0010ffff]+")
INT64_MAX = (1 << 63) - 1

Seen = collections.namedtuple("Seen", "time duration weight thread_id fields")
# Said by a key of their own, or not fields of the event.
OWN = {"startTime", "duration", "eventThread", "sampledThread", "stackTrace", "state", "samplingPeriod"}
KEYS = {"parkedClass": "lockClass", "thrownClass": "exceptionClass", "type": "exceptionClass", "address": "lockAddress"}
# Ids of spans, which some write as numbers.
IDS = {"spanId"}
GC_KEYS = {"name": "gcName", "cause": "gcCause"}


def plain(text):
    return text if text is None else HALVES.sub("?", text)


def weft_types(weft, path):
    text = subprocess.run([weft, "jfr", "--json", path], capture_output=True, check=True).stdout
    return {t["name"]: (t["count"], t["bytes"]) for t in json.loads(text)["types"] if t["count"]}


def weft_lines(weft, path):
    with tempfile.TemporaryDirectory(prefix="weft-oracle.") as folder:
        out = os.path.join(folder, "x.json")
        done = subprocess.run([weft, "jfr", "--show-secrets", path, "-o", out], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError("weft jfr ends with %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")[-300:]))
        with open(out, encoding="utf-8") as f:
            return [json.loads(line) for line in f]


def ours(line):
    """(key, the rest) of a line of weft."""
    stack = tuple((plain(f.get("class")), plain(f.get("method")), f.get("line", 0), f.get("bci", -1), f.get("type"))
                  for f in line.get("stackFrames", [])[:MAX_DEPTH])
    key = line["eventType"], plain(line["threadName"]), stack
    return key, Seen(jdk_events.nanoseconds(line["timestamp"]), line.get("durationNs"), line.get("sampleWeight"), line["threadId"],
                     {**line, **line.get("fields", {})})


def theirs(kind, values, weights, periods):
    """The same of an event of the JDK."""
    name, number = jdk_events.thread(values)
    stack = tuple((plain(c) or None, plain(m), line, max(bci, -1), t) for c, m, line, bci, t in jdk_events.frames(values))
    duration = jdk_events.nanoseconds(values["duration"]) if "duration" in values else None
    weight = values.get(weights.get(kind), periods.get(kind))
    if isinstance(weight, str):
        weight = jdk_events.nanoseconds(weight)
    fields = {path: value for path, value in jdk_events.flat(values) if path not in OWN}
    for path in IDS & set(fields):
        if isinstance(fields[path], int):
            fields[path] = "%016x" % (fields[path] % (1 << 64)) if fields[path] else None
    return (kind, plain(name), stack), Seen(jdk_events.nanoseconds(values["startTime"]), duration, weight, number, fields)


def same(mine, jdk, tolerance):
    """One field."""
    if jdk is None or jdk in ("", "N/A"):
        return mine in (None, "", 0) or str(mine).startswith("[unresolved")
    if isinstance(jdk, float) and not math.isfinite(jdk):
        return mine is None
    if isinstance(jdk, (bool, int)) or isinstance(mine, bool):
        # JDK 17 prints unsigned numbers as if they were not.
        return mine == jdk or (jdk < 0 and mine in (jdk + (1 << 32), jdk + (1 << 64)))
    if isinstance(jdk, float):
        return mine is not None and math.isclose(mine, jdk, rel_tol=1e-12 if abs(jdk) > 1e38 else 1e-7)
    if mine is None:
        return jdk in jdk_events.NO_TIMES or jdk.startswith(("-", "+"))
    if isinstance(mine, int):
        ns = jdk_events.nanoseconds(jdk)
        return ns is None or abs(max(-INT64_MAX, min(INT64_MAX, ns)) - mine) <= max(tolerance, abs(ns) >> 52)
    return plain(mine) == plain(jdk)


def differs(kind, mine, jdk, tolerance):
    """What of two events that should be the same is not."""
    if abs(mine.time - jdk.time) > tolerance:
        return "time by %d ns" % (mine.time - jdk.time)
    if jdk.duration is not None and abs((mine.duration or 0) - jdk.duration) > ROUNDING_NS:
        return "duration %s, not %s" % (mine.duration, jdk.duration)
    if jdk.weight is not None and (mine.weight is None or abs(mine.weight - jdk.weight) > ROUNDING_NS):
        return "weight %s, not %s" % (mine.weight, jdk.weight)
    if mine.thread_id != jdk.thread_id:
        return "thread id %s, not %s" % (mine.thread_id, jdk.thread_id)
    for path, value in jdk.fields.items():
        key = GC_KEYS.get(path) if "gcName" in mine.fields else None
        got = mine.fields.get(key or KEYS.get(path, path), mine.fields.get(path))
        if not same(got, value, tolerance):
            return "%s %r, not %r" % (path, got, value)
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
        for x in a:
            # Several at one time may come in any order.
            near = [y for y in b[:8] if abs(y.time - x.time) <= tolerance] or b[:1]
            found = [differs(key[0], x, y, tolerance) for y in near]
            best = found.index("") if "" in found else 0
            b.remove(near[best])
            if found[best]:
                yield "%s: %s" % (found[best], shorter(key))


def lend_stacks(mine, jdk, tolerance):
    """An event whose stack is in the chunk before has none for the JDK; weft finds it. How many there were."""
    n = 0
    for kind, thread, stack in [key for key in jdk if not key[2] and len(jdk[key]) > len(mine.get(key, ()))]:
        for event in list(jdk[kind, thread, stack]):
            longer = [key for key in mine if key[:2] == (kind, thread) and key[2] and len(mine[key]) > len(jdk.get(key, ())) and
                      any(abs(m.time - event.time) <= tolerance for m in mine[key])]
            if longer:
                jdk[kind, thread, stack].remove(event)
                jdk[longer[0]].append(event)
                n += 1
    return n


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
    events, weights = jdk_events.events(jdk, path, types), WEIGHTS
    if any(kind == "jdk.ObjectAllocationSample" for kind, _ in events):
        weights = {kind: field for kind, field in WEIGHTS.items() if kind not in TLABS}
    for kind, values in events:
        expected[kind].append(theirs(kind, values, weights, periods))
    for kind in sorted(set(mine) | set(expected)):
        a, b = grouped(mine[kind]), grouped(expected[kind])
        n_lent = lend_stacks(a, b, tolerance)
        bad = list(faults(a, b, tolerance))
        claim(bad, "%s: %d events as jfr print has them%s%s" % (kind, len(expected[kind]), ", %d with a stack that it lacks" % n_lent if n_lent
                                                               else "", ", %d differ" % len(bad) if bad else ""))


def compare_walk(weft, path):
    """The JDK's tools do not know all writers: events as a walk over the file counts them."""
    with open(path, "rb") as f:
        expected = {name.lower(): tuple(v) for name, v in jfr.count(jfr.read(f.read())).items()}
    mine = {name.lower(): v for name, v in weft_types(weft, path).items()}
    bad = ["%s: %s, not %s" % (name, mine.get(name), expected.get(name)) for name in sorted(set(mine) | set(expected))
           if mine.get(name) != expected.get(name) and name not in BOOKKEEPING]
    claim(bad, "%s: %d types, counts and bytes as they are in the file" % (os.path.basename(path), len(expected)))


def main():
    weft, jdk, path = sys.argv[1:4]
    if jdk == "-":
        compare_walk(weft, path)
        return
    compare_types(weft, jdk, path)
    compare_events(weft, jdk, path)


if __name__ == "__main__":
    main()
