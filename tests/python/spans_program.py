# SPDX-License-Identifier: Apache-2.0
"""
A program whose OpenTelemetry spans are known: what it spends its time in are functions that are named after the
span that is current in them, WHO_in_TRACEID_SPANID_KIND, or WHO_in_none: what it is called is said by its kind
(spans_names.py). Each of them only spins, in Python or with the GIL released; spans begin and end elsewhere.

    spans_program.py SCENE SECONDS [TEXT]

prints "ready" once it has its modules, goes on when it is told so by a line, and ends after so many seconds of CPU.
Scenes: sdk (two threads each with 0, 5, 41 and 500 context variables besides, who are threads0 to threads500, and
asyncio's tasks, all at the same time, and a thread in a span that another one renames all the time); api (two threads without the SDK: spans that only carry ids, and such as are not
valid); late (the same with the SDK, imported after a while; says its pid and TEXT, and waits for nothing); asleep (tasks that are suspended in such functions for ever).
"""
import asyncio
import contextlib
import contextvars
import hashlib
import os
import sys
import threading
import time

import spans_names

TURN = 0.003  # seconds of CPU that one function spins
functions = {}


def name_of(who, span):
    return "%s_in_%032x_%016x_%s" % (who, *span.ids, span.kind) if span and span.ids[1] else "%s_in_none" % who


def function_of(who, span):
    name = name_of(who, span)
    if name not in functions:
        source = ("def %s(until):\n"
                  "    while now() < until:\n"
                  "        for _ in range(500):\n"
                  "            pass\n"
                  "        if is_native:\n"
                  "            pbkdf2('sha256', b'x' * 64, b'y' * 64, 400)\n") % name
        variables = {"now": time.thread_time, "pbkdf2": hashlib.pbkdf2_hmac, "is_native": len(functions) % 2}
        exec(compile(source, "spans", "exec"), variables)
        functions[name] = variables[name]
    return functions[name]


async def sleep(span=None):
    name = name_of("asleep", span)
    variables = {"sleep": asyncio.sleep}
    exec(compile("async def %s():\n    await sleep(1000)\n" % name, "spans", "exec"), variables)
    await variables[name]()


def spin(who, span=None):
    function_of(who, span)(time.thread_time() + TURN)


def fill(n):
    for i in range(n):
        contextvars.ContextVar("variable_%d" % i).set(i)


class Ids:
    """Of traces and spans: all bits of them are used by one or the other, few small ones are among them."""

    def __init__(self):
        self.n = 0

    def next(self, bits):
        self.n += 1
        if self.n % 7 == 0:
            return self.n  # as good as any other
        return self.n * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << bits) or 1

    def generate_trace_id(self):
        return self.next(128)

    def generate_span_id(self):
        return self.next(64)


class Current:
    """A span that is current."""

    def __init__(self, span, kind):
        context = span.get_span_context()
        self.span, self.kind = span, kind
        self.ids = (context.trace_id, context.span_id) if context.is_valid else (0, 0)

    def change(self):
        if self.kind == "old":
            self.span.update_name(spans_names.name_of("new", self.ids[1]))
            self.kind = "new"
        elif self.kind == "ended" and self.span.is_recording():
            self.span.end()


def make_spans():
    """A function that begins a span: a context manager, whose value is a Current."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Generator(Ids, IdGenerator):
        pass

    ids = Generator()
    tracer = TracerProvider(id_generator=ids).get_tracer("spans")

    @contextlib.contextmanager
    def span(kind=None):
        kind = kind or spans_names.BEGUN[ids.n % len(spans_names.BEGUN)]
        with tracer.start_as_current_span("not yet", end_on_exit=kind != "ended") as current:
            if kind != "renamed":
                current.update_name(spans_names.name_of(kind, current.get_span_context().span_id))
            yield Current(current, kind)
    return span


def make_bare_spans():
    """The same without an SDK: every third is not valid."""
    from opentelemetry import trace
    ids = Ids()

    @contextlib.contextmanager
    def span():
        trace_id, span_id = ids.next(128), ids.next(64)
        context = trace.SpanContext(trace_id, 0 if ids.n % 3 == 0 else span_id, is_remote=True)
        bare = trace.NonRecordingSpan(context)
        with trace.use_span(bare):
            yield Current(bare, "nameless")
    return span


def nest(who, span, depth):
    with span() as current:
        spin(who, current)
        if depth:
            nest(who, span, depth - 1)
            current.change()
            spin(who, current)


def until(who, end, span, n_variables):
    fill(n_variables)
    while time.process_time() < end:
        nest(who, span, 3)
        spin(who)


def start_threads(who, end, span, n_variables):
    threads = [threading.Thread(target=until, args=(who, end, span, n_variables)) for _ in range(2)]
    for thread in threads:
        thread.start()
    return threads


def rename(end, span):
    """Has a thread in a span, and renames it meanwhile."""
    with span("renamed") as current:
        current.span.update_name(spans_names.renamed(0))
        function = function_of("renamed", current)
        thread = threading.Thread(target=contextvars.copy_context().run, args=(function, float("inf")), daemon=True)
        thread.start()
        n = 0
        while time.process_time() < end:
            n += 1
            current.span.update_name(spans_names.renamed(n))
            if n % 20 == 0:
                time.sleep(0.001)


async def task(span, end, number):
    fill(5)
    while time.process_time() < end:
        with span() as current:
            spin("tasks", current)
            await asyncio.sleep(0)
            current.change()
            with span() as inner:
                spin("tasks", inner)
                await asyncio.sleep(0.001 * number)
                inner.change()
                spin("tasks", inner)
            await asyncio.sleep(0)
            spin("tasks", current)
        await asyncio.sleep(0)
        spin("tasks")


async def tasks(span, end):
    await asyncio.gather(*[task(span, end, i) for i in range(5)])


async def sleeper(span, depth):
    fill(5)
    current = None
    with contextlib.ExitStack() as stack:
        for _ in range(depth):
            current = stack.enter_context(span())
            current.change()
        await sleep(current)


async def sleepers(span):
    tasks = [asyncio.ensure_future(sleeper(span, i % 4)) for i in range(40)]
    await asyncio.sleep(0.1)
    print("ready", flush=True)
    await asyncio.gather(*tasks)


def run_loop(coroutine):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(coroutine)


def main():
    scene, seconds = sys.argv[1], float(sys.argv[2])
    if scene == "late":
        print("%d %s\n" % (os.getpid(), sys.argv[3]), end="", flush=True)  # one write: others write there, too
        function_of(scene, None)(time.thread_time() + 0.3)
    span = make_bare_spans() if scene == "api" else make_spans()
    if scene == "asleep":
        run_loop(sleepers(span))
    if scene != "late":
        print("ready", flush=True)
        sys.stdin.readline()
    end = time.process_time() + seconds
    if scene != "sdk":
        start_threads(scene, end, span, 0)
        return
    for n in (0, 5, 41, 500):
        start_threads("threads%d" % n, end, span, n)
    threading.Thread(target=rename, args=(end, span)).start()
    run_loop(tasks(span, end))


main()
