# SPDX-License-Identifier: Apache-2.0
"""
Damaged files, made from good recordings, each with what must still come out of it. Imported by damage_check.py.
"""
import collections
import gzip
import random

import chunks as jfr

HERE_ON = 1 << 62	# an offset behind every file
INT64_MAX = (1 << 63) - 1

# is_kept(event): it must come out (offsets of the good file). share: how many of those at least. is_resolved(event): also
# with its stack, its thread and its values. is_time_wrong: nothing says how long a tick is. says: what weft must say of it.
# statuses: how it may end.
Case = collections.namedtuple("Case", "name data is_kept is_resolved share says statuses is_time_wrong")
DAMAGED, ANY = (6,), (0, 6)


def everything(event):
    return event.offset >= 0


def nothing(event):
    return event.offset < 0


def case(name, data, is_kept=everything, is_resolved=None, share=1.0, says="", statuses=DAMAGED, is_time_wrong=False):
    return Case(name, bytes(data), is_kept, is_resolved or is_kept, share, says, statuses, is_time_wrong)


class Good:
    """A good recording."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.chunks = jfr.read(self.data)
        self.flushes = [e.offset for e in self.checkpoints() if self.is_flush(e)]

    def first_of(self, kind):
        """Offset of the first metadata event or checkpoint."""
        return next(e for e in self.chunks[0].events if e.type == kind)

    def checkpoints(self):
        return [e for chunk in self.chunks for e in chunk.events if e.type == jfr.CHECKPOINT]

    def is_flush(self, checkpoint):
        """Is it the last one of a flush? All that came before can be resolved then."""
        at = jfr.varint(self.data, jfr.skip_head(self.data, checkpoint.offset))[1]
        return self.data[at] & 2

    def with_header(self, n, **values):
        """The data with fields of the n-th chunk's header replaced."""
        chunk = self.chunks[n]
        header = jfr.header_bytes(chunk.header._replace(**values))
        return self.data[:chunk.offset] + header + self.data[chunk.offset + len(header):]

    def chunk_bytes(self, n):
        chunk = self.chunks[n]
        return self.data[chunk.offset:chunk.offset + chunk.header.size]

    def events(self, names):
        """Those of these types that are not near the ends of the chunk."""
        return [e for chunk in self.chunks for e in chunk.events[len(chunk.events) // 4:len(chunk.events) * 3 // 4]
                if jfr.name_of(chunk, e) in names]


def cut_at(good, offset):
    """What is wholly before the cut; pools arrive with the checkpoints."""
    last = max((at for at in good.flushes if at + 200 <= offset), default=0)
    return case("cut at %d of %d" % (offset, len(good.data)), good.data[:offset], lambda e: e.offset + e.size <= offset,
                lambda e: e.offset + e.size <= last, 0.99, r"%d|cut|truncat|unfinished|ends" % offset)


def cuts(good, n, seed):
    """Random places behind the first metadata."""
    metadata = good.first_of(jfr.METADATA)
    numbers = random.Random(seed)
    for _ in range(n):
        yield cut_at(good, numbers.randrange(metadata.offset + metadata.size + 1, len(good.data)))


def but(event, next_known=0):
    """All events but the damaged one, or but those up to where an event is known to begin."""
    end = max(event.offset + event.size, next_known)
    return lambda e: e.offset < event.offset or e.offset >= end


def size_field(value, width):
    """A padded varint."""
    out = bytearray()
    for i in range(width):
        if i == 8:
            out.append(value >> 56 & 255)
        else:
            out.append(value >> 7 * i & 127 | (128 if i < width - 1 else 0))
    return bytes(out)


def damaged_events(good, n, seed):
    """One event of a file each: its size, its type, a bit of its fields."""
    numbers = random.Random(seed)
    names = {"jdk.ExecutionSample", "jdk.ThreadSleep", "jdk.ObjectAllocationSample", "jdk.GCPhaseParallel", "jdk.ThreadPark"}
    events = good.events(names)
    for i in range(n):
        event = events[numbers.randrange(len(events))]
        after = min((e.offset for e in good.checkpoints() if e.offset > event.offset), default=len(good.data))
        rest = but(event, after)
        data = bytearray(good.data)
        kind = i % 6
        if kind == 0:
            at = event.offset + 2 + numbers.randrange(event.size - 2)
            data[at] ^= 1 << numbers.randrange(7)	# the top bit says how long a number is
            yield case("a bit of an event's fields at %d" % at, data, but(event), statuses=ANY)
        elif kind == 1:
            bit = 1 << numbers.randrange(7)
            data[event.offset] ^= bit
            yield case("bit %#x of the size at %d" % (bit, event.offset), data, rest)
        elif kind == 2:
            data[event.offset] = 0
            yield case("size 0 at %d" % event.offset, data, rest, says=r"%d" % event.offset)
        elif kind == 3:
            data[event.offset] = 1
            yield case("size 1 at %d" % event.offset, data, rest, says=r"%d" % event.offset)
        elif kind == 4:
            data[event.offset:event.offset + 9] = size_field((1 << 63) + 5, 9)
            yield case("size 2^63 at %d" % event.offset, data, rest, says=r"%d" % event.offset)
        else:
            data[event.offset:event.offset + 8] = b"\xff" * 8
            yield case("eight bytes ff at %d" % event.offset, data, rest)


def damaged_constants(good, n, seed):
    """Some bytes of a checkpoint are others. All events are there, but not all that they refer to."""
    numbers = random.Random(seed)
    checkpoints = [e for e in good.checkpoints() if e.size > 1000]
    for _ in range(n):
        event = checkpoints[numbers.randrange(len(checkpoints))]
        at = event.offset + 20 + numbers.randrange(event.size - 24)
        data = bytearray(good.data)
        data[at:at + 4] = numbers.randbytes(4)
        yield case("four bytes of constants at %d" % at, data, is_resolved=nothing, statuses=ANY)


def headers(good):
    """A finished chunk whose header says something else; all of it can be had by walking."""
    header = good.chunks[0].header
    for generation in (7, 255):
        yield case("generation %d on a finished file" % generation, good.with_header(0, generation=generation), statuses=ANY)
    inside = good.events({"jdk.ThreadSleep", "jdk.ThreadPark"})[0].offset + 1
    for field in ("constants", "metadata"):
        for value in (0, -1, 1, inside, header.size + 100, INT64_MAX, getattr(header, "metadata" if field == "constants" else "constants")):
            yield case("%s offset %d" % (field, value), good.with_header(0, **{field: value}), statuses=ANY)
    for value in (0, 67, 68, -1, INT64_MAX, header.size + 1000):
        yield case("chunk size %d" % value, good.with_header(0, size=value), statuses=ANY)
    yield case("chunk size a third of the real one", good.with_header(0, size=header.size // 3), statuses=ANY)
    for value in (0, -1):
        yield case("%d ticks a second" % value, good.with_header(0, ticks_per_s=value), is_resolved=nothing, statuses=ANY,
                   is_time_wrong=True)
    for major, minor in ((0, 9), (3, 0)):
        yield case("version %d.%d" % (major, minor), good.with_header(0, major=major, minor=minor), nothing, says=r"version")


def files(good):
    """Whole files, in pieces and in other order."""
    yield case("an empty file", b"", nothing, statuses=ANY)
    for n in (1, 4, 67):
        yield case("only %d bytes" % n, good.data[:n], nothing)
    yield case("only a header", good.data[:68], nothing)
    yield case("a wrong magic", b"flr" + good.data[3:], nothing)
    yield case("zeros", bytes(5000), nothing)
    yield case("zeros at the end", good.data + bytes(4096))
    yield case("garbage at the end", good.data + random.Random(1).randbytes(1000))
    yield case("a part of a header at the end", good.data + good.data[:30])
    yield case("gzip", gzip.compress(good.data), statuses=(0,))
    packed = gzip.compress(good.data)
    yield case("gzip without its end", packed[:len(packed) * 9 // 10], lambda e: e.offset < len(good.data) // 4, nothing)


def several_chunks(good):
    """Of a file with three chunks."""
    first, second, third = (good.chunk_bytes(i) for i in range(3))
    yield case("the first chunk twice", first + good.data, statuses=ANY)
    # What began in one chunk and ended in the next needs the one before it.
    yield case("chunks in another order", third + first + second, share=0.99, statuses=(0,))
    yield case("garbage between chunks", first + random.Random(2).randbytes(777) + second + third)
    yield case("zeros between chunks", first + bytes(4096) + second + third)
    second_at = good.chunks[1].offset
    yield case("a wrong magic in the second chunk", first + b"\0\0\0\0" + second[4:] + third,
               lambda e: not second_at <= e.offset < second_at + len(second))
    middle = len(second) // 2
    flushed = max((at for at in good.flushes if at < second_at + middle), default=second_at)
    yield case("half of the second chunk is missing", first + second[:middle] + third,
               lambda e: e.offset < second_at + middle - 100_000 or e.offset >= second_at + len(second),
               lambda e: e.offset < flushed or e.offset >= second_at + len(second), share=0.99)
    # Not where constants are, as then nothing is resolved any more, nor in the midst of one long text, which may have zeros.
    events = good.chunks[1].events
    begins = (e.offset + 1000 for e in events if e.offset > second_at + middle and e.type > jfr.CHECKPOINT)
    begin = next(at for at in begins if any(at < e.offset < at + 2000 for e in events))
    end = begin + 2000
    after = min((e.offset for e in good.checkpoints() if e.offset >= end), default=HERE_ON)
    yield case("2000 bytes of the second chunk are zeros", good.data[:begin] + bytes(2000) + good.data[end:],
               lambda e: e.offset + e.size <= begin or e.offset >= after)
