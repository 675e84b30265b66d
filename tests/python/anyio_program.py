# SPDX-License-Identifier: Apache-2.0
"""Tasks of anyio's task groups, for CPython 3.8 and later: who waits for whom is in anyio_check.py. Prints "ready"
once all wait."""
import asyncio

import anyio


async def one():
    await anyio.sleep(3000)


async def two(task_status):
    task_status.started()
    await anyio.Event().wait()


async def inner():
    async with anyio.create_task_group() as group:
        group.start_soon(one)
        await anyio.Event().wait()


async def starting():
    async with anyio.create_task_group() as group:
        await group.start(two)


async def outer():
    task = asyncio.get_running_loop().create_task(starting())
    async with anyio.create_task_group() as group:
        group.start_soon(inner)
        group.start_soon(inner)
        await anyio.sleep(0.2)
        print("ready", flush=True)
    await task


if __name__ == "__main__":
    anyio.run(outer, backend="asyncio")
