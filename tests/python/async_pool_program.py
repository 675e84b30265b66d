# SPDX-License-Identifier: Apache-2.0
"""Asyncio tasks that wait for functions which threads of a pool run, for CPython 3.7 and later. Each function is named
after the task that waits for it, "nobody" where none does, and "left" where it may have given up. With the argument "anyio" its pool is used
too, with "uvloop" its loop. Begins when it is told so by a line, and ends by itself."""
import asyncio
import concurrent.futures
import sys
import threading
import time
import zlib

if "anyio" in sys.argv:  # all of it: what is imported while it is sampled is found out only after a while
    import anyio.to_thread
    import anyio._backends._asyncio

SECONDS = 1  # of CPU
VERSION = sys.version_info[:2]
DATA = bytes(range(256)) * 1024
pool = concurrent.futures.ThreadPoolExecutor(8)
tasks = {}  # by their names


def await_waiter(name):
    """Whoever hands a function out comes to wait for it only after that, on a busy machine much later."""
    while tasks[name]._fut_waiter is None:
        time.sleep(0.005)


def spin(waiter=None):
    if waiter:
        await_waiter(waiter)
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass


# Half of them keep the GIL, half of them do not.
def compress(waiter):
    await_waiter(waiter)
    zlib.compress(DATA, 9)


# Each with a code of its own.
def held(): spin("held")
def gathered(): spin("gathered")
def wrapped(): spin("wrapped")
def released(): compress("released")
def shielded(): compress("shielded")
def copied(): spin("copied")
def lent(): spin("lent")
def left(): spin()
def nobody(): spin()


def run(function):
    return asyncio.get_event_loop().run_in_executor(pool, function)


def start(coroutine, name):
    """3.7 has no names of tasks, but those of their coroutines."""
    coroutine.__qualname__ = name
    tasks[name] = asyncio.get_event_loop().create_task(coroutine, **({"name": name} if VERSION >= (3, 8) else {}))
    return tasks[name]


async def repeat(make):
    while time.process_time() < end:
        await make()


async def both():
    await asyncio.gather(run(gathered), run(gathered))


async def give_up():
    try:
        await asyncio.wait_for(run(left), 0.001)
    except (asyncio.TimeoutError, TimeoutError):
        pass


async def main():
    ways = {"held": lambda: run(held), "released": lambda: run(released), "gathered": both,
            "wrapped": lambda: asyncio.wait_for(run(wrapped), 100), "shielded": lambda: asyncio.shield(run(shielded)),
            "left": give_up}
    if VERSION >= (3, 9):
        ways["copied"] = lambda: asyncio.to_thread(copied)
    if "anyio" in sys.argv:
        ways["lent"] = lambda: anyio.to_thread.run_sync(lent)
    await asyncio.wait([start(repeat(make), name) for name, make in ways.items()])


def alone():
    while time.process_time() < end:
        nobody()
        pool.submit(nobody).result()


print("ready", flush=True)
sys.stdin.readline()
end = time.process_time() + SECONDS
thread = threading.Thread(target=alone)
thread.start()
if "uvloop" in sys.argv:
    import uvloop as loops
else:
    loops = asyncio
loop = loops.new_event_loop()
asyncio.set_event_loop(loop)
loop.run_until_complete(main())
thread.join()
