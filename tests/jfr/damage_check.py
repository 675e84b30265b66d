#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What weft makes of damaged files, held against what it makes of the good one.

    damage_check.py WEFT KIND FILE [N [SEED]]	KIND: cuts, events, constants, headers, files or chunks

Prints a line for each claim: 0 or 1, which is a failure, and the claim. Nothing may come out that the good file does not
have; of what must come out, an event is resolved when its line is the good file's line to the letter.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile
import time

import chunks as jfr
import damage

TIMEOUT_S = 30
SEED = 20261121
HEAD = re.compile(r'\{"eventType":"([^"]*)","timestamp":"([^"]*)"')
RECORD_ID = re.compile(r',"recordId":"[^"]*"\}$')	# where the event was, which garbage before it changes

# lines: (type, time, the whole line)
Output = collections.namedtuple("Output", "status said lines")
Line = collections.namedtuple("Line", "type time text")


def run(weft, path):
    """weft jfr PATH into lines."""
    out = path + ".json"
    try:
        done = subprocess.run([weft, "jfr", path, "-o", out], capture_output=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return Output(-1, "not done after %d s" % TIMEOUT_S, [])
    lines = []
    if os.path.exists(out):
        with open(out, encoding="utf-8") as f:
            lines = [Line(*HEAD.match(line).groups(), RECORD_ID.sub("", line.rstrip("\n"))) for line in f]
        os.unlink(out)
    return Output(done.returncode, (done.stderr + done.stdout).decode("utf-8", "replace"), lines)


def bare(line):
    """What must be right even when nothing of the line can be resolved."""
    return line.type, line.time


class Check:
    """Claims on one good file."""

    def __init__(self, weft, path, folder):
        self.weft, self.folder = weft, folder
        self.good = damage.Good(path)
        output = run(weft, self.copy(self.good.data))
        if output.status:
            raise SystemExit("1 the good file ends with %d: %s" % (output.status, output.said[-300:]))
        self.wholes = collections.Counter(output.lines)
        self.bares = collections.Counter(map(bare, output.lines))
        per_type = collections.Counter(line.type for line in output.lines)
        events = {name: n for name, (n, _) in jfr.count(self.good.chunks).items()}
        self.types = {name for name, n in per_type.items() if events.get(name) == n}	# a line each
        self.stack_types = {line.type for line in output.lines if '"stackFrames"' in line.text} & self.types

    def copy(self, data):
        path = os.path.join(self.folder, "x.jfr")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def wanted(self, predicate, types=None):
        return {name: n for name, (n, _) in jfr.count(self.good.chunks, predicate).items() if name in (types or self.types)}

    def faults(self, case):
        """What is wrong, in words."""
        output = run(self.weft, self.copy(case.data))
        if output.status not in case.statuses and not (output.status == 1 and not any(self.wanted(case.is_kept).values())):
            yield "exit %d: %s" % (output.status, output.said[-200:])
        if not re.search(case.says, output.said):
            yield "does not say %s: %s" % (case.says, output.said[-200:])
        got = collections.Counter(line.type for line in output.lines)
        resolved = collections.Counter()
        for line, n in (collections.Counter(output.lines) & self.wholes).items():
            resolved[line.type] += n
        for what, have, predicate, types in (("", got, case.is_kept, self.types), (" resolved", resolved, case.is_resolved, self.stack_types)):
            want = self.wanted(predicate, types)
            # Small numbers add up: one of ten thousand is not one percent of three.
            if sum(min(have[name], n) for name, n in want.items()) < case.share * sum(want.values()):
                worst = max(want, key=lambda name, w=want, h=have: w[name] - h[name])
                yield "%d of %d events%s, %s %d of %d" % (sum(min(have[t], n) for t, n in want.items()), sum(want.values()), what,
                                                          worst, have[worst], want[worst])
        if not case.is_time_wrong:
            invented = collections.Counter(map(bare, output.lines)) - self.bares
            n_damaged = 0 if case.is_kept is damage.everything else 1
            if sum(invented.values()) > n_damaged:
                yield "%d lines that the good file does not have, as %s" % (sum(invented.values()), next(iter(invented)))

    def claims(self, cases):
        for case in cases:
            faults = list(self.faults(case))
            print("%d %s%s" % (bool(faults), case.name, ": " + "; ".join(faults).replace("\n", " ") if faults else ""), flush=True)

    def claim_all(self, text, cases):
        """One claim for many files of a kind."""
        n, bad = 0, []
        for case in cases:
            n += 1
            faults = list(self.faults(case))
            if faults:
                bad.append("%s: %s" % (case.name, "; ".join(faults).replace("\n", " ")))
        for line in bad[:10]:
            print("# " + line)
        print("%d %s: %d of %d files" % (bool(bad), text, n - len(bad), n), flush=True)


def main():
    weft, kind, path = sys.argv[1:4]
    n = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    seed = int(sys.argv[5]) if len(sys.argv) > 5 else SEED
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="weft-damage.") as folder:
        check = Check(weft, path, folder)
        if kind == "cuts":
            check.claim_all("a file cut anywhere gives 99 %% of what is before the cut (seed %d)" % seed, damage.cuts(check.good, n, seed))
        elif kind == "events":
            check.claim_all("one damaged event costs itself and what cannot be reached (seed %d)" % seed,
                            damage.damaged_events(check.good, n, seed))
        elif kind == "constants":
            check.claim_all("damaged constants cost no event (seed %d)" % seed, damage.damaged_constants(check.good, n, seed))
        else:
            makers = {"headers": damage.headers, "files": damage.files, "chunks": damage.several_chunks}
            check.claims(makers[kind](check.good))
    print("# %s took %.0f s" % (kind, time.monotonic() - began))


if __name__ == "__main__":
    main()
