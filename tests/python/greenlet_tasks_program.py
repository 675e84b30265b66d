# SPDX-License-Identifier: Apache-2.0
"""Asyncio tasks that run their program in greenlets, as SQLAlchemy's asyncio does, for CPython 3.7 and later:
greenlet_tasks_program.py SECONDS (of CPU). What spins is named after the task that it is of, in_red, in_green, in_blue or
in_none; some of it waits inside its greenlet. The blue one runs in a thread and loop of its own; a thread without a
loop runs a greenlet too."""
import asyncio
import sys
import threading
import time

NAMES = ("red", "green", "blue")


def spin():
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        sum(range(200))


def warm_up():
    """Weft sees that there is asyncio when it has a sample of somebody; on a busy machine it has no CPU for a while."""
    for _ in range(10):
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            pass
        time.sleep(0.05)


exec("".join("def in_%s():\n    spin()\n\n\n" % name for name in (*NAMES, "none")))


def wait(awaitable):
    """In a greenlet: the task awaits it."""
    return greenlet.getcurrent().parent.switch(awaitable)


async def spawn(function):
    context = greenlet.greenlet(function)
    result = context.switch()
    while not context.dead:
        result = context.switch(await result)
    return result


async def red(end):
    def query():
        for _ in range(3):
            in_red()
            wait(asyncio.sleep(0.001))
    while time.process_time() < end:
        in_red()
        await spawn(query)


async def green(end):
    while time.process_time() < end:
        await spawn(in_green)
        in_green()
        await asyncio.sleep(0)


async def blue(end):
    """Sleeps so that the others have a part of the GIL: a loop that only asks what is ready has it again at once."""
    while time.process_time() < end:
        await spawn(in_blue)
        await asyncio.sleep(0.001)


async def main(*coroutines):
    await asyncio.gather(*(asyncio.get_event_loop().create_task(
        c, **({"name": c.__name__} if sys.version_info >= (3, 8) else {})) for c in coroutines))


def run(*coroutines):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(main(*coroutines))


def outside(end):
    while time.process_time() < end:
        greenlet.greenlet(in_none).switch()
        in_none()
        time.sleep(0.01)


if __name__ == "__main__":
    import greenlet
    warm_up()
    end = time.process_time() + float(sys.argv[1])
    threads = [threading.Thread(target=outside, args=(end,)), threading.Thread(target=lambda: run(blue(end)))]
    for thread in threads:
        thread.start()
    run(red(end), green(end))
    for thread in threads:
        thread.join()
