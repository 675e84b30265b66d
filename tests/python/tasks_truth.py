# SPDX-License-Identifier: Apache-2.0
"""What the interpreter itself says of a task: its name, and the await chain of its coroutine. CPython 3.7 and later."""
import gc
import sys

VERSION = sys.version_info[:2]


def next_of(awaitable):
    """What a coroutine, generator or async generator awaits, by the interpreter."""
    for name in ("cr_await", "ag_await", "gi_yieldfrom"):
        if hasattr(awaitable, name):
            return getattr(awaitable, name)
    if type(awaitable).__name__ in ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper"):
        return next((o for o in gc.get_referents(awaitable) if hasattr(o, "ag_await") or hasattr(o, "cr_await")),
                    None)
    return None


def chain_of(task):
    chain = []
    awaitable = task._coro if VERSION < (3, 8) else task.get_coro()
    while awaitable is not None:
        for name in ("cr_frame", "ag_frame", "gi_frame"):
            frame = getattr(awaitable, name, None)
            if frame is not None:
                chain.append([awaitable.__qualname__, frame.f_code.co_filename, frame.f_lineno])
        awaitable = next_of(awaitable)
    return chain


def coroutine_name(task):
    return (task._coro if VERSION < (3, 8) else task.get_coro()).__qualname__


def name_of(task):
    return task.get_name() if VERSION >= (3, 8) else None
