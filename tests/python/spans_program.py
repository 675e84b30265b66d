# SPDX-License-Identifier: Apache-2.0
"""
A program whose OpenTelemetry spans are known: what it spends its time in are functions that are named after the
span that is current in them, in_TRACEID_SPANID, or in_none. Each of them only spins, in Python or with the GIL
released; spans begin and end elsewhere.

    spans_program.py SCENE SECONDS [VARIABLES]

prints "ready" once it has its modules and ends after so many seconds of CPU. VARIABLES are set besides in each context.
Scenes: threads, tasks (with the SDK); api (no SDK: spans that only carry ids, and such as are not valid); late
(imports the API after a while); asleep (tasks that are suspended in such functions for ever).
"""
import asyncio
import contextlib
import contextvars
import hashlib
import sys
import threading
import time

TURN = 0.003  # seconds of CPU that one function spins
functions = {}


def function_of(trace_id, span_id):
    name = "in_%032x_%016x" % (trace_id, span_id) if span_id else "in_none"
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


async def sleep(trace_id=0, span_id=0):
    name = "in_%032x_%016x" % (trace_id, span_id) if span_id else "in_none"
    variables = {"sleep": asyncio.sleep}
    exec(compile("async def %s():\n    await sleep(1000)\n" % name, "spans", "exec"), variables)
    await variables[name]()


def spin(trace_id=0, span_id=0):
    function_of(trace_id, span_id)(time.thread_time() + TURN)


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


def make_spans():
    """A function that begins a span: a context manager, whose value is its SpanContext."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Generator(Ids, IdGenerator):
        pass

    tracer = TracerProvider(id_generator=Generator()).get_tracer("spans")

    @contextlib.contextmanager
    def span():
        with tracer.start_as_current_span("s") as current:
            yield current.get_span_context()
    return span


def make_bare_spans():
    """The same without an SDK: every third is not valid."""
    from opentelemetry import trace
    ids = Ids()

    @contextlib.contextmanager
    def span():
        trace_id, span_id = ids.next(128), ids.next(64)
        context = trace.SpanContext(trace_id, 0 if ids.n % 3 == 0 else span_id, is_remote=True)
        with trace.use_span(trace.NonRecordingSpan(context)):
            yield context
    return span


def ids_of(context):
    return (context.trace_id, context.span_id) if context.is_valid else (0, 0)


def nest(span, depth):
    with span() as context:
        spin(*ids_of(context))
        if depth:
            nest(span, depth - 1)
            spin(*ids_of(context))


def until(end, span, n_variables):
    fill(n_variables)
    while time.process_time() < end:
        nest(span, 3)
        spin()


def run_threads(span, end, n_variables):
    threads = [threading.Thread(target=until, args=(end, span, n_variables)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def task(span, end, n_variables, number):
    fill(n_variables)
    while time.process_time() < end:
        with span() as context:
            spin(*ids_of(context))
            await asyncio.sleep(0)
            with span() as inner:
                spin(*ids_of(inner))
                await asyncio.sleep(0.001 * number)
                spin(*ids_of(inner))
            await asyncio.sleep(0)
            spin(*ids_of(context))
        await asyncio.sleep(0)
        spin()


async def tasks(span, end, n_variables):
    await asyncio.gather(*[task(span, end, n_variables, i) for i in range(5)])


async def sleeper(span, n_variables, depth):
    fill(n_variables)
    context = None
    with contextlib.ExitStack() as stack:
        for _ in range(depth):
            context = stack.enter_context(span())
        await sleep(*(ids_of(context) if context else ()))


async def sleepers(span, n_variables):
    tasks = [asyncio.ensure_future(sleeper(span, n_variables, i % 4)) for i in range(40)]
    await asyncio.sleep(0.1)
    print("ready", flush=True)
    await asyncio.gather(*tasks)


def run_loop(coroutine):
    asyncio.new_event_loop().run_until_complete(coroutine)


def main():
    scene, seconds = sys.argv[1], float(sys.argv[2])
    n_variables = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    if scene == "late":
        function_of(0, 0)(time.thread_time() + 0.3)
    span = make_bare_spans() if scene == "api" else make_spans()
    if scene == "asleep":
        run_loop(sleepers(span, n_variables))
    print("ready", flush=True)
    end = time.process_time() + seconds
    if scene == "tasks":
        run_loop(tasks(span, end, n_variables))
    else:
        run_threads(span, end, n_variables)


main()
