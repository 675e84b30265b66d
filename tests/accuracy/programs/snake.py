# SPDX-License-Identifier: Apache-2.0
"""
A program whose Python stacks are known, for CPython 3.6 and later. Arguments: a scene, CPU seconds.
It prints what each stack cost by the thread's own clock, root first:

    legal SECONDS <module>;main;sorts;~;key;spin

Frames are joined by ";" where Python calls Python, ";~;" where native code is between, ";?;" where that
depends on the version (calls with *arguments, await, yield from). The scene `tasks` (3.7 and later) says of
functions which asyncio tasks execute them, "" for none; WEFT_LOOP=uvloop has its loops from there:

    task spin_red ["red"]
"""
import functools
import hashlib
import importlib
import json
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


# A task's own coroutine functions, so that a stack says whose it is.
COLOUR = """
def spin_{0}(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total

async def inner_{0}():
    return spin_{0}(3000)

async def step_{0}(rounds, pause):
    for i in range(rounds):
        await inner_{0}()
        await pause(0)

def hash_{0}(sha256, data):
    return sha256(data).digest()

async def block_{0}(rounds, pause, *how):
    for i in range(rounds):
        hash_{0}(*how)
        await pause(0)
"""
owners = {}


def own(functions, name):
    for function in functions:
        owners.setdefault(function.__name__, set()).add(name)


def colour(name, parts=("spin", "inner", "step")):
    functions = {}
    exec(COLOUR.format(name), functions)
    return [functions[part + "_" + name] for part in parts]


def task_of(loop, functions, coroutine, name, make=None):
    """3.7 has no names, and a label is the coroutine's there."""
    task = make(coroutine, name) if make else loop.create_task(coroutine)
    if not hasattr(task, "set_name"):
        own(functions, coroutine.__qualname__)
    elif name:
        task.set_name(name)
        own(functions, name)
    else:
        task.add_done_callback(lambda t: own(functions, t.get_name()))
    return task


def nobodys(name):
    spin = colour(name)[0]
    own([spin], "")
    return spin


def generate(spin):
    for i in range(4):
        yield spin(1500)


async def burn(spin, rounds, pause):
    """One coroutine function for several tasks."""
    for i in range(rounds):
        sum(generate(spin))
        await pause(0)


async def by_hand(spin):
    spin(3000)


def drive_by_hand(spin):
    try:
        by_hand(spin).send(None)
    except StopIteration:
        pass


def colours(prefix):
    """(function part of the name, name of the task); None: its default name"""
    return [(prefix + name, task and prefix + task) for name, task in (
        ("red", "red"), ("latin", "gr\u00fcn"), ("wide", "\u4efb\u52a1"), ("wider", "\U0001f40d"), ("long", "l" * 300),
        ("default", None))]


def loop_of(asyncio, prefix, seconds, new_loop):
    loop = new_loop()
    callback, shared, hand = nobodys(prefix + "callback"), colour(prefix + "shared"), colour(prefix + "hand")
    eager, hashes = colour(prefix + "eager"), colour(prefix + "hash", ("hash", "block"))
    made = [(colour(name), task) for name, task in colours(prefix)]

    def call_back():
        callback(3000)
        drive_by_hand(callback)

    async def drives(rounds):
        for i in range(rounds):
            drive_by_hand(hand[0])
            await asyncio.sleep(0)

    def start_at_once(coroutine, name):
        return asyncio.Task(coroutine, loop=loop, name=name, eager_start=True)

    # Before and after the coroutine runs it is asyncio's own time, in whichever task.
    for name in ("", prefix + "eager"):
        own([start_at_once], name)

    async def begin_inside(rounds):
        """From 3.12 on a task may begin inside another one."""
        for i in range(rounds):
            await task_of(loop, eager, eager[2](2, asyncio.sleep), prefix + "eager",
                          start_at_once if hasattr(asyncio, "eager_task_factory") else None)

    async def conduct():
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            crowd = [task_of(loop, f, f[2](8, asyncio.sleep), name) for f, name in made]
            crowd.append(task_of(loop, [shared[0], burn], burn(shared[0], 8, asyncio.sleep), prefix + "shared"))
            crowd.append(task_of(loop, [hand[0], drives], drives(8), prefix + "hand"))
            crowd.append(task_of(loop, hashes, hashes[1](2, asyncio.sleep, hashlib.sha256, HASHED), prefix + "hash"))
            crowd.append(task_of(loop, [begin_inside, start_at_once], begin_inside(4), prefix + "start"))
            loop.call_soon(call_back)
            await asyncio.gather(*crowd)
            # The next task is made where this one was.
            for f, name in made[:2]:
                await task_of(loop, f, f[2](1, asyncio.sleep), name)

    loop.run_until_complete(task_of(loop, [conduct], conduct(), prefix + "conduct"))
    loop.close()


def plain_thread(seconds, spin):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(generate(spin))


def tasks(run, seconds):
    before, plain = nobodys("before"), nobodys("plain")
    own([plain_thread], "")
    plain_thread(seconds / 10, before)
    asyncio = importlib.import_module("asyncio")
    new_loop = importlib.import_module(os.environ.get("WEFT_LOOP", "asyncio")).new_event_loop
    # weft has heard of it when it looked at its samples.
    plain_thread(0.3, before)
    crowd = [threading.Thread(target=loop_of, args=(asyncio, "other_", seconds, new_loop)),
             threading.Thread(target=plain_thread, args=(seconds, plain))]
    for thread in crowd:
        thread.start()
    loop_of(asyncio, "", seconds, new_loop)
    for thread in crowd:
        thread.join()
    plain_thread(seconds / 10, before)
    for function, names in sorted(owners.items()):
        print("task %s %s" % (function, json.dumps(sorted(names))))


def tell():
    for stack, seconds in sorted(costs.items()):
        print("legal %.6f %s" % (seconds, stack))
    sys.stdout.flush()


def main(scene, seconds):
    def run(path, call, *arguments):
        timed("<module>;main;" + path[0] + ";main.<locals>.run;?;timed;?;" + ";".join(path[1:]), call, *arguments)

    if scene in (threads, forks, tasks):
        scene(run, seconds)
    else:
        end = clock() + seconds
        while clock() < end:
            scene(run)
    tell()


SCENES = {f.__name__: f for f in (calls, deep, mixed, native, awaits, threads, forks, tasks)}
main(SCENES[sys.argv[1]], float(sys.argv[2]))
