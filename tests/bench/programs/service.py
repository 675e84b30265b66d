# SPDX-License-Identifier: Apache-2.0
"""
A web service on asyncio and its load, for CPython 3.7 and later, of nothing but the standard library:

    service.py serve SOCKET             answers until it is ended; each request is a task
    service.py load SOCKET COUNTER      asks over 8 connections, always; COUNTER is a file of 8 bytes: answers
"""
import asyncio
import json
import mmap
import re
import selectors
import socket
import sys

N_CONNECTIONS = 8
REQUEST = b"GET /orders?customer=%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
ORDERS = [{"id": i, "customer": i % 16, "items": ["item%d" % k for k in range(i % 5)]} for i in range(400)]


def worth(order):
    return -len(order["items"]), order["id"]


def render(order):
    return "<li>%(id)d: %(items)s</li>" % order


async def find(customer):
    return [order for order in ORDERS if order["customer"] == customer % 16]


async def answer(customer):
    orders = sorted(await find(customer), key=worth)
    page = "".join(map(render, orders))
    return json.dumps({"orders": orders, "html": page}).encode()


async def handle(transport, head):
    customer = int(re.search(rb"customer=(\d+)", head).group(1))
    body = await answer(customer)
    transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.received, self.tasks = transport, b"", set()

    def data_received(self, data):
        *heads, self.received = (self.received + data).split(b"\r\n\r\n")
        for head in heads:
            task = asyncio.get_event_loop().create_task(handle(self.transport, head))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)


def serve(path):
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(loop.create_unix_server(Connection, path))
    print("ready", flush=True)
    loop.run_forever()


def ask(connection, number):
    connection.sendall(REQUEST % number)


def is_whole(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    return length and len(body) == int(length.group(1))


def load(path, counter_path):
    with open(counter_path, "r+b") as f:
        counter = mmap.mmap(f.fileno(), 8)
    selector, n = selectors.DefaultSelector(), 0
    for i in range(N_CONNECTIONS):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        selector.register(connection, selectors.EVENT_READ, [])
        ask(connection, i)
    while True:
        for key, _ in selector.select():
            key.data.append(key.fileobj.recv(1 << 16))
            if is_whole(b"".join(key.data)):
                key.data.clear()
                n += 1
                counter[:8] = n.to_bytes(8, "little")
                ask(key.fileobj, n)


if __name__ == "__main__":
    {"serve": serve, "load": load}[sys.argv[1]](*sys.argv[2:])
