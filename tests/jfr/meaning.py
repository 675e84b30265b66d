#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What samples say beside their stacks, of programs that are known to do it.

    meaning.py WEFT lost FILE	recordings.sh pinnedV: lost samples are worth what the others are
    meaning.py WEFT spans FILE	recordings.sh chunksV: samples have the innermost scope around them, in whichever chunk that
    				was written, and what its span is called
    meaning.py WEFT tags FILE	recordings.sh ap-span: samples have the tag of the span they were taken in

Prints a line for each claim: 0 or 1, which is a failure, and the claim.
"""
import collections
import datetime
import json
import os
import subprocess
import sys
import tempfile

import chunks as jfr

MOST = 0.95	# a sample may be taken just before or after what it shows


def lines(weft, path, *options):
    with tempfile.TemporaryDirectory(prefix="weft-meaning.") as folder:
        out = os.path.join(folder, "x.json")
        subprocess.run([weft, "jfr", *options, path, "-o", out], capture_output=True, check=True)
        with open(out, encoding="utf-8") as f:
            return [json.loads(line) for line in f]


def folded(weft, path, *options, is_direct=False):
    """What samples of each stack are worth, by the names of its functions; direct: no profile was written before."""
    with tempfile.TemporaryDirectory(prefix="weft-meaning.") as folder:
        profile = path if is_direct else os.path.join(folder, "x.pb.gz")
        if not is_direct:
            subprocess.run([weft, "jfr", path, "-o", profile], capture_output=True, check=True)
        out = os.path.join(folder, "x.folded")
        subprocess.run([weft, "report", profile, *options, "-o", out], capture_output=True, check=True)
        with open(out, encoding="utf-8") as f:
            return {stack.replace("_[j]", ""): int(n) for stack, n in (line.rsplit(" ", 1) for line in f)}


def claim(is_right, text):
    print(0 if is_right else 1, text)


def worth(events):
    return {e["sampleWeight"] // e["totalSamples"] for e in events}


def check_lost(weft, path):
    events = collections.defaultdict(list)
    for event in lines(weft, path):
        events[event["eventType"]].append(event)
    lost = events["jdk.CPUTimeSamplesLost"]
    period = min(worth(events["jdk.CPUTimeSample"]))
    n_cpus = events["jdk.CPUInformation"][0]["fields"]["hwThreads"]
    claim(lost, f"samples were lost ({len(lost)} times)")
    claim(worth(lost) == {period}, f"each is worth the period of the others, on one CPU of {n_cpus}: {period} ns")
    alone = lines(weft, path, "--events", "jdk.CPUTimeSamplesLost")
    claim(len(alone) == len(lost) and worth(alone) == {period}, "also when nothing else is asked for")
    stacks = folded(weft, path)
    expected = sum(e["sampleWeight"] for e in lost)
    claim(sum(n for stack, n in stacks.items() if stack.endswith("[lost]")) == expected, "and in a profile")


def check_tags(weft, path):
    tags = {"Tagged.outer": "GET /größe/{id}", "Tagged.inner": "query", "Tagged.untagged": ""}
    seen = {function: collections.Counter() for function in tags}
    for event in lines(weft, path, "--events", "cpu"):
        for function in tags:
            if any(frame["function"] == function for frame in event.get("stackFrames", ())):
                seen[function][event.get("spanTag", "")] += 1
    for function, tag in tags.items():
        n = sum(seen[function].values())
        claim(n > 10 and seen[function][tag] >= MOST * n, f"samples of {function} are in {tag or 'no span'} ({seen[function][tag]} of {n})")
    stacks = folded(weft, path, "--by", "tag")
    for function, tag in tags.items():
        mine = [(stack, n) for stack, n in stacks.items() if function in stack.split(";")]
        root = f"[tag: {tag}]" if tag else "[no tag]"
        right = sum(n for stack, n in mine if stack.split(";")[0] == root)
        claim(mine and right >= MOST * sum(n for _, n in mine), f"and so are they in a profile: {function}")


def nanoseconds(event):
    seconds, fraction = event["timestamp"].rstrip("Z").split(".")
    return int(datetime.datetime.fromisoformat(seconds + "+00:00").timestamp()) * 10**9 + int(fraction.ljust(9, "0"))


class JvmClock:
    """Times of a JVM's own clock: what its chunks take for the time of day is up to a millisecond apart."""

    def __init__(self, path):
        with open(path, "rb") as f:
            headers = [chunk.header for chunk in jfr.read(f.read())]
        self.zeros = sorted((h.start_ns, h.start_ns - h.start_ticks * 10**9 // h.ticks_per_s) for h in headers)

    def at(self, ns, written):
        """Of a time of day, by the chunk that was written then."""
        return ns - max((zero for zero in self.zeros if zero[0] <= written), default=self.zeros[0])[1]


def check_spans(weft, path):
    scopes, names, clock = collections.defaultdict(list), {}, JvmClock(path)
    events = lines(weft, path)
    for event in events:
        if event["eventType"] == "io.opentelemetry.context.Scope":
            start = nanoseconds(event)
            start = clock.at(start, start + event["durationNs"])
            scopes[event["threadId"]].append((start, -start - event["durationNs"], event["spanId"]))
        elif event["eventType"] == "io.opentelemetry.trace.Span":
            names[event["spanId"]] = event["fields"]["operationName"]
    n = collections.Counter()
    for event in events:
        if event["profileType"] in ("cpu", "alloc") and "stackFrames" in event:
            at = clock.at(nanoseconds(event), nanoseconds(event))
            around = [s for s in scopes[event.get("threadId")] if s[0] <= at < -s[1]]
            span = max(around)[2] if around else None
            n["in one"] += span is not None
            n["right"] += event.get("spanId") == span and event.get("spanName") == names.get(span)
            n["all"] += 1
    claim(n["in one"] > 10 and n["right"] == n["all"],
          f"samples have the span that was current ({n['right']} of {n['all']}; {n['in one']} were in one)")
    summary = json.loads(subprocess.run([weft, "jfr", "--json", path], capture_output=True, check=True).stdout)
    in_spans = collections.Counter()
    for event in events:
        if event["profileType"] == "cpu" and event.get("sampleWeight"):
            in_spans[event.get("spanName", "")] += event["sampleWeight"]
    claim({row["name"]: row["value"] for row in summary["spans"]} == in_spans, "the summary says what each kind of span took")
    stacks = folded(weft, path, "--by", "span_name")
    roots = {stack.split(";")[0] for stack in stacks}
    claim(roots == {"[no span_name]"} | {f"[span_name: {name}]" for name in names.values()}, "and its name is a label of a profile")
    claim(folded(weft, path, "--by", "span_name", is_direct=True) == stacks, "also where weft report reads the recording")


if __name__ == "__main__":
    {"lost": check_lost, "spans": check_spans, "tags": check_tags}[sys.argv[2]](sys.argv[1], sys.argv[3])
