# SPDX-License-Identifier: Apache-2.0
"""Python stacks that are known: frames.py SECONDS; frames.py tasks waits with three asyncio tasks.

<module>;Walker.walk;...;{spin_one, by_key;key;spin_two, hashed}"""
import hashlib
import sys
import time

DATA = b"weft" * 5000


def spin_one():
    total = 0
    for i in range(3000):
        total += i & 7
    return total


def spin_two():
    n = 3000
    while n:
        n -= 1
    return n


def key(x):
    spin_two()
    return -x


def by_key():
    return sorted([1, 2, 3], key=key)


def hashed():
    return hashlib.sha256(DATA).digest()


class Walker:
    def walk(self, depth):
        if depth:
            self.walk(depth - 1)
        else:
            spin_one()
            by_key()
            hashed()


def tasks():
    import asyncio  # which takes some seconds in a slow machine

    async def sleeper(seconds):
        await asyncio.sleep(seconds)

    async def root():
        print("ready", flush=True)
        await asyncio.gather(sleeper(1000), sleeper(2000))

    asyncio.run(root())


if sys.argv[1] == "tasks":
    tasks()
END = time.process_time() + float(sys.argv[1])
while time.process_time() < END:
    Walker().walk(5)
