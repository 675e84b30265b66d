# SPDX-License-Identifier: Apache-2.0
"""Asyncio tasks that wait, are about to go on and run for known times, for CPython 3.7 and later. Each one says
where it is before it goes there, so the sums are so, every 20 ms. Says that it has begun; what was so when it is
terminated, a line {"t": unix time, "seconds": {point: ...}} each.

    async_program.py [uvloop]"""
import asyncio
import json
import os
import signal
import sys
import time

N_NAPPERS = 20
sums = {}
kept = []
open_points = {}  # of a task: (point, since)


def at(key, point):
    """The task named key is at this point from now on."""
    now = time.monotonic()
    before, since = open_points.get(key, (None, now))
    if before:
        sums[before] = sums.get(before, 0) + now - since
    open_points[key] = (point, now)


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


async def nap_long():
    await asyncio.sleep(0.3)


async def nap_short():
    await asyncio.sleep(0.1)


async def napper(i):
    await asyncio.sleep(i * 0.4 / N_NAPPERS)
    while True:
        at("napper%d" % i, "waiting nap_long")
        await nap_long()
        at("napper%d" % i, "waiting nap_short")
        await nap_short()


async def part(key, seconds):
    at(key, "waiting part")
    await asyncio.sleep(seconds)
    at(key, None)


async def gatherer():
    while True:
        at("gatherer", "waiting gatherer")
        await asyncio.gather(part("a", 0.2), part("b", 0.05))


async def spinner():
    while True:
        at("spinner", "running spinner")
        spin(0.03)
        at("spinner", "waiting spinner")
        await asyncio.sleep(0.09)


async def woken(events):
    while True:
        at("woken", "waiting woken")
        await events.get()
        at("woken", "waiting woken")


async def waker(events):
    while True:
        at("waker", "waiting waker")
        await asyncio.sleep(0.12)
        at("waker", "running waker")
        events.put_nowait(None)
        at("woken", "runnable woken")
        spin(0.03)


async def keep():
    while True:
        now = time.monotonic()
        seconds = dict(sums)
        for point, since in open_points.values():
            if point:
                seconds[point] = seconds.get(point, 0) + now - since
        kept.append({"t": time.time(), "seconds": seconds})
        await asyncio.sleep(0.02)


def end(*_):
    for line in kept:
        print(json.dumps(line))
    sys.stdout.flush()
    os._exit(0)


async def main():
    loop = asyncio.get_event_loop()
    events = asyncio.Queue()
    tasks = [loop.create_task(napper(i)) for i in range(N_NAPPERS)]
    tasks += [loop.create_task(c) for c in (gatherer(), spinner(), woken(events), waker(events))]
    await asyncio.sleep(0.5)
    print("ready", flush=True)
    await keep()


signal.signal(signal.SIGTERM, end)
if sys.argv[1:] == ["uvloop"]:
    import uvloop
    new_loop = uvloop.new_event_loop()
else:
    new_loop = asyncio.new_event_loop()
asyncio.set_event_loop(new_loop)
new_loop.run_until_complete(main())
