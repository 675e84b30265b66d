# SPDX-License-Identifier: Apache-2.0
"""
An event loop that is blocked for known times, for CPython 3.7 and later: block_program.py LIMIT_MS [uvloop].
Prints each time that one turn of the loop took longer than the limit, as it was from inside:

    blocked SECONDS WHO		WHO: the function that did it, spin_* or doze
"""
import asyncio
import sys
import time

BLOCKS = (0.15, 0.3, 0.6)


def spin(seconds):
    """So much CPU time, so that there are samples up to the end on a busy machine too."""
    end, total = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        for i in range(200):
            total += i & 7
    return total


def spin_culprit(seconds):
    spin(seconds)


def spin_callback(seconds):
    spin(seconds)


def spin_polite(seconds):
    spin(seconds)


def spin_between(seconds):
    spin(seconds)


def doze(seconds):
    time.sleep(seconds)


class Watch:
    """What a turn of the loop took, seen by a callback in each."""

    def __init__(self, limit):
        self.limit, self.found = limit, []

    def call(self, function, seconds):
        began = time.monotonic()
        function(seconds)
        took = time.monotonic() - began
        if took > self.limit:
            self.found.append((took, function.__name__))


async def culprit(watch):
    for seconds in BLOCKS:
        watch.call(spin_culprit, seconds)
        await asyncio.sleep(0.02)
    watch.call(doze, 0.4)
    await asyncio.sleep(0.02)


async def polite(watch, seconds):
    """Busy, but never for long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        watch.call(spin_polite, 0.005)
        await asyncio.sleep(0)


def start(coroutine, name):
    task = asyncio.get_event_loop().create_task(coroutine)
    if hasattr(task, "set_name"):
        task.set_name(name)
    return task


async def main(watch):
    await start(polite(watch, 1.0), "polite")
    await start(culprit(watch), "the culprit")
    await start(polite(watch, 0.5), "polite")
    asyncio.get_event_loop().call_soon(watch.call, spin_callback, 0.25)
    await asyncio.sleep(0.02)
    await start(polite(watch, 0.3), "polite")


def run(limit_ms, kind=None):
    watch = Watch(float(limit_ms) / 1000)
    if kind == "uvloop":
        import uvloop
        loop = uvloop.new_event_loop()
    else:
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(main(watch))
    # While no loop runs none is blocked.
    spin_between(0.3)
    loop.run_until_complete(polite(watch, 0.1))
    spin_between(0.3)
    for took, who in watch.found:
        print("blocked %.3f %s" % (took, who))


if __name__ == "__main__":
    run(*sys.argv[1:])
