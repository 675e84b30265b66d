# SPDX-License-Identifier: Apache-2.0
"""
reused_program.py SECONDS: compiles one function after another, which runs for about a millisecond and is freed before
the next one is made, at the same address. Half of the time each has its own name, then there are two, short_a and
long_b, in turns, whose names stay, and which run for one and three parts of the time. Prints how many functions there
were in each half, and at how many addresses.
"""
import sys
import time

SOURCE = """
def {0}(n):
    while n:
        n -= 1

{0}({1})
"""
TWO = (("short_a", 10000), ("long_b", 30000))


def run_one(text):
    """The address of its code object."""
    names = {}
    code = compile(text, "reused", "exec")
    exec(code, names)
    at = [id(const) for const in code.co_consts if hasattr(const, "co_name")][0]
    names.clear()	# a function and its globals would keep each other
    return at


def run(seconds, text_of):
    addresses, number, end = set(), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        addresses.add(run_one(text_of(number)))
        number += 1
    return number, len(addresses)


def main(seconds):
    kept = [sys.intern(name) for name, _ in TWO]
    print(*run(seconds / 2, lambda number: SOURCE.format("only_%d" % (1000000 + number), 20000)))
    print(*run(seconds / 2, lambda number: SOURCE.format(*TWO[number % 2])))
    return kept


if __name__ == "__main__":
    main(float(sys.argv[1]))
