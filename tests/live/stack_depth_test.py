#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much stack each program of the kernel half takes with the functions that it calls, and they call: 5.10 and 6.1
refuse more than 512 bytes, and more than 8 functions in a row, where newer kernels count in another way. So the kernel
of this machine is not asked: the object file is read as the old ones do. Needs neither root nor BPF."""
import collections
import functools
import os
import struct
import sys

TOP = os.path.abspath(os.path.dirname(__file__) + "/../..")
OBJECT = os.path.join(TOP, os.environ.get("BUILD", "build"), "weft.bpf.linked.o")
MOST, MOST_FRAMES = 512, 8
GRAIN = 32  # what the stack of one function is rounded up to

Section = collections.namedtuple("Section", "name type flags addr offset size link info align entry")
Symbol = collections.namedtuple("Symbol", "name info other section value size")
SYMBOLS, RELOCATIONS = 2, 9  # types of sections
IS_CODE = 4  # a flag of theirs
FUNCTION = 2  # a type of symbols

INSTRUCTION = struct.Struct("<BBhi")
FRAME_POINTER = 10
LOAD, STORES = 1, (2, 3)  # classes of instructions
ADDRESS, SECOND_HALF, MOVE, ADD, CALL = 0x18, 0, 0xbf, 0x07, 0x85
JUMPS = (5, 6)
OF_OURS = 1  # a call of a function of the object, not one of the kernel's


def stack_of(code):
    """The deepest byte of its stack that a function names, by r10 or by a copy of it."""
    places, deepest = {FRAME_POINTER: 0}, 0
    for op, registers, offset, imm in INSTRUCTION.iter_unpack(code):
        to, source = registers & 15, registers >> 4
        kind = op & 7
        base = source if kind == LOAD else to
        if base in places and (kind == LOAD or kind in STORES):
            deepest = min(deepest, places[base] + offset)
        if op == MOVE and source in places:
            places[to] = places[source]
        elif op == ADD and to in places:
            places[to] += imm
            deepest = min(deepest, places[to])
        elif op == CALL:
            places = {register: place for register, place in places.items() if register > 5}
        elif kind not in STORES + JUMPS and op != SECOND_HALF:
            places.pop(to, None)
    return -deepest


class Object:
    """The functions of a BPF object. A place is the number of a section, and an offset there."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        at, = struct.unpack_from("<Q", self.data, 40)
        n, names = struct.unpack_from("<HH", self.data, 60)
        self.sections = [Section(*struct.unpack_from("<IIQQQQIIQQ", self.data, at + 64 * i)) for i in range(n)]
        table = next(s for s in self.sections if s.type == SYMBOLS)
        symbols = [Symbol(*fields) for fields in struct.iter_unpack("<IBBHQQ", self.bytes_of(table))]
        self.relocations = {(s.info, offset): symbols[info >> 32] for s in self.sections if s.type == RELOCATIONS
                            for offset, info in struct.iter_unpack("<QQ", self.bytes_of(s))}
        self.functions = {(s.section, s.value): (self.string(table.link, s.name), s.size)
                          for s in symbols if s.info & 15 == FUNCTION and s.section}
        self.programs = [place for place in sorted(self.functions)
                         if self.string(names, self.sections[place[0]].name) != ".text"]

    def bytes_of(self, section):
        return self.data[section.offset:section.offset + section.size]

    def string(self, table, at):
        at += self.sections[table].offset
        return self.data[at:self.data.index(b"\0", at)].decode()

    def code(self, place):
        section, start = place
        return self.bytes_of(self.sections[section])[start:start + self.functions[place][1]]

    def callees(self, place):
        """Where the functions are that the one at a place calls, or has others call."""
        for i, (op, registers, _, imm) in enumerate(INSTRUCTION.iter_unpack(self.code(place))):
            here = place[0], place[1] + INSTRUCTION.size * i
            symbol = self.relocations.get(here)
            section, start = (symbol.section, symbol.value) if symbol else here
            if op == CALL and registers >> 4 == OF_OURS and section:
                yield section, start + INSTRUCTION.size * (imm + 1)
            elif op == ADDRESS and symbol and self.sections[section].flags & IS_CODE:
                yield section, start + imm

    @functools.cache
    def deepest(self, place):
        """Of the function at a place and those below it: the most bytes, who has them, and the most functions in a row."""
        below = [self.deepest(callee) for callee in self.callees(place)]
        most, chain, _ = max(below, default=(0, (), 0))
        own = -(-max(stack_of(self.code(place)), 1) // GRAIN) * GRAIN
        return own + most, (f"{self.functions[place][0]} {own}",) + chain, 1 + max((n for _, _, n in below), default=0)


def main():
    kernel_half = Object(OBJECT)
    failed = 0
    for i, place in enumerate(kernel_half.programs, 1):
        most, chain, n_frames = kernel_half.deepest(place)
        is_good = most <= MOST and n_frames <= MOST_FRAMES
        failed += not is_good
        print(f"{'' if is_good else 'not '}ok {i} - {kernel_half.functions[place][0]} {most} of {MOST} bytes of stack, "
              f"{n_frames} of {MOST_FRAMES} functions in a row; most bytes: {', '.join(chain)}")
    print(f"1..{len(kernel_half.programs)}")
    return failed > 0 or not kernel_half.programs


if __name__ == "__main__":
    sys.exit(main())
