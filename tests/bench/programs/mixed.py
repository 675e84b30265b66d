# SPDX-License-Identifier: Apache-2.0
"""
Stacks of Python and C frames, for CPython 3.6 and later: mixed.py WAYS LEVELS SECONDS [COUNTER]. WAYS is `mixed`
(a level goes through sorted(), map(), reduce() or nothing, in turns) or `plain`. It spins on the innermost level;
COUNTER is a file of 8 bytes that says how often. Prints "cpu SECONDS" at its end.
"""
import functools
import mmap
import sys
import time


def leaf(_):
    total = 0
    for i in range(2000):
        total += i & 7
    return total


# Two functions of each level's own, as in real programs few functions stand in a stack twice.
LEVEL = """
def way_{0}(n):
    return {1}

def down_{0}(n):
    if n % 2:
        return way_{0}(n)
    return way_{0}(n + 1)
"""
WAYS = ("sorted((n,), key={0})", "{0}(n)", "list(map({0}, (n,)))", "functools.reduce(lambda a, b: {0}(b), (0, n))")


def make(name, levels):
    """The outermost function."""
    functions = {"functools": functools, "down_0": leaf}
    for i in range(1, levels + 1):
        inner = "down_%d" % (i - 1)
        way = WAYS[i % len(WAYS)] if name == "mixed" else WAYS[1]
        exec(LEVEL.format(i, way.format(inner)), functions)
    return functions["down_%d" % levels]


def counter_at(path):
    if not path:
        return bytearray(8)
    with open(path, "r+b") as f:
        return mmap.mmap(f.fileno(), 8)


def main(name, levels, seconds, path=None):
    call = make(name, levels)
    counter, n, end = counter_at(path), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(4):
            call(2000)
        n += 4
        counter[:8] = n.to_bytes(8, "little")
    print("cpu %.3f" % time.process_time())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
