#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weft jfr --watch wrote of a JVM, beside the lines of the finished file.

	jfr_watch_compare.py same DIR LINES	the same events, each once, with the same content
	jfr_watch_compare.py spans DIR LINES	events have the spans they were in, but for those of long scopes
	jfr_watch_compare.py lag DIR		how long after their end events were there, in seconds; the last is the 99th percentile
"""
import collections
import datetime
import glob
import json
import os
import sys

# The span of a scope is known when that ends, and its name with the span.
LATER = {"traceId", "spanId", "spanName"}


def content(event):
    return json.dumps({k: v for k, v in event.items() if k not in LATER}, sort_keys=True)


def read(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def same(directory, path):
    got = [e for name in glob.glob(directory + "/*.json") for e in read(name)]
    want = [e for e in read(path) if e["profileType"] != "span"]
    ids, wanted = collections.Counter(e["recordId"] for e in got), collections.Counter(e["recordId"] for e in want)
    different = collections.Counter(map(content, got)) - collections.Counter(map(content, want))
    print("# %d events followed, %d in the file" % (len(got), len(want)))
    print("# twice %d, missing %d, invented %d, different %d" %
          (sum(n > 1 for n in ids.values()), sum((wanted - ids).values()), sum((ids - wanted).values()), sum(different.values())))
    for text in list(different)[:5]:
        print("# " + text[:300])
    return ids != wanted or bool(different) or not want


def spans(directory, path):
    whole = read(path)
    lengths = {e["spanId"]: e["durationNs"] / 1e9 for e in whole if e["eventType"].endswith(".Scope")}
    got = {e["recordId"]: e.get("spanId") for name in glob.glob(directory + "/*.json") for e in read(name)}
    inside = [e for e in whole if "spanId" in e and e["recordId"] in got]
    without = [e for e in inside if got[e["recordId"]] != e["spanId"]]
    short = [e for e in without if lengths[e["spanId"]] < 0.2]
    print("%d events in %d scopes, the longest %.2f s: %d without their span, %d of these in scopes shorter than 0.2 s" %
          (len(inside), len(lengths), max(lengths.values()), len(without), len(short)))
    return not inside or len(without) * 100 > len(inside)


def lag(directory):
    lags = []
    for name in glob.glob(directory + "/*.json"):
        there = os.stat(name).st_mtime
        for e in read(name):
            begin = datetime.datetime.strptime(e["timestamp"][:26], "%Y-%m-%dT%H:%M:%S.%f")
            begin = begin.replace(tzinfo=datetime.timezone.utc).timestamp()
            lags.append(there - begin - e.get("durationNs", 0) / 1e9)
    lags.sort()
    print("lag of %d events: median %.2f s, most %.2f s, 99 %% within %.2f" %
          (len(lags), lags[len(lags) // 2], lags[-1], lags[len(lags) * 99 // 100]))
    return False


sys.exit({"same": same, "spans": spans, "lag": lag}[sys.argv[1]](*sys.argv[2:]))
