# SPDX-License-Identifier: Apache-2.0
"""Reads pprof files (gzipped protobuf) without weft's help: only what the harness needs."""
import gzip
from collections import namedtuple

# frames: leaf first, inlined calls expanded; labels: key to string or number.
Sample = namedtuple("Sample", "frames values labels")
# file: of the mapping; source: of the function; line: in it, 0 unknown.
PprofFrame = namedtuple("PprofFrame", "name address file source line")
Profile = namedtuple("Profile", "samples sample_types period duration_ns comments time_ns")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(field number, value) of a message; length-delimited values as memoryviews."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        else:
            raise ValueError("wire type %d" % (key & 7))
        yield key >> 3, value


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def numbers(value):
    """A repeated integer, packed or not."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        out.append(number)
    return out


def message(data, repeated=()):
    out = {number: [] for number in repeated}
    for number, value in fields(data):
        if number in repeated:
            out[number].append(value)
        else:
            out[number] = value
    return out


def flat(values):
    return [n for v in values for n in numbers(v)]


def location_frames(location, functions, mappings, strings):
    """Innermost first, as pprof has them."""
    mapping = mappings.get(location.get(2, 0), {})
    file = strings[mapping.get(5, 0)]
    address = location.get(3, 0)
    lines = [message(line) for line in location[4]]
    called = [(functions[line[1]], line.get(2, 0)) for line in lines if line.get(1, 0)]
    return [PprofFrame(strings[f.get(2, 0)], address, file, strings[f.get(4, 0)], line) for f, line in called or [({}, 0)]]


def sample_labels(raw, strings):
    out = {}
    for label in (message(l) for l in raw):
        out[strings[label.get(1, 0)]] = strings[label[2]] if label.get(2) else signed(label.get(3, 0))
    return out


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    top = message(memoryview(gzip.decompress(data)), repeated=(1, 2, 3, 4, 5, 6, 13))
    strings = [bytes(s).decode("utf-8", "replace") for s in top[6]]
    mappings = {m.get(1, 0): m for m in map(message, top[3])}
    functions = {f.get(1, 0): f for f in map(message, top[5])}
    locations = {}
    for raw in top[4]:
        location = message(raw, repeated=(4,))
        locations[location.get(1, 0)] = location_frames(location, functions, mappings, strings)
    samples = []
    for raw in top[2]:
        sample = message(raw, repeated=(1, 2, 3))
        frames = [f for i in flat(sample[1]) for f in locations[i]]
        samples.append(Sample(frames, [signed(v) for v in flat(sample[2])],
                              sample_labels(sample[3], strings)))
    types = [tuple(strings[v] for v in (m.get(1, 0), m.get(2, 0))) for m in map(message, top[1])]
    return Profile(samples, types, top.get(12, 0), top.get(10, 0), [strings[i] for i in flat(top[13])],
                   top.get(9, 0))
