#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weft jfr --watch wrote of a JVM, beside the lines of the finished file.

	jfr_watch_compare.py same DIR LINES	the same events, each once, with the same content
	jfr_watch_compare.py spans DIR LINES RECORDING	events have the spans they were in: those of scopes that their JVM
						had committed by the time at which they were to be there
	jfr_watch_compare.py lag DIR RECORDING	events are there within 2 s of their end, or 0.5 s of when their JVM committed them
"""
import collections
import datetime
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jfr"))
import chunks  # noqa: E402

MS = 10 ** 6

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


def time_ns(event):
    seconds, fraction = event["timestamp"].rstrip("Z").split(".")
    begin = datetime.datetime.strptime(seconds, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    return int(begin.timestamp()) * 10 ** 9 + int(fraction.ljust(9, "0"))


def end_ns(event):
    return time_ns(event) + event.get("durationNs", 0)


class Flushes:
    """When a JVM committed what, as its recording says: a checkpoint of each flush, and the ends of chunks."""

    def __init__(self, path):
        data = open(path, "rb").read()
        self.of_chunk, self.all, self.starts = {}, [], []
        for chunk in chunks.read(data):
            header, flushes = chunk.header, []
            for event in chunk.events:
                if event.type != chunks.CHECKPOINT:
                    continue
                at = event.offset
                head = []
                for _ in range(5):
                    value, at = chunks.varint(data, at)
                    head.append(value)
                if data[at] & 1:
                    ticks = head[2] - header.start_ticks
                    flushes.append((event.offset - chunk.offset, header.start_ns + ticks * 10 ** 9 // header.ticks_per_s))
            flushes.append((header.size, header.start_ns + header.duration_ns))
            self.of_chunk[header.start_ns] = len(self.all)
            self.all.append(flushes)
            self.starts.append(header.start_ns)

    def of(self, record_id):
        """(chunk, flush) by their numbers: what committed an event."""
        chunk, offset = self.of_chunk[int(record_id[:16], 16)], int(record_id[32:], 16)
        return chunk, next(i for i, flush in enumerate(self.all[chunk]) if offset < flush[0])

    def time(self, flush):
        return self.all[flush[0]][flush[1]][1]

    def after(self, flush):
        """The next one, if there is any; at a chunk's end that of the next chunk."""
        chunk, i = flush
        if i + 1 < len(self.all[chunk]):
            return chunk, i + 1
        return (chunk + 1, 0) if chunk + 1 < len(self.all) else None

    def is_short(self, chunk):
        """It may have ended before anybody saw it: what is found finished waits for nothing."""
        return self.all[chunk][-1][1] - self.starts[chunk] < 500 * MS

    def held_to(self, event):
        """The flush with which an event is to come."""
        flush = self.of(event["recordId"])
        while True:
            then = self.after(flush)
            # Events may wait for a flush, about a second later, by which they are not older than 1.5 s; those
            # that are near that age, and flushes that are too late or nearly so, may go either way.
            if not then or self.is_short(flush[0]) or end_ns(event) < self.time(flush) - 400 * MS or \
                    self.time(then) - self.time(flush) > 1400 * MS:
                return flush
            flush = then

    def due(self, event):
        """When it may be expected: what waits may do so until it is 1.5 s old."""
        flush = self.of(event["recordId"])
        while self.after(flush) and self.time(self.after(flush)) < end_ns(event) + 1500 * MS:
            flush = self.after(flush)
        return self.time(flush)


def spans(directory, path, recording):
    flushes = Flushes(recording)
    whole = read(path)
    scopes = {e["spanId"]: e for e in whole if e["eventType"].endswith(".Scope")}
    got = {e["recordId"]: e.get("spanId") for name in glob.glob(directory + "/*.json") for e in read(name)}
    inside = [e for e in whole if "spanId" in e and e["recordId"] in got]
    nameable = set()
    for e in inside:
        if flushes.of(scopes[e["spanId"]]["recordId"]) <= flushes.held_to(e):
            nameable.add(e["recordId"])
    without = [e for e in inside if got[e["recordId"]] != e["spanId"]]
    bad = [e for e in without if e["recordId"] in nameable]
    over = [e for e in inside if flushes.of(e["recordId"])[0] != flushes.of(scopes[e["spanId"]]["recordId"])[0]]
    print("%d events in %d scopes, the longest %.2f s, %d of them in scopes over the end of a chunk: %d without their span" %
          (len(inside), len(scopes), max(e["durationNs"] for e in scopes.values()) / 1e9, len(over), len(without)))
    print("%d are in scopes that ended in time to be known: %d of these are without their span" % (len(nameable), len(bad)))
    for e in bad[:10]:
        print("%s of %s, by the flush of %d: %s" % (e["eventType"], e["timestamp"], flushes.time(flushes.of(e["recordId"])), e["recordId"]))
    return len(nameable) * 10 < len(inside) * 9 or not inside or bool(bad)


def lag(directory, recording):
    """How old events are when they are there, and how much of that their JVM had nothing to do with."""
    flushes = Flushes(recording)
    lags, added = [], []
    for name in glob.glob(directory + "/*.json"):
        there = os.stat(name).st_mtime_ns
        for e in read(name):
            lags.append((there - end_ns(e)) / 1e9)
            added.append((there - flushes.due(e)) / 1e9)
    lags.sort()
    added.sort()
    print("lag of %d events: median %.2f s, most %.2f s, 99 %% within %.2f; behind their JVM's flush: median %.2f s, most %.2f s, 99 %% within %.2f" %
          (len(lags), lags[len(lags) // 2], lags[-1], lags[len(lags) * 99 // 100],
           added[len(added) // 2], added[-1], added[len(added) * 99 // 100]))
    return lags[len(lags) * 99 // 100] > 2 and added[len(added) * 99 // 100] > 0.5


sys.exit({"same": same, "spans": spans, "lag": lag}[sys.argv[1]](*sys.argv[2:]))
