# SPDX-License-Identifier: Apache-2.0
"""clock.py LIBRARY DEPTH COUNTER: looks at the clock below that many Python frames; COUNTER is a file of 8 bytes: the ns for
which it was not stopped."""
import ctypes
import mmap
import sys


def descend(depth, watch, ran_ns):
    return descend(depth - 1, watch, ran_ns) if depth > 1 else watch(ran_ns)


with open(sys.argv[3], "r+b") as f:
    memory = mmap.mmap(f.fileno(), 8)
descend(int(sys.argv[2]), ctypes.CDLL(sys.argv[1]).watch, ctypes.byref(ctypes.c_uint64.from_buffer(memory)))
