# SPDX-License-Identifier: Apache-2.0
"""Every code object of the standard library with the lines that this interpreter itself gives its
instructions, for lines_check.c. Runs on CPython 3.6 and later; writes to standard output.

    lines_dump.py [EVERY [tests]]    only every EVERYth module; the library's own tests too

A record: first line, length of the table, number of code units, then the table, then a line for each
code unit, -1 where it has none; numbers are 32 bits, little endian."""
import array
import ctypes
import importlib.util
import marshal
import os
import sys
import sysconfig
import warnings

CodeType = type(compile("", "", "exec"))


def lines_of_ranges(code, n_units):
    """3.10 and later say themselves what each range of the code has."""
    lines = array.array("i", [-2]) * n_units
    for start, end, line in code.co_lines():
        for unit in range(start // 2, end // 2):
            lines[unit] = -1 if line is None else line
    return lines


def lines_of_positions(code, n_units):
    """From 3.11 on one answer an instruction, caches included."""
    return array.array("i", [-1 if p[0] is None else p[0] for p in code.co_positions()])


addr2line = ctypes.pythonapi.PyCode_Addr2Line
addr2line.argtypes = [ctypes.py_object, ctypes.c_int]


def lines_of_calls(code, n_units):
    """What tracebacks call."""
    return array.array("i", [addr2line(code, 2 * unit) for unit in range(n_units)])


if sys.version_info >= (3, 11):
    lines_of = lines_of_positions
elif sys.version_info >= (3, 10):
    lines_of = lines_of_ranges
else:
    lines_of = lines_of_calls


def dump(code, out):
    n_units = len(code.co_code) // 2
    table = code.co_lnotab if sys.version_info < (3, 10) else code.co_linetable
    lines = lines_of(code, n_units)
    assert len(lines) == n_units, (code, len(lines), n_units)
    out.write(array.array("I", [code.co_firstlineno, len(table), n_units]).tobytes())
    out.write(table)
    out.write(lines.tobytes())
    for const in code.co_consts:
        if isinstance(const, CodeType):
            dump(const, out)


def load(path):
    """As imported: from the cache when there is one, which is much faster than to compile."""
    cached = importlib.util.cache_from_source(path)
    if os.path.exists(cached):
        with open(cached, "rb") as f:
            data = f.read()
        header = 12 if sys.version_info < (3, 7) else 16
        if data[:4] == importlib.util.MAGIC_NUMBER:
            return marshal.loads(data[header:])
    with open(path, "rb") as f:
        return compile(f.read(), path, "exec", dont_inherit=True)


def modules(skipped):
    for folder, folders, files in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = sorted(d for d in folders if d not in skipped)
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def main():
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    skipped = ["site-packages", "dist-packages", "__pycache__"]
    if sys.argv[2:] != ["tests"]:
        skipped += ["test", "tests", "idle_test"]
    warnings.simplefilter("ignore")
    out = sys.stdout.buffer
    for i, path in enumerate(modules(skipped)):
        if i % every:
            continue
        try:
            code = load(path)
        except (OSError, SyntaxError, ValueError):
            continue  # a dangling link; files that are there to be wrong
        dump(code, out)


main()
