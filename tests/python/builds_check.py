#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
    builds_check.py PROFILE MINOR PATTERN [LABEL]

Of the samples in which builds_program.py's `spin` ran, all but one or 0.5 % have a stack of the pattern, and a label of
that name; threads have their names from when weft looks for them, so 95 %.
Stacks are written root first, "main;~;inner;spin": a word is a Python frame, "~" are native ones between. Before
3.11 every call goes through native code, so "~" is in neither of them there. Prints what there was instead.
"""
import os
import re
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "accuracy"))
import pprof  # noqa: E402
import snakes  # noqa: E402


def text_of(stack, has_native):
    words = []
    for is_python, name in stack:
        word = name if is_python else "~"
        if (word != "~" or has_native) and words[-1:] + [word] != ["~", "~"]:
            words.append(word)
    return ";".join(words)


def main():
    path, minor, pattern = sys.argv[1:4]
    label = sys.argv[4] if len(sys.argv) > 4 else None
    has_native = int(minor.rstrip("t")) >= 11
    pattern = re.compile(pattern if has_native else re.sub(r"~;|;~", "", pattern))
    profile = pprof.read(path)
    at = profile.sample_types.index(("samples", "count"))
    seen, n_right = Counter(), 0
    for sample in profile.samples:
        stack = snakes.stack_of(sample)
        if (True, "spin") not in stack:
            continue
        text = text_of(stack, has_native)
        if label:
            text = "%s: %s" % (sample.labels.get(label, ""), text)
        seen[text] += sample.values[at]
        n_right += sample.values[at] * bool(pattern.search(text))
    n = sum(seen.values())
    print("%d samples, %d right" % (n, n_right))
    for text, count in seen.most_common(5):
        if not pattern.search(text):
            print("# %d %s" % (count, text))
    may_miss = 0.05 * n if label == "thread" else max(1, 0.005 * n)
    return 0 if n >= 50 and n - n_right <= may_miss else 1


if __name__ == "__main__":
    sys.exit(main())
