# SPDX-License-Identifier: Apache-2.0
"""
Ways in which CPython comes to run, for 3.6 and later: builds_program.py SCENE [ARGUMENT]. In each of them
`spin` uses some CPU time; the stacks that lead there are in builds_test.sh.
"""
import os
import sys
import time

SECONDS = 0.4
THREAD_NAMES = ("short", "a name that is longer than the kernel's")


def spin(seconds=SECONDS):
    end = time.process_time() + seconds
    n = 0
    while time.process_time() < end:
        for i in range(3000):
            n += i & 7
    return n


def plain():
    spin()


def interpreters():
    try:
        import _interpreters as module
    except ImportError:
        import _xxsubinterpreters as module
    return module


INSIDE = """
import sys
sys.argv, __file__ = ["", "none"], {path!r}
exec(compile(open({path!r}).read(), {path!r}, "exec"))
def {name}():
    {call}
{name}()
"""


def inside(name, call):
    """Calls it in an interpreter of its own."""
    module = interpreters()
    module.run_string(module.create(), INSIDE.format(path=os.path.abspath(__file__), name=name, call=call))


def sub():
    inside("inner", "spin()")


def nested():
    inside("middle", 'inside("inner", "spin()")')


def thread_sub():
    import threading
    thread = threading.Thread(target=sub)
    thread.start()
    thread.join()


def work():
    spin()


def processes(method):
    import multiprocessing
    context = multiprocessing.get_context(method)
    crowd = [context.Process(target=work) for i in range(2)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()


def prefork():
    """As servers do: workers that never exec."""
    pids = []
    for i in range(2):
        pid = os.fork()
        if not pid:
            work()
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)


class Last:
    def __del__(self, spin=spin):
        spin()


def final():
    """While the interpreter goes down: functions that it calls, and objects that die last."""
    import atexit
    import threading
    atexit.register(at_exit)
    sys.modules["last"] = Last()
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()


def at_exit():
    spin()


def named_threads():
    import threading
    crowd = [threading.Thread(target=work_in_thread, name=name) for name in THREAD_NAMES]
    for thread in crowd:
        thread.start()
    work_in_thread()
    for thread in crowd:
        thread.join()


def work_in_thread():
    end = time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID) + 3 * SECONDS
    while time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID) < end:
        spin(0.01)


def tasks():
    """Says when it goes, so that somebody can come to it."""
    import asyncio

    async def burn():
        for i in range(200):
            spin(0.01)
            await asyncio.sleep(0)

    async def conduct():
        print("ready", flush=True)
        await asyncio.ensure_future(burn())

    asyncio.new_event_loop().run_until_complete(conduct())


def none():
    pass


if __name__ == "__main__" and sys.argv[1] != "none":
    main = {f.__name__: f for f in (plain, sub, nested, thread_sub, processes, prefork, final, named_threads,
                                    tasks)}[sys.argv[1]]
    main(*sys.argv[2:])
