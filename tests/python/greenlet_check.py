#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples greenlet_program.py with an interpreter: every stack is one of the program's, begins where its greenlet
does, and is whole.

    greenlet_check.py WEFT PYTHON"""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accuracy"))
import greenlet_program  # noqa: E402
import pprof  # noqa: E402
import snakes  # noqa: E402

PROGRAM = os.path.join(HERE, "greenlet_program.py")
BOTTOM = re.compile(r"greenlet::UserGreenlet::(inner_bootstrap|g_initialstub)\(|g_initialstub$")


def pattern_of(text):
    """Of a whole stack in which Python frames are P and their name, and native ones N: code of C that calls back is
    more than what the interpreter itself needs for a call before 3.11."""
    words = ["(?:N )+" if word == "~" else "P%s (?:N )*" % re.escape(word) for word in text.split(";")]
    return re.compile("(?:N )+" + "".join(words))


def text_of(stack):
    return "".join("P%s " % name.rpartition(".")[2] if is_python else "N " for is_python, name in stack)


def verdict(stack):
    text = text_of(stack)
    names = [name for is_python, name in stack if is_python]
    if "spin" not in names:
        return "elsewhere"
    if any(name.startswith("[") for _, name in stack):
        return "not whole"
    is_other = bool({"first", "second"} & set(names))
    if is_other != bool(BOTTOM.match(stack[0][1])):
        return "with another beginning"
    # Where the sort is, is where it calls back.
    at = [i for i, frame in enumerate(stack) if frame == (False, "list_sort_impl") or frame[1] == "list_sort"]
    if "first" in names and at and not stack.index((True, "first")) < at[0] < stack.index((True, "key")):
        return "in another order"
    return "right" if any(p.fullmatch(text) for p in map(pattern_of, greenlet_program.STACKS)) else "wrong"


def main():
    weft, python = sys.argv[1:3]
    seen, odd = Counter(), Counter()
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "weft.pb.gz")
        subprocess.run([weft, "record", "-q", "-F", "499", "-o", path, "--", python, PROGRAM, "1.5"], check=True)
        profile = pprof.read(path)
    at = profile.sample_types.index(("samples", "count"))
    for sample in profile.samples:
        stack = snakes.stack_of(sample)
        what = verdict(stack)
        seen[what] += sample.values[at]
        if what not in ("right", "elsewhere"):
            odd[what, ";".join(name for _, name in stack)] += sample.values[at]
    for (what, text), n in odd.most_common(3):
        print("# %d %s: %s" % (n, what, text))
    n = sum(seen.values()) - seen["elsewhere"]
    print("%d of %d stacks of greenlets are right" % (seen["right"], n))
    return 0 if n > 40 and seen["right"] >= 0.995 * n and not seen["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
