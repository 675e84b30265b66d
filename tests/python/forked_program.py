# SPDX-License-Identifier: Apache-2.0
"""Ten asyncio tasks that sleep, and two children forked from among them, whose copies of the tasks nobody runs: for
CPython 3.7 and later. Prints how many tasks a child has, which are none from 3.14 on, and the children's pids."""
import asyncio
import os
import signal
import sys
import time


async def sleeper():
    await asyncio.sleep(3000)


def stay():
    signal.alarm(60)  # whatever becomes of the parent
    time.sleep(3000)


async def main():
    crowd = [asyncio.get_event_loop().create_task(sleeper()) for _ in range(10)]
    await asyncio.sleep(0.1)
    pids = []
    reading, writing = os.pipe()
    for _ in range(2):
        pid = os.fork()
        if not pid:
            os.write(writing, b"%d\n" % len(asyncio.all_tasks(loop)))
            stay()
        pids.append(pid)
    print(os.read(reading, 100).split()[0].decode(), *pids, flush=True)
    await asyncio.wait(crowd)


if len(sys.argv) > 1:
    import uvloop
    loop = uvloop.new_event_loop()
else:
    loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
loop.run_until_complete(main())
