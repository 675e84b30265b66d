# SPDX-License-Identifier: Apache-2.0
"""A program whose asyncio tasks wait for one another in every way there is, for CPython 3.7 and later.
Prints what is so as one line of JSON, and waits: who waits for whom is listed by hand (EDGES), await chains
are what the interpreter says of its coroutines, and from 3.14 on `awaited_by` too.

    tasks_program.py edges [pure|uvloop]    pure: asyncio without its C half
    tasks_program.py many N                 N tasks that sleep
    tasks_program.py churn N                N tasks that never stay where they are, and their legal chains"""
import json
import os
import sys

MODE = sys.argv[1]
KIND = sys.argv[2] if len(sys.argv) > 2 else ""
if KIND == "pure":
    sys.modules["_asyncio"] = None

import asyncio
import threading
import time
import types

sys.dont_write_bytecode = True
from tasks_truth import chain_of, coroutine_name, name_of

VERSION = sys.version_info[:2]
# (coroutine of a task, coroutine of the task that waits for it, how)
EDGES = set()
REASONS = {}
KEPT = []  # asyncio itself refers to tasks only weakly


def start(coroutine, reason=None, loop=None):
    name = coroutine.__qualname__
    if reason:
        REASONS[name] = reason
    task = (loop or asyncio.get_event_loop()).create_task(coroutine)
    KEPT.append(task)
    return task


def edge(child, parent, how):
    EDGES.add((child, parent, how))


async def sleeper():
    await asyncio.sleep(3000)


async def one(): await sleeper()
async def two(): await sleeper()
async def three(): await sleeper()
async def four(): await sleeper()
async def five(): await sleeper()
async def six(): await sleeper()
async def seven(): await sleeper()
async def eight(): await sleeper()
async def nine(): await sleeper()
async def ten(): await sleeper()
async def eleven(): await sleeper()
async def twelve(): await sleeper()
async def thirteen(): await sleeper()
async def fourteen(): await sleeper()


async def gatherer():
    for child in ("one", "two"):
        edge(child, "gatherer", "gather")
    await asyncio.gather(one(), two())


async def nesting():
    for child in ("three", "four", "five"):
        edge(child, "nesting", "gather")
    await asyncio.gather(asyncio.gather(three(), four()), five(), return_exceptions=True)


async def timing_a_task():
    edge("six", "timing_a_task", "wait_for" if VERSION < (3, 12) else "await")
    await asyncio.wait_for(start(six()), 2000)


async def timing_a_coroutine():
    if VERSION < (3, 12):
        edge("seven", "timing_a_coroutine", "wait_for")
        REASONS["timing_a_coroutine"] = "wait_for"
    else:
        REASONS["timing_a_coroutine"] = "sleep"
    await asyncio.wait_for(seven(), 2000)


async def timing_a_gather():
    edge("eight", "timing_a_gather", "gather")
    await asyncio.wait_for(asyncio.gather(eight()), 2000)


async def waiting():
    edge("nine", "waiting", "wait")
    edge("ten", "waiting", "wait")
    await asyncio.wait([start(nine()), start(ten())], timeout=2000)


async def shielding():
    edge("eleven", "shielding", "shield")
    await asyncio.shield(start(eleven()))


async def grouping():
    async with asyncio.TaskGroup() as group:
        edge("twelve", "grouping", "TaskGroup")
        edge("thirteen", "grouping", "TaskGroup")
        KEPT.append(group.create_task(twelve()))
        KEPT.append(group.create_task(thirteen()))


async def awaiting(task):
    edge("fourteen", "awaiting", "await")
    await task


async def awaiting_too(task):
    edge("fourteen", "awaiting_too", "await")
    await task


async def awaiting_who_awaits(task):
    edge("awaiting", "awaiting_who_awaits", "await")
    await task


async def numbers():
    yield 1
    await sleeper()
    yield 2


async def iterating():
    async for _ in numbers():
        pass


async def sending():
    generator = numbers()
    await generator.asend(None)
    await generator.asend(None)


class Manager:
    async def __aenter__(self):
        await asyncio.Event().wait()

    async def __aexit__(self, *_):
        pass


async def entering():
    async with Manager():
        pass


class Iterator:
    def __aiter__(self):
        return self

    async def __anext__(self):
        await asyncio.Queue().get()


async def iterating_a_class():
    async for _ in Iterator():
        pass


class Awaitable:
    def __await__(self):
        yield from sleeper().__await__()


async def awaiting_an_object():
    await Awaitable()


@types.coroutine
def old_style():
    yield from sleeper()


async def awaiting_old_style():
    await old_style()


async def locking(lock):
    async with lock:
        await sleeper()


async def locked(lock):
    async with lock:
        pass


async def in_a_semaphore():
    semaphore = asyncio.Semaphore(1)
    await semaphore.acquire()
    await semaphore.acquire()


async def on_a_condition():
    condition = asyncio.Condition()
    async with condition:
        await condition.wait()


async def on_a_queue():
    await asyncio.Queue().get()


async def on_a_full_queue():
    queue = asyncio.Queue(1)
    await queue.put(1)
    await queue.put(2)


async def on_a_stream():
    await asyncio.StreamReader().readline()


async def on_a_future():
    await asyncio.get_event_loop().create_future()


async def in_an_executor():
    await asyncio.get_event_loop().run_in_executor(None, time.sleep, 3000)


async def in_a_thread():
    await asyncio.to_thread(time.sleep, 3000)


async def eager():
    await sleeper()


async def swallowing():
    try:
        await sleeper()
    except asyncio.CancelledError:
        await sleeper()


async def cancelled():
    await sleeper()


async def by_another_name():
    await sleeper()


async def elsewhere():
    edge("elsewhere_one", "elsewhere", "gather")
    await asyncio.gather(elsewhere_one())


async def elsewhere_one():
    await sleeper()


async def never_started():
    await sleeper()


async def deep(n):
    await (deep(n - 1) if n else sleeper())


async def recursing():
    await deep(300)


class Derived(asyncio.Task):
    pass


async def of_a_derived_class():
    await sleeper()


def start_all(loop):
    gather = "gather"
    start(gatherer(), gather)
    start(nesting(), gather)
    start(timing_a_task(), "wait_for" if VERSION < (3, 12) else "task")
    start(timing_a_coroutine())
    start(timing_a_gather(), "wait_for" if VERSION < (3, 12) else gather)
    start(waiting(), "wait")
    start(shielding(), "shield")
    if hasattr(asyncio, "TaskGroup"):
        start(grouping(), "TaskGroup")
    shared = start(fourteen(), "sleep")
    first = start(awaiting(shared), "task")
    start(awaiting_too(shared), "task")
    start(awaiting_who_awaits(first), "task")
    start(iterating(), "sleep")
    start(sending(), "sleep")
    start(entering(), "Event.wait")
    start(iterating_a_class(), "Queue.get")
    start(awaiting_an_object(), "sleep")
    start(awaiting_old_style(), "sleep")
    start(on_a_queue(), "Queue.get")
    start(on_a_full_queue(), "Queue.put")
    start(on_a_stream(), "StreamReader.readline")
    start(on_a_future(), "future")
    start(in_an_executor(), "executor")
    if hasattr(asyncio, "to_thread"):
        start(in_a_thread(), "to_thread")
    start(in_a_semaphore(), "Semaphore.acquire")
    start(on_a_condition(), "Condition.wait")
    start(recursing(), "sleep")
    KEPT.append(Derived(of_a_derived_class(), loop=loop))
    REASONS["of_a_derived_class"] = "sleep"
    if VERSION >= (3, 12):
        KEPT.append(asyncio.Task(eager(), loop=loop, eager_start=True))
        REASONS["eager"] = "sleep"
    if VERSION >= (3, 8):
        loop.create_task(by_another_name(), name="étude № 1 \U0001f40d")
    lock = asyncio.Lock()
    start(locking(lock), "sleep")
    start(locked(lock), "Lock.acquire")
    return start(swallowing(), "sleep"), start(cancelled())


def truth(tids):
    tasks, awaited_by = [], None
    if hasattr(asyncio.Task, "_asyncio_awaited_by"):
        awaited_by = []
    for loop, tid in tids.items():
        for task in asyncio.all_tasks(loop):
            named = name_of(task) if coroutine_name(task) != "eager" else None
            tasks.append({"coroutine": coroutine_name(task), "name": named, "tid": tid, "chain": chain_of(task)})
            for parent in getattr(task, "_asyncio_awaited_by", None) or ():
                awaited_by.append([coroutine_name(task), coroutine_name(parent)])
    return {"tasks": tasks, "edges": sorted(EDGES), "reasons": REASONS, "awaited_by": awaited_by,
            "running": "busy" if MODE == "edges" else None}


def tid_of_thread():
    if hasattr(threading, "get_native_id"):
        return threading.get_native_id()
    return int(os.readlink("/proc/thread-self").rpartition("/")[2])


def new_loop():
    if KIND != "uvloop":
        return asyncio.new_event_loop()
    import uvloop
    return uvloop.new_event_loop()


def run_elsewhere(tids, is_ready):
    loop = new_loop()
    tids[loop] = tid_of_thread()
    asyncio.set_event_loop(loop)
    start(elsewhere(), "gather", loop)
    loop.call_later(0.2, is_ready.set)
    loop.run_forever()


async def busy(is_busy):
    def spin():
        is_busy.set()
        time.sleep(3000)
    spin()


def run_busy(tids, is_busy):
    loop = new_loop()
    tids[loop] = tid_of_thread()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(busy(is_busy))


def in_thread(target, *args):
    event = threading.Event()
    thread = threading.Thread(target=target, args=args + (event,), daemon=True, name=target.__name__)
    thread.start()
    event.wait()


async def say_edges(tids):
    loop = asyncio.get_event_loop()
    tids[loop] = tid_of_thread()
    swallower, victim = start_all(loop)
    await asyncio.sleep(0.1)
    swallower.cancel()
    victim.cancel()
    await asyncio.sleep(0.1)
    in_thread(run_elsewhere, tids)
    in_thread(run_busy, tids)
    KEPT.append(KEPT[-1])
    unused = new_loop()
    tids[unused] = 0
    KEPT.append(unused.create_task(never_started()))
    KEPT.append(unused)
    loop.call_later(0.1, lambda: print(json.dumps(truth(tids)), flush=True))
    await sleeper()


async def say_many(n):
    loop = asyncio.get_event_loop()
    for _ in range(n):
        start(sleeper(), "sleep")
    await asyncio.sleep(0.1)
    loop.call_later(0.1, lambda: print(json.dumps({"n": n + 1}), flush=True))
    await sleeper()


async def nap():
    await asyncio.sleep(0.02)


async def left(n):
    await (left(n - 1) if n else nap())


async def right(n):
    async for _ in steps(n):
        await nap()


async def steps(n):
    for _ in range(n):
        await nap()
        yield


async def child():
    await nap()


async def both():
    await asyncio.gather(child(), child())


async def churning():
    while True:
        await left(3)
        await right(2)
        await both()


LEGAL = [["churning", "left", "left", "left", "left", "nap", "sleep"],
         ["churning", "right", "nap", "sleep"],
         ["churning", "right", "steps", "nap", "sleep"],
         ["churning", "both"],
         ["child", "nap", "sleep"],
         ["say_churn", "sleeper", "sleep"]]


async def say_churn(n):
    for _ in range(n):
        start(churning())
    await asyncio.sleep(0.2)
    print(json.dumps({"n": n, "legal": LEGAL}), flush=True)
    await sleeper()


def main():
    loop = new_loop()
    asyncio.set_event_loop(loop)
    say = say_many if MODE == "many" else say_churn
    loop.run_until_complete(say_edges({}) if MODE == "edges" else say(int(sys.argv[2])))


main()
