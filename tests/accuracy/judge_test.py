#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judge must see what is wrong: made-up stacks with the verdict they deserve. Prints TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from bound import wilson	# noqa: E402
from snakes import judge_task	# noqa: E402
from stack import Frame, Stack, is_unknown, plain_name	# noqa: E402
from truth import is_complete, judge, legal	# noqa: E402

START = "_start __libc_start_main@libc.so.6"
LEGALS = [legal(text, 1) for text in (
    "main;run;parse;scan", "main;run;down*3;bottom", "main;run;sorts;{libc};compare", "@thread;worker;leaf",
    "^entry;step", "main;run;holder;(one|two)", "main;run;calls(;{plt})?;`pick<int, 3>`")]

STACKS = (
    ("a legal stack is exact", START + " main run parse scan", "exact"),
    ("a missing caller is a gap", START + " main run scan", "gap"),
    ("a missing root is a cut", "run parse scan", "cut"),
    ("a stack the tool calls broken is a cut, even with its root", "[broken] " + START + " main run parse scan", "cut"),
    ("a frame of another leaf is wrong", START + " main run parse bottom", "wrong"),
    ("a name from nowhere is wrong", START + " main run parse scan stranger", "wrong"),
    ("callers in the wrong order are wrong", START + " main parse run scan", "wrong"),
    ("a doubled frame is wrong", START + " main run run parse scan", "wrong"),
    ("an unknown name is unknown", START + " main run ?@prog scan", "unknown"),
    ("the right depth of a recursion is exact", START + " main run down down down bottom", "exact"),
    ("a recursion cut short is a gap", START + " main run down down bottom", "gap"),
    ("too deep a recursion is wrong", START + " main run down down down down bottom", "wrong"),
    ("frames of libc may have any name", START + " main run sorts ?@libc.so.6 qsort@libc.so.6 compare", "exact"),
    ("libc may not be left out", START + " main run sorts compare", "gap"),
    ("a thread has its own root", "clone3@libc.so.6 start_thread@libc.so.6 worker leaf", "exact"),
    ("a thread's root may be nameless in libc", "?@libc.so.6 ?@libc.so.6 worker leaf", "exact"),
    ("a thread does not start at main's root", START + " worker leaf", "gap"),
    ("a stack of its own has no start", "entry step", "exact"),
    ("either of two names", START + " main run holder two", "exact"),
    ("a stub may have no name", START + " main run calls ?@prog pick<int, 3>", "exact"),
    ("the loader is outside", "_start@ld-linux-x86-64.so.2 _dl_start@ld-linux-x86-64.so.2", "outside"),
    ("the harness's own code is outside", START + " main run truth_clock clock_gettime@libc.so.6", "outside"),
    ("a program's leaf under the harness's own code is wrong", START + " main run truth_clock scan", "wrong"),
    ("the C library before main is outside", START, "outside"),
    ("a static program's start is outside", "_start __libc_start_main_impl __libc_init_secure", "outside"),
    ("the tool before it runs the program is outside", "_start __libc_start_main@libc.so.6 main@weft become@weft execve@libc.so.6", "outside"),
    ("the loader at work for the program is outside", START + " main run _dl_runtime_resolve@ld-linux-x86-64.so.2", "outside"),
    ("a stub without a name may end what the harness calls", START + " main run truth_clock ?@prog", "outside"),
    ("frames without names are not the start of the program", "_start ?@prog ?@prog", "unknown"),
    ("names from nowhere are not the start of the program", START + " stranger", "wrong"),
    ("the loader excuses no name from nowhere", START + " main stranger _dl_fixup@ld-linux-x86-64.so.2", "wrong"),
    ("the harness excuses no frame without a name before it", START + " main ?@prog truth_clock", "wrong"),
    ("a stack without a root is not excused by the loader", "run _dl_fixup@ld-linux-x86-64.so.2", "wrong"),
)

OWNERS = {"step_red": ["red"], "spin_red": ["red"], "step_long": ["l" * 300], "conduct": ["conduct"], "nobodys": [""]}
TASKS = (
    ("the task of the innermost function is right", "main conduct step_red spin_red", "red", "right"),
    ("another task is wrong", "main step_red spin_red", "conduct", "wrong"),
    ("the caller's task is wrong below a plain function", "main conduct step_red spin_red", "conduct", "wrong"),
    ("a coroutine that is being made is its caller's", "main conduct step_red", "conduct", "right"),
    ("a task without its label is none", "main step_red spin_red", "", "none"),
    ("a label where nobody's function runs is wrong", "main nobodys", "red", "wrong"),
    ("no label where nobody's function runs is as it should be", "main nobodys", "", "free"),
    ("a long name may be cut", "main step_long", "l" * 200 + "\u2026", "right"),
    ("a long name may not be another", "main step_long", "m" * 200 + "\u2026", "wrong"),
    ("a label between two tasks is open", "main", "red", "open"),
)

NAMES = (
    ("int pipeline<int, 3>(int)", "pipeline<int, 3>"),
    ("calls()::{lambda(int)#1}::operator()(int) const", "calls()::{lambda(int)#1}::operator()"),
    ("shapes::built::operator<(shapes::built const&) const", "shapes::built::operator<"),
    ("(anonymous namespace)::f(char*)", "(anonymous namespace)::f"),
    ("f.part.0", "f"), ("f.constprop.0.isra.1", "f"), ("f(int) [clone .cold]", "f"),
    ("memcpy@@GLIBC_2.14", "memcpy"), ("puts@plt", "puts@plt"),
    ("rusty::go::{{closure}}::h0123456789abcdef", "rusty::go::{closure#0}"),
    ("<rusty::Circle as rusty::Shape>::area", "<rusty::Circle as rusty::Shape>::area"),
    ("guard::~guard()", "guard::~guard"), ("aa_rec (=bb_rec,cc_rec)", "aa_rec"),
)


def frame(text):
    name, _, file = text.partition("@")
    return Frame(None if name == "?" else name.replace("_,_", ", "), file or "prog")


def stack(text):
    mark = "[broken]" if text.startswith("[broken] ") else ""
    words = text[len(mark):].replace(", ", "_,_").split()
    return Stack(tuple(map(frame, words)), mark, 1, "prog", False)


def claims():
    for claim, text, expected in STACKS:
        yield claim, judge(stack(text), LEGALS)[0], expected
    for claim, text, label, expected in TASKS:
        yield claim, judge_task([(True, name) for name in text.split()], label, OWNERS), expected
    for name, expected in NAMES:
        yield "plain name of " + name, plain_name(name), expected
    yield "basename+0x is unknown", is_unknown("libx.so.1+0x1f"), True
    yield "a function is not unknown", is_unknown("x0x12"), False
    yield "a marked stack is not complete", is_complete(stack("[broken] " + START), "cut"), False
    yield "3,000 of 3,000 prove 99.87 %", round(wilson(3000, 3000)[0], 2), 99.87


def main():
    failed = 0
    for i, (claim, got, expected) in enumerate(claims(), 1):
        failed += got != expected
        print("%sok %d - %s%s" % ("" if got == expected else "not ", i, claim,
                                  "" if got == expected else ": %r, not %r" % (got, expected)))
    print("1..%d" % i)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
