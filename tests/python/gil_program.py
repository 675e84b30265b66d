# SPDX-License-Identifier: Apache-2.0
"""Threads that want the GIL, or do not, for CPython 3.6 and later.

    gil_program.py contend SECONDS    four threads compute; at the end one JSON line says what time each had
    gil_program.py calm SECONDS       threads sleep, wait for locks, queues, pipes and a native lock; none computes
    gil_program.py endless            as contend, until it is killed; says "ready"
    gil_program.py own SECONDS        as contend in an interpreter with a GIL of its own (3.12 on)"""
import json
import os
import queue
import sys
import threading
import time

N = 4


def spin_a(end):
    n = 0
    while time.time() < end:
        for i in range(2000):
            n += i
    return n


def spin_b(end):
    n = 0
    while time.time() < end:
        for i in range(2000):
            n ^= i
    return n


def spin_c(end):
    n = 0
    while time.time() < end:
        for i in range(2000):
            n -= i
    return n


def spin_d(end):
    n = 0
    while time.time() < end:
        for i in range(2000):
            n |= i
    return n


def work_a(end):
    return spin_a(end)


def work_b(end):
    return list(map(spin_b, [end]))


def work_c(end):
    return sorted([end], key=spin_c)


def work_d(end):
    return max([end], key=lambda e: spin_d(e))


def spent():
    """(this thread's time on a CPU, the time it waited for one) in seconds"""
    with open("/proc/thread-self/schedstat") as f:
        cpu, delay = f.read().split()[:2]
    return int(cpu) / 1e9, int(delay) / 1e9


def measured(work, seconds, gate, out):
    tid = int(os.readlink("/proc/thread-self").rpartition("/")[2])
    gate.wait()
    before = spent()
    gate.wait()  # spent() lets go of the GIL several times: nobody computes meanwhile
    start = time.time()
    work(start + seconds)
    wall, after = time.time() - start, spent()
    out.append({"tid": tid, "name": work.__name__[-1], "wall": wall, "cpu": after[0] - before[0],
                "delay": after[1] - before[1]})


def contend(seconds):
    gate, out = threading.Barrier(N), []
    threads = [threading.Thread(target=measured, args=(work, seconds, gate, out))
               for work in (work_a, work_b, work_c, work_d)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def endless():
    for work in (work_a, work_b, work_c, work_d):
        threading.Thread(target=work, args=(time.time() + 1e9,), daemon=True).start()
    time.sleep(0.1)
    print("ready")
    sys.stdout.flush()
    time.sleep(1e6)


def wait_for_native_lock(end):
    try:
        import ctypes
        libc = ctypes.CDLL(None)
        mutex = ctypes.create_string_buffer(64)
        libc.pthread_mutex_lock(mutex)
        libc.pthread_mutex_lock(mutex)
    except (ImportError, AttributeError):
        time.sleep(max(0, end - time.time()))


def calm(seconds):
    end, lock, items = time.time() + seconds, threading.Lock(), queue.Queue()
    reader, writer = os.pipe()
    lock.acquire()

    def again(do):
        while time.time() < end:
            do()

    def get():
        try:
            items.get(timeout=0.07)
        except queue.Empty:
            pass

    def write():
        time.sleep(0.09)
        os.write(writer, b"x")

    jobs = [lambda: again(lambda: time.sleep(0.05)), lambda: again(lambda: lock.acquire(timeout=0.06)),
            lambda: again(get), lambda: again(lambda: os.read(reader, 1)), lambda: again(write),
            lambda: wait_for_native_lock(end)]
    for job in jobs:
        threading.Thread(target=job, daemon=True).start()
    time.sleep(seconds)


def own(seconds):
    if sys.version_info < (3, 13):
        import _xxsubinterpreters as interpreters
        there = interpreters.create()
        run = interpreters.run_string
    else:
        import _interpreters as interpreters
        there = interpreters.create("isolated")
        run = interpreters.exec
    run(there, "import sys; sys.path.insert(0, %r); sys.argv = ['', 'contend']\n"
        "import gil_program, json; print(json.dumps(gil_program.contend(%r)), flush=True)"
        % (os.path.dirname(os.path.abspath(__file__)), seconds))


def go_first():
    """On a busy machine threads wait for a CPU as long as for the GIL, and the clocks cannot tell the two apart."""
    if os.cpu_count() == 1:  # each would run to its end
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass


def main():
    kind = sys.argv[1]
    go_first()
    if kind == "endless":
        endless()
    elif kind == "contend":
        print(json.dumps(contend(float(sys.argv[2]))))
    elif kind == "calm":
        calm(float(sys.argv[2]))
        sys.stdout.flush()
        os._exit(0)
    else:
        own(float(sys.argv[2]))


if __name__ == "__main__":
    main()
