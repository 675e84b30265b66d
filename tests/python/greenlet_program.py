# SPDX-License-Identifier: Apache-2.0
"""Greenlets whose stacks lie where others were, for CPython 3.6 and later: greenlet_program.py SECONDS. Each is gone
on with from another depth every time. What `spin` can be called by is in STACKS, root first; "~": native code is
between."""
import sys
import time

STACKS = ["<module>;main;down;spin", "<module>;main;down;down;spin", "<module>;main;down;down;down;spin",
          "first;~;key;spin", "second;again;again;spin"]


def spin(seconds):
    end = time.process_time() + seconds
    n = 0
    while time.process_time() < end:
        for i in range(1000):
            n += i & 7


def key(x):
    spin(0.002)
    return -x


def first(_):
    while True:
        sorted([3, 1, 2], key=key)
        home.switch()


def again(n):
    if n:
        return again(n - 1)
    spin(0.005)
    home.switch()


def second(_):
    while True:
        again(1)
        home.switch()


def down(n, other):
    if n:
        return down(n - 1, other)
    spin(0.002)
    list(map(other.switch, [1]))


def main(seconds):
    others = [greenlet.greenlet(first), greenlet.greenlet(second)]
    end = time.process_time() + seconds
    n = 0
    while time.process_time() < end:
        down(n % 3, others[n // 3 % 2])
        n += 1


if __name__ == "__main__":
    import greenlet
    home = greenlet.getcurrent()
    main(float(sys.argv[1]))
