# SPDX-License-Identifier: Apache-2.0
"""Asyncio tasks that use the CPU below tasks that wait for them in every way, for CPython 3.7 and later. Prints the
logical stacks there can be, as one line of JSON: the program's functions, and how one task waits for another. Begins
when it is told so by a line, and ends by itself. With the argument "brief" no task lives as long as it takes weft to
hear of a sample."""
import asyncio
import json
import sys
import time

SECONDS = 0.4  # of CPU
SPIN, PAUSE = (0.0002, 0) if "brief" in sys.argv else (0.02, 0.001)
VERSION = sys.version_info[:2]
WAITED = "[wait_for]" if VERSION < (3, 12) else "[await]"


def spin():
    end = time.thread_time() + SPIN
    while time.thread_time() < end:
        pass


def start(coroutine):
    """Named after its coroutine; 3.7 has no names of tasks."""
    names = {"name": coroutine.__name__} if VERSION >= (3, 8) else {}
    return asyncio.get_event_loop().create_task(coroutine, **names)


async def work():
    spin()
    await asyncio.sleep(PAUSE)
    spin()


async def one(): await work()
async def two(): await work()
async def three(): await work()
async def four(): await work()
async def five(): await work()
async def six(): await work()


async def gathering(): await asyncio.gather(start(one()), start(one()))
async def awaiting(): await start(two())
async def timing(): await asyncio.wait_for(start(three()), 100)
async def shielding(): await asyncio.shield(start(four()))
async def waiting(): await asyncio.wait([start(five())])


async def grouping():
    async with asyncio.TaskGroup() as group:
        group.create_task(work(), name="work")


async def producing():
    await start(six())
    yield True


async def nexting():
    producer = producing()
    while await anext(producer, None):
        pass


async def nesting():
    await asyncio.gather(start(gathering()), start(gathering()))


async def main():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        await gathering()
        await nesting()
        await awaiting()
        await timing()
        await shielding()
        await waiting()
        if hasattr(asyncio, "TaskGroup"):
            await grouping()
        if VERSION >= (3, 10):
            await nexting()
        await work()


WAYS = [["main", "gathering", "[gather]", "one", "work"],
        ["main", "nesting", "[gather]", "gathering", "[gather]", "one", "work"],
        ["main", "nesting", "[gather]", "gathering"],
        ["main", "awaiting", "[await]", "two", "work"],
        ["main", "timing", WAITED, "three", "work"],
        ["main", "shielding", "[shield]", "four", "work"],
        ["main", "waiting", "[wait]", "five", "work"],
        ["main", "grouping", "[TaskGroup]", "work"],
        ["main", "nexting", "producing", "[await]", "six", "work"],
        ["main", "work"]]
# A task may be sampled on the way to its inner frames too.
PARTS = [way[:n] for way in WAYS for n in range(1, len(way) + 1) if way[n - 1][0] != "["]
# Who calls a coroutine's function has its frame on top for as long as that takes to make the coroutine.
PARTS += [way[:n] + [way[n + 1]] for way in WAYS for n in range(1, len(way)) if way[n][0] == "["]
print(json.dumps(PARTS + [part + ["start"] for part in PARTS] + [way + ["spin"] for way in WAYS]), flush=True)
sys.stdin.readline()
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
loop.run_until_complete(start(main()))
