#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that appear, grow, are renamed and deleted while weft jfr --watch is killed again and again.

	jfr_watch_files.py WEFT RECORDING N_FILES N_KILLS dir|stdout

One recording of HotSpot is all files: each begins when it is written, and grows from flush to flush as it did when it
was recorded (every flush left a copy of its header). At the end every event has to be there, by its recordId:
once in a directory, at least once on stdout; what is missing has to be of a file that was deleted before it was
read, and to be counted in the ledger, unless no weft ever ran while that file was there.
"""
import collections
import json
import os
import random
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import time

EVENTS = "compile,exception,lock"
HEAD = 68
START = 32  # of the start time in a header
STATE = 64
N_DIRS = 7
ID = re.compile(b'"recordId":"([0-9a-f]+)"')


class Original:
    """The recording, and its header as it was after each flush."""

    def __init__(self, weft, path, n_flushes=3):
        data = open(path, "rb").read()
        flushes, at = [], data.find(b"FLR\0", 1)
        while at >= 0 and len(flushes) < n_flushes:
            size = struct.unpack_from(">Q", data, at + 8)[0]
            if data[at - 1] == HEAD and size == at + HEAD:
                flushes.append(data[at:at + HEAD])
            at = data.find(b"FLR\0", at + 1)
        # The last of them as its JVM would have left it then.
        final = bytearray(flushes[-1])
        final[STATE] = 0
        self.stages = flushes[:-1] + [bytes(final)]
        self.size = struct.unpack_from(">Q", final, 8)[0]
        self.body = data[HEAD:self.size]
        self.start_ns, self.start_ticks = struct.unpack_from(">Q", data, START)[0], struct.unpack_from(">Q", data, 48)[0]
        self.offsets = self.events(weft)

    def header(self, stage, start_ns):
        h = bytearray(self.stages[stage])
        struct.pack_into(">Q", h, START, start_ns)
        return bytes(h)

    def events(self, weft):
        """Offsets of what is exported of it, by weft without --watch."""
        path = "original.jfr"
        with open(path, "wb") as f:
            f.write(self.header(len(self.stages) - 1, self.start_ns) + self.body)
        out = subprocess.run([weft, "jfr", path, "--events", EVENTS, "-o", "-", "--format", "json"],
                             check=True, capture_output=True).stdout
        os.unlink(path)
        prefix = len("%016x%016x" % (self.start_ns, self.start_ticks))
        return [int(json.loads(line)["recordId"][prefix:], 16) for line in out.splitlines()]

    def record_id(self, start_ns, offset):
        return "%016x%016x%x" % (start_ns, self.start_ticks, offset)


class File:
    """One that a JVM writes, a step at a time: empty, a header, flush by flush, renamed, deleted."""

    def __init__(self, original, number):
        self.original, self.number, self.start_ns = original, number, 0
        self.path = "in/%d/%d.jfr" % (number % N_DIRS, number)
        self.stage = -2
        self.age = self.rounds = 0
        self.is_seen = self.is_deleted = False

    def look(self, rounds):
        """Weft has had so many rounds in all: was there a whole one since the file has a header?"""
        if not self.is_deleted and self.stage >= 0:
            self.is_seen |= rounds - self.rounds > 2

    def step(self, rounds):
        self.look(rounds)
        o, last = self.original, len(self.original.stages) - 1
        if self.is_deleted:
            return
        if self.stage < last:
            self.stage += 1
            self.write(o)
            self.rounds = rounds if self.stage == 0 else self.rounds
        elif self.age == 1 and self.number % 3 == 0:
            path = self.path.replace(".jfr", "-done")
            os.rename(self.path, path)
            self.path = path
        elif self.age == 2 and self.number % 4 == 0:
            os.unlink(self.path)
            self.is_deleted = True
        self.age += self.stage == last

    def write(self, o):
        with open(self.path, "r+b" if self.stage >= 0 else "wb") as f:
            if self.stage < 0:
                return
            if not self.start_ns:
                # As if it were recorded now: so some of its events wait for the end of the scopes they are in.
                self.start_ns = time.time_ns() + self.number
            size = struct.unpack_from(">Q", o.stages[self.stage], 8)[0]
            # First the bytes, and some of the next flush, then the header that commits them.
            f.seek(HEAD)
            f.write(o.body[:min(size + 1000, o.size) - HEAD])
            f.flush()
            f.seek(0)
            f.write(o.header(self.stage, self.start_ns))


class Weft:
    def __init__(self, weft, is_stdout):
        self.out = open("out.json", "ab") if is_stdout else None
        self.err = open("weft.err", "ab")
        self.args = [weft, "jfr", "in", "--watch", "--ledger", "ledger", "--events", EVENTS,
                     "--rotate-age", "100ms", "--metrics", "100ms", "-o", "-" if is_stdout else "out"]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.args, stdout=self.out, stderr=self.err)

    def rounds(self):
        """It says something after a round."""
        return open("weft.err", "rb").read().count(b" sources=")

    def await_round(self):
        before, try_s = self.rounds(), time.monotonic()
        while self.rounds() == before and time.monotonic() - try_s < 10:
            time.sleep(0.02)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.out:
            self.out.write(b"\n")  # what was torn is a line of its own
            self.out.flush()

    def finish(self, files):
        """Until nothing is held any more."""
        try_s, quiet = time.monotonic(), 0
        while quiet < 3 and time.monotonic() - try_s < 120:
            self.await_round()
            last = open("weft.err", "rb").read().rpartition(b" growing=")[2]
            quiet = quiet + 1 if last.startswith(b"0 ") else 0
        self.process.terminate()
        return self.process.wait()


LATER = {"traceId", "spanId"}  # of a scope that ends later


def content(line):
    event = json.loads(line)
    return event["recordId"], json.dumps({k: v for k, v in event.items() if k not in LATER}, sort_keys=True)


def compare(weft, files):
    """Events of files that were read piece by piece by many wefts, beside those of one that read the whole."""
    got, n_different = {}, 0
    starts = {f.original.record_id(f.start_ns, 0)[:32].encode() for f in files}
    for line in lines_of(False):
        record_id = ID.search(line)
        if record_id and record_id[1][:32] in starts:
            got.update([content(line)])
    for f in files:
        out = subprocess.run([weft, "jfr", f.path, "--events", EVENTS, "-o", "-", "--format", "json"],
                             check=True, capture_output=True).stdout
        n_different += sum(got.get(i, text) != text for i, text in map(content, out.splitlines()))
    return n_different


def lines_of(is_stdout):
    for name in ["out.json"] if is_stdout else ["out/" + n for n in os.listdir("out")]:
        yield from open(name, "rb")


def read_ids(is_stdout):
    """How often each is there; only on stdout a line may be torn."""
    ids = collections.Counter()
    for line in lines_of(is_stdout):
        record_id = ID.search(line)
        if line.startswith(b"{") and line.endswith(b"}\n") and record_id:
            ids[record_id[1].decode()] += 1
        elif not is_stdout:
            raise ValueError(line[:200])
    return ids


def check(original, files, is_stdout):
    ids = read_ids(is_stdout)
    db = sqlite3.connect("ledger")
    lost_paths = {os.fsdecode(p) for p, in db.execute("SELECT path FROM source WHERE offset < size AND state != 0")}
    lost = dict((r, b) for r, n, b in db.execute("SELECT reason, n, bytes FROM lost"))
    problems = collections.Counter()
    n_lost = n_unseen = 0
    lost_numbers = {os.path.basename(path).split("-")[0].split(".")[0] for path in lost_paths}
    for f in files:
        for offset in original.offsets:
            n = ids.pop(original.record_id(f.start_ns, offset), 0)
            if n > 1 and not is_stdout:
                problems["twice"] += 1
            if n:
                continue
            if not f.is_deleted:
                problems["missing"] += 1
            elif str(f.number) in lost_numbers and lost:
                n_lost += 1
            elif not f.is_seen:
                n_unseen += 1
            else:
                problems["lost without a word"] += 1
    problems["invented"] += len(ids)
    problems += collections.Counter()
    print("# %d files of %d events, %d lost and counted (%s), %d of files that no weft saw" %
          (len(files), len(original.offsets), n_lost, lost, n_unseen))
    return problems


def main():
    weft, path, n_files, n_kills, kind = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    is_stdout = kind == "stdout"
    random.seed(5)
    for i in range(N_DIRS):
        os.makedirs("in/%d" % i)
    os.makedirs("out", exist_ok=True)
    original = Original(weft, path)
    files = [File(original, i) for i in range(n_files)]
    run = Weft(weft, is_stdout)
    per_round = n_files // (n_kills * 3 // 4) + 1
    for kill in range(n_kills):
        run.start()
        active = files[:per_round * (kill + 1)]
        if kill % 4:
            run.await_round()  # else it is killed while it begins
        for _ in range(3):
            rounds = run.rounds()
            for f in active:
                f.step(rounds)
            time.sleep(random.uniform(0.02, 0.3))
        run.kill()
        rounds = run.rounds()
        for f in active:
            f.look(rounds)
            if kill % 2:
                f.step(rounds)  # while nobody watches
    run.start()
    for f in files:
        while f.stage < len(original.stages) - 1:
            f.step(run.rounds())
    status = run.finish(files)
    problems = check(original, files, is_stdout)
    if not is_stdout:
        problems["different"] += compare(weft, [f for f in files if not f.is_deleted][:40])
        problems += collections.Counter()
    if status:
        problems["exit status %d" % status] += 1
    for what, n in problems.items():
        print("# %s: %d" % (what, n))
    return 1 if problems else 0


sys.exit(main())
