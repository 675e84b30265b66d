# SPDX-License-Identifier: Apache-2.0
"""
A program whose Python stacks are known, for CPython 3.6 and later. Arguments: a scene, CPU seconds.
It prints what each stack cost by the thread's own clock, root first:

    legal SECONDS <module>;main;sorts;~;key;spin

Frames are joined by ";" where Python calls Python, ";~;" where native code is between, ";?;" where that
depends on the version (calls with *arguments, await, yield from).
"""
import functools
import hashlib
import os
import sys
import threading
import time
import zlib

costs = {}
lock = threading.Lock()
HASHED = b"weft" * 1000000


def clock():
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


def timed(stack, call, *arguments):
    """Its own frame is on the way: `call` stands below `timed`."""
    start = clock()
    result = call(*arguments)
    used = clock() - start
    with lock:
        costs[stack] = costs.get(stack, 0) + used
    return result


def spin_one(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def spin_two(n):
    total = 1
    while n:
        n -= 1
        total ^= n
    return total


class Walker:
    def down(self, n, leaf):
        if n:
            return self.down(n - 1, leaf)
        return leaf(4000)

    @property
    def slow(self):
        return spin_one(4000)


class Mortal:
    def __del__(self):
        spin_two(4000)


def calls(run):
    walker = Walker()
    for depth in (0, 5, 50):
        for leaf in (spin_one, spin_two):
            run(["calls",] + ["Walker.down"] * (depth + 1) + [leaf.__name__], walker.down, depth, leaf)


def deep(run):
    walker = Walker()
    for leaf in (spin_one, spin_two):
        run(["deep",] + ["Walker.down"] * 151 + [leaf.__name__], walker.down, 150, leaf)


def key(x):
    spin_one(3000)
    return -x


def add(a, b):
    return a + spin_two(3000)


def numbers():
    for i in range(8):
        yield spin_one(1500) + i


def delegating():
    yield from numbers()


def drop():
    Mortal()


def mixed(run):
    run(["mixed", "drop", "~", "Mortal.__del__", "spin_two"], drop)
    run(["mixed", "slow", "?", "Walker.slow", "spin_one"], slow, Walker())
    run(["mixed", "by_key", "~", "key", "spin_one"], by_key)
    run(["mixed", "~", "add", "spin_two"], functools.reduce, add, [1, 2, 3])
    run(["mixed", "~", "numbers", "spin_one"], sum, numbers())
    run(["mixed", "~", "delegating", "?", "numbers", "spin_one"], sum, delegating())
    run(["mixed", "~", "key", "spin_one"], list, map(key, [1, 2, 3]))


def slow(walker):
    return walker.slow


def by_key():
    return sorted([3, 1, 2], key=key)


def native(run):
    run(["native", "hashes", "~"], hashes)
    run(["native", "packs", "~"], packs)


def hashes():
    return hashlib.sha256(HASHED).digest()


def packs():
    return zlib.compress(HASHED, 6)


async def leaf_step():
    return spin_one(3000)


async def middle_step():
    return await leaf_step() + await leaf_step()


async def top_step():
    return await middle_step()


def drive():
    step = top_step()
    try:
        step.send(None)
    except StopIteration as stop:
        return stop.value


def awaits(run):
    run(["awaits", "drive", "~", "top_step", "?", "middle_step", "?", "leaf_step", "spin_one"], drive)


def worker(seconds, leaf):
    end = clock() + seconds
    while clock() < end:
        timed("@thread;?;worker;timed;?;" + leaf.__name__, leaf, 3000)


def threads(run, seconds):
    crowd = [threading.Thread(target=worker, args=(seconds / 4, leaf)) for leaf in (spin_one, spin_two) * 2]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()


def forks(run, seconds):
    for leaf in (spin_one, spin_two):
        child = os.fork()
        if child == 0:
            costs.clear()
            end = clock() + seconds / 2
            while clock() < end:
                timed("<module>;main;forks;timed;?;" + leaf.__name__, leaf, 3000)
            tell()
            os._exit(0)
        os.waitpid(child, 0)


def tell():
    for stack, seconds in sorted(costs.items()):
        print("legal %.6f %s" % (seconds, stack))
    sys.stdout.flush()


def main(scene, seconds):
    def run(path, call, *arguments):
        timed("<module>;main;" + path[0] + ";main.<locals>.run;?;timed;?;" + ";".join(path[1:]), call, *arguments)

    if scene in (threads, forks):
        scene(run, seconds)
    else:
        end = clock() + seconds
        while clock() < end:
            scene(run)
    tell()


main({f.__name__: f for f in (calls, deep, mixed, native, awaits, threads, forks)}[sys.argv[1]], float(sys.argv[2]))
