# SPDX-License-Identifier: Apache-2.0
"""
reused_program.py SECONDS: compiles one function after another, each of which has its own name, runs for about a
millisecond and is freed before the next one is made, at the same address. Prints how many there were, and addresses.
"""
import sys
import time

SOURCE = """
def only_{0}(n):
    while n:
        n -= 1

only_{0}({1})
"""


def run_one(number, n):
    """The address of its code object."""
    names = {}
    code = compile(SOURCE.format(number, n), "reused", "exec")
    exec(code, names)
    at = [id(const) for const in code.co_consts if hasattr(const, "co_name")][0]
    names.clear()	# a function and its globals would keep each other
    return at


def main(seconds):
    addresses, number, end = set(), 1000000, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        addresses.add(run_one(number, 20000))
    print(number - 1000000, len(addresses))


if __name__ == "__main__":
    main(float(sys.argv[1]))
