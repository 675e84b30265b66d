#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs gil_program.py with an interpreter and compares what `weft record -e gil` says with what the threads had.

    gil_check.py WEFT PYTHON contend|calm|endless|everything|own    exit 0: it is the same; the last line has the figures"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "gil_program.py")
SECONDS = 3
TOLERANCE = 0.04


class Recording:
    def __init__(self, weft, target, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "gil.json")
            result = subprocess.run([weft, "record", "-e", "gil", "-F", "499", "-v", "--stats", "-o", path,
                                     *options, *target], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.said, self.output = result.stderr.decode(), result.stdout.decode()
            if result.returncode:
                sys.exit("weft record exits with %d: %s" % (result.returncode, self.said))
            with open(path) as f:
                self.events = [json.loads(line) for line in f]
        self.seconds = sum(e["durationNs"] for e in self.events) / 1e9
        self.is_whole = True

    def keep(self, pid):
        """Of a recording of everything only this process."""
        self.is_whole = all(e["pid"] == pid for e in self.events)
        self.events = [e for e in self.events if e["pid"] == pid]
        self.seconds = sum(e["durationNs"] for e in self.events) / 1e9

    def counter(self, name):
        found = re.search(r"^  %s +(\d+)" % re.escape(name), self.said, re.M)
        return int(found.group(1)) if found else 0

    def faults(self):
        """What is wrong with it by itself."""
        ends = sum(self.counter("ticks." + name) for name in
                   ("sampled", "skipped", "idle", "filtered", "unsupported", "lost_ring", "lost_busy",
                    "lost_error"))
        if self.counter("gil.waits") != ends + self.counter("gil.unfinished"):
            yield "%d waits, of which %d ended and %d did not" % (self.counter("gil.waits"), ends,
                                                                  self.counter("gil.unfinished"))
        exact = self.counter("gil.ns") / 1e9 if self.is_whole else self.seconds
        if self.events and abs(self.seconds - exact) > 1e-6:
            yield "samples say %.3f s, the kernel half counted %.3f s" % (self.seconds, exact)
        # A kernel may have switches that it shows nobody: some virtual machines' do.
        if self.counter("gil.unfinished") > 16 + 0.02 * self.counter("gil.waits"):
            yield "%d waits without an end" % self.counter("gil.unfinished")
        if any(e["profileType"] != "gil_wait" for e in self.events):
            yield "another profile type than gil_wait"
        if any(e.get("labels", {}).get("gil", "waiting") != "waiting" for e in self.events):
            yield "another label than gil=waiting"


def python_frames(event):
    return [f["function"].rpartition(".")[2] for f in event["stackFrames"] if f["type"] == "cpython"]


def is_right(event, name):
    """The thread's own functions, innermost first, with native code between them where it is, and above them."""
    names = python_frames(event)
    want = ["spin_" + name, "work_" + name]
    if name == "d":
        want.insert(1, "<lambda>")
    if names[:len(want)] != want:
        return False
    at = [i for i, f in enumerate(event["stackFrames"]) if f["type"] == "cpython"]
    return at[0] > 0 and (name == "a" or at[len(want) - 1] - at[0] >= len(want))


def was_behind(event):
    """Where weft had no CPU to learn how a file is walked; it says so, so that is no wrong stack."""
    return any(f["function"].startswith("[broken: user space was behind") for f in event["stackFrames"])


def has_begun(event):
    """Threads begin one after the other, and wait for each other then; what they have to do comes after that. A stack that
    broke off before its first Python frame does not say."""
    names = python_frames(event)
    return any(f.startswith(("work_", "spin_")) for f in names) or (was_behind(event) and not names)


def compare(r, threads):
    """Yields what is not as the threads say."""
    waited = sum(t["wall"] - t["cpu"] for t in threads)
    blocked = waited - sum(t["delay"] for t in threads)
    right = own = behind = 0
    known = sum(e["durationNs"] for e in r.events if python_frames(e) or was_behind(e)) / 1e9
    for t in threads:
        # Its own clock says nothing of what it waited before it began.
        mine = [e for e in r.events if e.get("tid") == t["tid"] and has_begun(e)]
        said = sum(e["durationNs"] for e in mine) / 1e9
        wait = t["wall"] - t["cpu"]
        if not (wait - t["delay"]) * (1 - 3 * TOLERANCE) <= said <= wait * (1 + 3 * TOLERANCE):
            yield "thread %s: %.3f s instead of %.3f s" % (t["name"], said, wait)
        right += sum(e["durationNs"] for e in mine if is_right(e, t["name"])) / 1e9
        own += said
        behind += sum(e["durationNs"] for e in mine if was_behind(e)) / 1e9
    if not blocked * (1 - TOLERANCE) <= own <= waited * (1 + TOLERANCE):
        yield "%.3f s instead of %.3f to %.3f s" % (own, blocked, waited)
    if right < 0.995 * (own - behind) or behind > own / 2:
        yield "%.3f s of %.3f s have the right stack" % (right, own)
    # How long a thread waits before it begins is luck: a GIL is not fair.
    if known < 0.99 * r.seconds or own < 0.7 * r.seconds:
        yield "%.3f s of %.3f s are of these threads, %.3f s have Python frames" % (own, r.seconds, known)
    print("%.3f to %.3f s by the threads' clocks, %.3f s said, %.3f s of it with the right stack" %
          (blocked, waited, own, right))


def check(weft, python, kind):
    if kind in ("endless", "everything"):
        program = subprocess.Popen([python, PROGRAM, "endless"], stdout=subprocess.PIPE)
        program.stdout.readline()
        target = ["-p", str(program.pid)] if kind == "endless" else ["-a"]
        r = Recording(weft, target, "-d", str(SECONDS))
        r.keep(program.pid)
        program.kill()
        program.wait()
        # Of four threads that compute three wait, all the time. Waits that had begun before, and those
        # that do not end within the recording, are not in it: long ones on a machine with other work.
        print("%.3f s in %d s" % (r.seconds, SECONDS))
        if not 0.8 < r.seconds / SECONDS / 3 < 1 + 2 * TOLERANCE:
            yield "%.3f s instead of %.3f s" % (r.seconds, 3 * SECONDS)
        right = sum(e["durationNs"] for e in r.events
                    if was_behind(e) or any(is_right(e, name) for name in "abcd")) / 1e9
        if right < 0.99 * r.seconds:
            yield "%.3f s of %.3f s have the right stack" % (right, r.seconds)
    else:
        r = Recording(weft, ["--", python, PROGRAM, kind, str(SECONDS)])
        if kind == "calm":
            print("%.3f s" % r.seconds)
            # Of six threads; those that are kept off a CPU while they hold the GIL make others wait for it.
            if r.seconds > 0.03 * 6 * SECONDS:
                yield "%.3f s of waiting where nobody waits" % r.seconds
        else:
            yield from compare(r, json.loads(r.output.strip().splitlines()[-1]))
    yield from r.faults()


def main():
    weft, python, kind = sys.argv[1:]
    faults = list(check(weft, python, kind))
    for fault in faults:
        print("# " + fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
