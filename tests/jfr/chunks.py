#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What tests need to know of a JFR file without anybody's help: chunks, where their events are, the names of the types.

    chunks.py --repeat N IN OUT     OUT is N times IN, each copy with a later start, so that no chunk is there twice
    chunks.py --clock IN OUT        OUT is IN with another clock: 2.5 GHz, and so many ticks before that 64 bits are not enough
    chunks.py --unchain IN OUT      OUT is IN, but most of its constants are only found by who looks for them
    chunks.py --split IN OUT        OUT.1.jfr, OUT.2.jfr, ... are the chunks of IN
    chunks.py FILE                  prints the chunks, and the events of each type with their count and bytes
"""
import collections
import struct
import sys

MAGIC = b"FLR\0"
HEADER = struct.Struct(">4sHHqqqqqqqBBH")
HEADER_LEN = HEADER.size
METADATA, CHECKPOINT = 0, 1
Header = collections.namedtuple("Header", "magic major minor size constants metadata start_ns duration_ns start_ticks "
                                          "ticks_per_s generation pad flags")
Event = collections.namedtuple("Event", "offset size type")	# offset in the file, type: id
Chunk = collections.namedtuple("Chunk", "offset header events names")	# names: of the type ids


def varint(data, at):
    """(value, next offset): little-endian groups of seven bits, the ninth byte whole."""
    value = 0
    for i in range(8):
        byte = data[at + i]
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, at + i + 1
    return value | data[at + 8] << 56, at + 9


def text(data, at):
    """(string, next offset) of a string of the metadata; encodings 0, 1, 3, 4 and 5."""
    kind, at = data[at], at + 1
    if kind < 2:
        return "", at
    n, at = varint(data, at)
    if kind in (3, 5):
        return data[at:at + n].decode("utf-8" if kind == 3 else "latin-1", "replace"), at + n
    units = []
    for _ in range(n):
        unit, at = varint(data, at)
        units.append(unit & 0xffff)
    return struct.pack("<%dH" % n, *units).decode("utf-16-le", "replace"), at


def events_of(data, begin, end):
    """Every event from begin on, as long as their sizes make sense."""
    while begin < end:
        try:
            size, at = varint(data, begin)
            kind, at = varint(data, at)
        except IndexError:
            return
        if at > begin + size or begin + size > end:
            return
        yield Event(begin, size, kind)
        begin += size


def skip_head(data, at):
    """Behind size, type, start and duration of a metadata event or a checkpoint."""
    for _ in range(4):
        at = varint(data, at)[1]
    return at


def names_of(data, event):
    """{type id: name} of a metadata event."""
    at = varint(data, skip_head(data, event.offset))[1]
    n, at = varint(data, at)
    strings = []
    for _ in range(n):
        string, at = text(data, at)
        strings.append(string)
    names, n_left = {}, 1
    while n_left:
        n_left -= 1
        name, at = varint(data, at)
        n, at = varint(data, at)
        attributes = {}
        for _ in range(n):
            key, at = varint(data, at)
            value, at = varint(data, at)
            attributes[strings[key]] = strings[value]
        if strings[name] == "class":
            names[int(attributes["id"])] = attributes["name"]
        n, at = varint(data, at)
        n_left += n
    return names


def header_at(data, offset):
    return Header(*HEADER.unpack_from(data, offset))


def header_bytes(header):
    return HEADER.pack(*header)


def chunk_at(data, offset, end=None):
    """One chunk, whatever its header says of its size when the end is given."""
    header = header_at(data, offset)
    end = end or min(len(data), offset + header.size)
    events, names = [], {}
    for event in events_of(data, offset + HEADER_LEN, end):
        events.append(event)
        if event.type == METADATA:
            names.update(names_of(data, event))
    names.update({METADATA: "jdk.Metadata", CHECKPOINT: "jdk.Checkpoint"})
    return Chunk(offset, header, events, names)


def read(data):
    """The chunks of a good file."""
    chunks, at = [], 0
    while at < len(data):
        chunks.append(chunk_at(data, at))
        at += chunks[-1].header.size
    return chunks


def name_of(chunk, event):
    return chunk.names.get(event.type, "unknown %d" % event.type)


def count(chunks, is_wanted=lambda event: True):
    """{name of the type: [events, bytes]} of the events that are wanted."""
    counts = collections.defaultdict(lambda: [0, 0])
    for chunk in chunks:
        for event in filter(is_wanted, chunk.events):
            counts[name_of(chunk, event)][0] += 1
            counts[name_of(chunk, event)][1] += event.size
    return dict(counts)


def repeat(data, n):
    """The file n times, one piece at a time; each copy begins when the one before it ended."""
    headers, at = [], 0
    while at < len(data):
        headers.append((at, header_at(data, at)))
        at += headers[-1][1].size
    last = headers[-1][1]
    span = last.start_ns + last.duration_ns - headers[0][1].start_ns
    for i in range(n):
        copy = bytearray(data)
        for at, header in headers:
            # Some ticks too: a chunk is told from another by both.
            moved = header._replace(start_ns=header.start_ns + i * span, start_ticks=header.start_ticks - i)
            copy[at:at + HEADER_LEN] = header_bytes(moved)
        yield copy


def with_clock(data):
    """The same ticks mean other times."""
    copy = bytearray(data)
    for chunk in read(data):
        header = chunk.header._replace(ticks_per_s=2_499_997_707, start_ticks=chunk.header.start_ticks - (1 << 40))
        copy[chunk.offset:chunk.offset + HEADER_LEN] = header_bytes(header)
    return copy


def zero(copy, at):
    """A varint, as many bytes as it had."""
    end = varint(copy, at)[1]
    copy[at:end] = bytes([0x80] * (end - at - 1) + [0])


def unchained(data):
    """From the last checkpoint of a chunk nothing leads to the others, which in every second chunk hold nothing: what these
    have is found where something is missed."""
    copy = bytearray(data)
    for i, chunk in enumerate(read(data)):
        for event in chunk.events:
            if event.type != CHECKPOINT:
                continue
            to_next = skip_head(data, event.offset)
            n_pools = varint(data, to_next)[1] + 1
            if event.offset == chunk.offset + chunk.header.constants:
                zero(copy, to_next)
            elif i % 2 == 0:
                zero(copy, n_pools)
    return copy


def split(data, out):
    for i, chunk in enumerate(read(data)):
        with open("%s.%d.jfr" % (out, i + 1), "wb") as f:
            f.write(data[chunk.offset:chunk.offset + chunk.header.size])


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--split":
        with open(sys.argv[2], "rb") as f:
            split(f.read(), sys.argv[3])
        return
    if len(sys.argv) == 4 and sys.argv[1] in ("--clock", "--unchain"):
        with open(sys.argv[2], "rb") as f:
            data = f.read()
        with open(sys.argv[3], "wb") as f:
            f.write(with_clock(data) if sys.argv[1] == "--clock" else unchained(data))
        return
    if len(sys.argv) == 5 and sys.argv[1] == "--repeat":
        with open(sys.argv[3], "rb") as f:
            data = f.read()
        with open(sys.argv[4], "wb") as f:
            for piece in repeat(data, int(sys.argv[2])):
                f.write(piece)
        return
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    chunks = read(data)
    for chunk in chunks:
        print("chunk at %d: %s, %d events" % (chunk.offset, chunk.header, len(chunk.events)))
    for name, (n, size) in sorted(count(chunks).items()):
        print("%-45s %9d %12d" % (name, n, size))


if __name__ == "__main__":
    main()
