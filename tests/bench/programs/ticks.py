# SPDX-License-Identifier: Apache-2.0
"""Clock ticks on every CPU, of which nobody hears: ticks.py HZ, until it is told to end."""
import ctypes
import os
import signal
import struct
import sys

SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
SOFTWARE, CPU_CLOCK, ATTR_LEN = 1, 0, 128
libc = ctypes.CDLL(None, use_errno=True)
attr = struct.pack("IIQQ", SOFTWARE, ATTR_LEN, CPU_CLOCK, 10 ** 9 // int(sys.argv[1])).ljust(ATTR_LEN, b"\0")
for cpu in range(os.cpu_count()):
    if libc.syscall(SYS_PERF_EVENT_OPEN, attr, -1, cpu, -1, 0) < 0:
        raise OSError(ctypes.get_errno(), "perf_event_open")
# Blocked, they also come to one that was started with them ignored, as in the background.
ends = (signal.SIGINT, signal.SIGTERM)
signal.pthread_sigmask(signal.SIG_BLOCK, ends)
signal.sigwait(ends)
