#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
make accuracy: runs programs whose stacks are known under weft and perf and counts how many samples are
complete (reach the root) and exact (the whole stack is a legal one). The truth comes from the programs.

A cell that cannot be measured here, too few samples for its claim, or too large a share of samples that
no legal stack covers (start, loader, measuring), is a failure. perf is shown for
the cells that QUICK takes: a few in each group.

QUICK=1 takes a subset with few samples, leaves perf out, skips what cannot be measured, and repeats a cell
that missed once, as it runs on machines that do other things meanwhile: the better run counts, both are shown.
TOOLS="weft fp dwarf" chooses the tools, CELLS=text only the cells with that text in their name or group,
CPU_SECONDS=n the CPU time of each; V=1 shows the stacks that missed, OUTSIDE=1 also those outside.
"""
import os
import shutil
import sys
import tempfile
import time
from collections import Counter, namedtuple

import build
import real
import tools
from bound import expected_overlap, overlap, wilson
from cells import CELLS
from truth import is_complete, judge, read_truth

QUICK = bool(os.environ.get("QUICK"))
TOOLS = os.environ.get("TOOLS", "weft" if QUICK else "weft fp dwarf").split()
OUT = os.environ.get("ACCURACY_OUT", "build/accuracy")
CLAIM = 3000	# samples that a cell must have, so that it may claim 99.9 %
SECONDS = "3.2"
VERDICTS = ("exact", "unknown", "gap", "cut", "wrong", "outside")
SHOWN_AS_GOOD = ("exact",) if os.environ.get("OUTSIDE") else ("exact", "outside")

Score = namedtuple("Score", "n counts complete overlap expected seen missed")


def seconds_for(tool):
    if "CPU_SECONDS" in os.environ:
        return os.environ["CPU_SECONDS"]
    if QUICK or tool != "weft":
        return "1.0"
    return SECONDS


def score(output, stacks):
    legals = read_truth(output)
    counts, found, missed, complete = Counter(), Counter(), Counter(), 0
    for stack, n in stacks.items():
        if stack.kernel_only:
            counts["kernel"] += n
            continue
        verdict, legal = judge(stack, legals)
        is_whole = is_complete(stack, verdict)
        counts[verdict] += n
        complete += n * is_whole
        if verdict == "exact" and legal.seconds > 0:
            found[legal.text] += n
        elif verdict not in SHOWN_AS_GOOD or not is_whole:
            missed[verdict, stack] += n
    true = {l.text: l.seconds for l in legals if l.seconds > 0}
    n = sum(counts[v] for v in VERDICTS)
    return Score(n, counts, complete, overlap(found, true), expected_overlap(true, max(n, 1)),
                 rate(n, sum(true.values()) * tools.FREQUENCY), missed)


def record(tool, program, work):
    if tool == "weft":
        return tools.weft_record(program, work)
    return tools.perf_record(tool, program, work)


def build_cell(cell):
    out = os.path.abspath(os.path.join(OUT, "".join(c if c.isalnum() else "_" for c in cell.group + " " + cell.name)))
    if not build.is_fresh(out, cell.sources):
        cell.recipe(out, cell.sources, cell.flags)
    return out


def run_cell(cell, work):
    program = build_cell(cell)
    scores = {}
    for tool in (t for t in TOOLS if t == "weft" or cell.quick):
        arguments = [program, seconds_for(tool), *(cell.arguments(program) if cell.arguments else [])]
        try:
            output, stacks = record(tool, arguments, work)
        except tools.ToolFailed as failed:
            print("  %s: %s" % (tool, str(failed).replace("\n", " ")), flush=True)
            continue
        tools.forget_maps(stacks)
        scores[tool] = score(output, stacks)
    return scores


def rate(part, whole):
    return 100 * part / whole if whole else 0.0


def exact_rate(s):
    return rate(s.counts["exact"], s.n - s.counts["outside"])


def is_missed(cell, s):
    """Against its goals; in QUICK, with few samples, only what is surely below them."""
    inside = s.n - s.counts["outside"]
    if QUICK:
        return (wilson(s.complete, s.n)[1] < cell.complete or wilson(s.counts["exact"], inside)[1] < cell.exact
                or wilson(s.counts["wrong"], inside)[0] > cell.wrong or wilson(s.counts["outside"], s.n)[0] > cell.outside)
    return (s.n < CLAIM or rate(s.complete, s.n) < cell.complete or rate(s.counts["exact"], inside) < cell.exact
            or rate(s.counts["wrong"], inside) > cell.wrong or rate(s.counts["outside"], s.n) > cell.outside)


def beside(scores, tool):
    if tool not in scores:
        return "     -      -"
    return "%6.1f %6.1f" % (rate(scores[tool].complete, scores[tool].n), exact_rate(scores[tool]))


def print_row(cell, scores):
    row = "%-14s %-25s " % (cell.group, cell.name)
    verdict = ""
    if "weft" in scores:
        s = scores["weft"]
        inside = s.n - s.counts["outside"]
        verdict = "MISS" if is_missed(cell, s) else "ok"
        row += "%6d %7.2f %7.2f %7.2f %5d %4d %4d %4d %4d %5.0f %6.1f%s" % (
            s.n, rate(s.complete, s.n), exact_rate(s), wilson(s.counts["exact"], inside)[0], s.counts["wrong"],
            s.counts["unknown"], s.counts["gap"], s.counts["cut"], s.counts["outside"], s.seen,
            s.overlap, " " if s.overlap >= s.expected else "!")
    print("%s  %s  %s  %s" % (row, beside(scores, "fp"), beside(scores, "dwarf"), verdict), flush=True)
    shown = 3 if verdict == "MISS" else 0
    for tool, s in scores.items():
        print_missed(tool, s, shown if tool == "weft" else 0)


def print_missed(tool, s, shown):
    for (kind, stack), n in s.missed.most_common(8 if os.environ.get("V") else shown):
        print("    %-5s %5d %-7s %s%s" % (tool, n, kind, stack.mark, ";".join(shorten(stack.frames))))


def shorten(frames):
    names = [f.name or "?%s" % f.file for f in frames]
    return names if len(names) < 24 else names[:8] + ["... %d more ..." % (len(names) - 20)] + names[-12:]


def print_head():
    print("%-14s %-25s %6s %7s %7s %7s %5s %4s %4s %4s %4s %5s %7s  %13s  %13s" % (
        "", "weft:", "n", "compl%", "exact%", "bound", "wrong", "unk", "gap", "cut", "out", "seen%", "overlap",
        "perf fp", "perf dwarf"))


def print_worst(results):
    for tool in TOOLS:
        per_group = {}
        for cell, scores in results:
            # A program without names shows how complete its stacks are, not which they are.
            if tool in scores and cell.exact:
                per_group.setdefault(cell.group, []).append((exact_rate(scores[tool]), cell.name))
        if per_group:
            value, group, name = min((min(v)[0], g, min(v)[1]) for g, v in per_group.items())
            print("worst_exact_%s %.2f %% (%s, %s)" % (tool, value, group, name))


def measure_cell(cell, work):
    """(scores, whether weft missed the goal)"""
    for attempt in range(2 if QUICK else 1):
        scores = run_cell(cell, work)
        print_row(cell, scores)
        missed = "weft" in TOOLS and ("weft" not in scores or is_missed(cell, scores["weft"]))
        if not missed:
            break
        if QUICK and not attempt:
            print("    missed, so once more: the better of both counts")
    return scores, missed


def skip_reason(cell):
    for recipe, needed in ((build.compile_musl, "musl-gcc"), (build.compile_rust, "rustc"), (build.compile_clang, "clang")):
        if cell.recipe is recipe and not shutil.which(needed):
            return needed + " is not installed"
    return None


def main():
    started = time.monotonic()
    wanted = os.environ.get("CELLS", "")
    cells = [c for c in CELLS if wanted in c.group + " " + c.name and (c.quick or not QUICK)]
    os.makedirs(OUT, exist_ok=True)
    if os.environ.get("BUILD_ONLY"):	# as a user, before root samples
        for cell in cells:
            if not skip_reason(cell):
                build_cell(cell)
        return 0
    results, missed = [], 0
    if not shutil.which("perf"):
        TOOLS[:] = [t for t in TOOLS if t == "weft"]
        missed += not QUICK
        print("perf is not installed: nothing to show beside weft")
    print_head()
    with tempfile.TemporaryDirectory(prefix="weft-accuracy.") as work:
        for cell in cells:
            reason = skip_reason(cell)
            if reason:
                print("%-14s %-25s %s: %s" % (cell.group, cell.name, "skipped" if QUICK else "MISS", reason))
                missed += not QUICK
                continue
            scores, is_missing = measure_cell(cell, work)
            results.append((cell, scores))
            missed += is_missing
        if not QUICK and not wanted:
            missed += real.measure(TOOLS, work)
    print_worst(results)
    print_claims(results)
    print("%d cells measured, %d failures" % (len(results), missed))
    print("accuracy took %.0f s" % (time.monotonic() - started))
    return 1 if missed else 0


def print_claims(results):
    n = [s["weft"].n for _, s in results if "weft" in s]
    if n and not QUICK:
        print("fewest_samples_weft %d" % min(n))
        print("worst_outside_weft %.2f %%" % max(rate(s["weft"].counts["outside"], s["weft"].n) for _, s in results if "weft" in s))


if __name__ == "__main__":
    sys.exit(main())
