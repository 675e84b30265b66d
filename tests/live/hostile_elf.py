# SPDX-License-Identifier: Apache-2.0
"""hostile_elf.py LIBRARY DIR SEED: variants of a library that lie about themselves, into DIR.

The code at its place in the file stays as it is, so each of them can still be run. Prints a line for
each: name, offset of work_in_file in the file.
"""
import lzma
import random
import struct
import subprocess
import sys

PT_LOAD, PT_NOTE, SHT_NOBITS = 1, 4, 8
GB = 1 << 30


class Elf:
    """The header tables of a 64-bit little-endian file, as lists that can be written back."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.phoff, self.shoff = struct.unpack_from("<QQ", data, 32)
        self.phnum, _, self.shnum, self.shstrndx = struct.unpack_from("<HHHH", data, 56)

    def segment(self, i):
        return list(struct.unpack_from("<IIQQQQQQ", self.data, self.phoff + 56 * i))

    def put_segment(self, i, fields):
        struct.pack_into("<IIQQQQQQ", self.data, self.phoff + 56 * i, *fields)

    def section(self, i):
        return list(struct.unpack_from("<IIQQQQIIQQ", self.data, self.shoff + 64 * i))

    def put_section(self, i, fields):
        struct.pack_into("<IIQQQQIIQQ", self.data, self.shoff + 64 * i, *fields)

    def find(self, name):
        names = self.section(self.shstrndx)[4]
        for i in range(self.shnum):
            at = names + self.section(i)[0]
            if self.data[at:self.data.index(b"\0", at)] == name.encode():
                return i
        raise KeyError(name)


def add_sections(elf, made):
    """65,500 sections: those there are, and made(i) for each of the others."""
    n = 65500
    headers = bytearray(struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, n, elf.shstrndx, 0, 0, 0))
    for i in range(1, n):
        headers += struct.pack("<IIQQQQIIQQ", *(elf.section(i) if i < elf.shnum else made(i)))
    struct.pack_into("<Q", elf.data, 40, len(elf.data))
    struct.pack_into("<HH", elf.data, 60, 0, 0xffff)
    elf.data += headers


def many_sections(elf, _):
    text = elf.section(elf.find(".text"))
    add_sections(elf, lambda i: text)


def add_names(elf, names):
    """Puts names behind those of the sections; where they begin."""
    strings = elf.section(elf.shstrndx)
    old = bytes(elf.data[strings[4]:strings[4] + strings[5]])
    strings[4], strings[5] = len(elf.data), len(old) + len(names)
    elf.put_section(elf.shstrndx, strings)
    elf.data += old + names
    return len(old)


def put_bytes(elf, section, data):
    """Gives a section other bytes."""
    fields = elf.section(section)
    fields[4], fields[5] = len(elf.data), len(data)
    elf.data += data
    elf.put_section(section, fields)


def long_names(elf, _):
    """Each name is 32 MB long."""
    text, at = elf.section(elf.find(".text")), add_names(elf, b"a" * (32 << 20))
    add_sections(elf, lambda i: [at + i] + text[1:])


def same_notes(elf, _):
    """All sections are the same million of notes."""
    at, size = len(elf.data), 12 << 20
    elf.data += bytes(size)
    add_sections(elf, lambda i: [0, 7, 0, 0, at, size, 0, 0, 4, 0])


def same_relocations(elf, _):
    at, size, symbols = len(elf.data), 24 * 500000, elf.find(".dynsym")
    elf.data += bytes(size)
    add_sections(elf, lambda i: [0, 4, 0, 0, at, size, symbols, 0, 8, 24])


def bomb(elf, _):
    """MiniDebugInfo of 60 MB of zeros, and no symbols."""
    i = elf.find(".symtab")
    put_bytes(elf, i, lzma.compress(bytes(60 << 20), preset=6))
    s = elf.section(i)
    s[0], s[1] = add_names(elf, b".gnu_debugdata\0"), 1
    elf.put_section(i, s)


def many_functions(elf, _):
    """2 M functions of 16 bytes."""
    i = elf.find(".symtab")
    text = elf.section(elf.find(".text"))
    symbol, code = struct.Struct("<IBBHQQ"), elf.find(".text")
    symbols = b"".join(symbol.pack(1, 2, 0, code, text[3] + 16 * k, 16) for k in range(2000000))
    put_bytes(elf, i, symbols)


def overlapping_segments(elf, _):
    loads = [elf.segment(i) for i in range(elf.phnum) if elf.segment(i)[0] == PT_LOAD]
    code = next(s for s in loads if s[1] & 1)
    for i in range(elf.phnum):
        s = elf.segment(i)
        if s[0] != PT_LOAD:  # the same bytes at several addresses, ranges inside each other
            elf.put_segment(i, [PT_LOAD, 5, code[2], code[3] + 0x800 * i, code[4], code[5] + 0x1000 * i, 1 << 40, 1])


def huge_sections(elf, _):
    for name in (".symtab", ".debug_info", ".debug_line", ".eh_frame"):
        i = elf.find(name)
        s = elf.section(i)
        s[5] = 2 * GB - s[4]
        elf.put_section(i, s)
    return 2 * GB


def many_rows(elf, _):
    """3 M rows of unwind data, all over the code and 64 MB behind it."""
    text = next(i for i in range(elf.phnum) if elf.segment(i)[0] == PT_LOAD and elf.segment(i)[1] & 1)
    s = elf.segment(text)
    begin, where = s[3], 64 << 20
    s[5] = s[6] = where - s[2]
    elf.put_segment(text, s)
    body = b"\0\0\0\0" + b"\x01" + b"\0" + b"\x01\x78\x10" + b"\x0c\x07\x08\x90\x01"
    body += b"\0" * (-len(body) % 8 + 4)
    frames = bytearray(struct.pack("<I", len(body)) + body)
    rows = b"".join(b"\x41\x0e" + bytes([8 * (1 + k % 2)]) for k in range(60))
    for k in range(50000):
        body = struct.pack("<I", len(frames) + 4) + struct.pack("<QQ", begin + 64 * k, 64) + rows
        body += b"\0" * (-(len(body) + 4) % 8)
        frames += struct.pack("<I", len(body)) + body
    frames += b"\0\0\0\0"
    i = elf.find(".eh_frame")
    section = elf.section(i)
    section[3], section[4], section[5] = where, where, len(frames)
    elf.put_section(i, section)
    for k in range(elf.phnum):  # no index: the section it is
        if elf.segment(k)[0] == 0x6474e550:
            elf.put_segment(k, [0] + elf.segment(k)[1:])
    return where, bytes(frames)


def debug_link(elf, _):
    link = b"../../../../../../etc/passwd\0"
    i = elf.find(".comment")
    s = elf.section(i)
    name = elf.section(elf.shstrndx)[4]
    at = len(elf.data)
    elf.data += link + b"\0" * (-len(link) % 4) + b"\1\2\3\4"
    s[4], s[5] = at, len(elf.data) - at
    names = bytes(elf.data[name:name + elf.section(elf.shstrndx)[5]]) + b".gnu_debuglink\0"
    strings = elf.section(elf.shstrndx)
    s[0] = len(names) - 15
    strings[4], strings[5] = len(elf.data), len(names)
    elf.data += names
    elf.put_section(i, s)
    elf.put_section(elf.shstrndx, strings)


def noise_in(*names):
    def change(elf, rng):
        for name in names:
            s = elf.section(elf.find(name))
            for _ in range(max(4, s[5] // 16)):
                elf.data[s[4] + rng.randrange(s[5])] = rng.randrange(256)
    return change


def noise(elf, rng):
    code = elf.section(elf.find(".text"))
    for _ in range(200):
        at = rng.randrange(len(elf.data))
        if not code[4] <= at < code[4] + code[5]:
            elf.data[at] = rng.randrange(256)


def cut(elf, _):
    code = elf.section(elf.find(".text"))
    del elf.data[code[4] + code[5]:]


CASES = {
    "sections": many_sections, "overlap": overlapping_segments, "sparse": huge_sections, "rows": many_rows,
    "names": long_names, "notes": same_notes, "rela": same_relocations, "bomb": bomb, "functions": many_functions,
    "debuglink": debug_link, "cut": cut, "eh_frame": noise_in(".eh_frame"), "symbols": noise_in(".symtab", ".strtab"),
    "dwarf": noise_in(".debug_info", ".debug_line", ".debug_abbrev", ".debug_str"),
    **{f"noise{i}": noise for i in range(6)},
    "good": lambda elf, rng: None, "fifo": lambda elf, rng: None, "device": lambda elf, rng: None,
}


def main():
    library, directory, seed = sys.argv[1:]
    rng = random.Random(int(seed))
    with open(library, "rb") as f:
        original = f.read()
    nm = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    vaddr = next(int(line.split()[0], 16) for line in nm.splitlines() if line.endswith(" work_in_file"))
    elf = Elf(original)
    code = next(s for s in map(elf.segment, range(elf.phnum)) if s[0] == PT_LOAD and s[1] & 1)
    for name, change in CASES.items():
        elf = Elf(original)
        size = change(elf, rng)
        with open(f"{directory}/{name}.so", "wb") as f:
            f.write(elf.data)
            if isinstance(size, tuple):
                f.seek(size[0])
                f.write(size[1])
            elif size:
                f.truncate(size)
        print(name, vaddr - code[3] + code[2])


main()
