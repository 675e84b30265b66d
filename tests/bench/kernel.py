# SPDX-License-Identifier: Apache-2.0
"""What the kernel says about BPF programs and maps, without anybody's help."""
import contextlib
import ctypes
import glob
import os

BPF_PROG_GET_NEXT_ID, BPF_MAP_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID = 11, 12, 13
BPF_LINK_GET_NEXT_ID, BPF_ENABLE_STATS = 31, 32
PROG_TYPE_PERF_EVENT = 7
SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, *words):
    """The bpf system call with an attribute of 32-bit words; returns (result, words)."""
    attr = (ctypes.c_uint32 * 32)(*words)
    return libc.syscall(SYS_BPF, command, attr, ctypes.sizeof(attr)), list(attr)


@contextlib.contextmanager
def statistics():
    """Run times are counted while this is open, and by nobody's sysctl."""
    fd, _ = bpf(BPF_ENABLE_STATS, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "BPF_ENABLE_STATS")
    try:
        yield
    finally:
        os.close(fd)


def ids(command):
    out, last = set(), 0
    while True:
        result, words = bpf(command, last)
        if result < 0:
            return out
        last = words[1]
        out.add(last)


def program_ids():
    return ids(BPF_PROG_GET_NEXT_ID)


def programs_of(pid):
    return held_ids(pid, ("prog_id",))


def map_ids():
    return ids(BPF_MAP_GET_NEXT_ID)


def link_ids():
    return ids(BPF_LINK_GET_NEXT_ID)


def perf_event_descriptors(where="/proc/[0-9]*/fd/*"):
    """Every open descriptor of a perf event, on the machine if nothing else is said."""
    found = set()
    for path in glob.glob(where):
        try:
            if os.readlink(path) == "anon_inode:[perf_event]":
                found.add(path)
        except OSError:
            continue
    return found


def perf_events_of(pid):
    """Descriptors of ours of the perf events that a process has open: with them they can be switched."""
    process = libc.syscall(SYS_PIDFD_OPEN, pid, 0)
    if process < 0:
        return []
    taken = [libc.syscall(SYS_PIDFD_GETFD, process, int(path.rpartition("/")[2]), 0)
             for path in perf_event_descriptors("/proc/%d/fd/*" % pid)]
    os.close(process)
    return [fd for fd in taken if fd >= 0]


def hold_program(number):
    """A descriptor that keeps the program, and its counts, after its owner has gone; -1 when it is gone."""
    return bpf(BPF_PROG_GET_FD_BY_ID, number)[0]


def fdinfo(path):
    with open(path, encoding="ascii") as f:
        return dict(line.strip().split(":\t") for line in f if ":\t" in line)


def run_stats(fd):
    """(runs, nanoseconds, whether perf events run it) of a held program."""
    info = fdinfo("/proc/self/fdinfo/%d" % fd)
    return int(info["run_cnt"]), int(info["run_time_ns"]), int(info["prog_type"]) == PROG_TYPE_PERF_EVENT


def held_ids(pid="[0-9]*", kinds=("prog_id", "map_id", "link_id")):
    """Ids of the programs, maps and links that a process, or any, has a descriptor of."""
    held = set()
    for path in glob.glob("/proc/%s/fdinfo/*" % pid):
        try:
            info = fdinfo(path)
        except OSError:
            continue
        held.update(int(info[key]) for key in kinds if key in info)
    return held


def map_bytes(pid):
    """Kernel memory of the BPF maps that a process holds."""
    sizes = {}
    for path in glob.glob("/proc/%d/fdinfo/*" % pid):
        try:
            info = fdinfo(path)
        except OSError:
            continue
        if "map_id" in info:
            sizes[info["map_id"]] = int(info["memlock"])
    return sum(sizes.values())


def anonymous_bytes(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        for line in f:
            if line.startswith("Anonymous:"):
                return int(line.split()[1]) * 1024
    return 0


def stolen_ticks():
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8])
