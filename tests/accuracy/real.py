# SPDX-License-Identifier: Apache-2.0
"""Programs nobody here wrote: their stacks are not known, but every one must reach a root."""
import os
import shutil
import subprocess
import time
from collections import namedtuple

import tools
from bound import wilson
from truth import is_complete

SECONDS = 6
PORT = "16399"

# needs: programs; command: gets the work folder; load: what to run beside it, or None; goal: complete, percent.
Real = namedtuple("Real", "name needs command load goal")


SQL = """
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1300000) insert into t select i, hex(i * 7919) from n;
create index x on t(b);
select count(*) from t a join t b on a.b = b.b where a.a % 3 = 1;
select sum(length(replace(b, '3', 'xyz'))) from t, (select 1 union select 2 union select 3 union select 4);
"""


def sqlite(work):
    return ["sqlite3", ":memory:", SQL]


def zstd(work):
    path = os.path.join(work, "input")
    with open(path, "wb") as out:
        for name in ("/usr/bin/perf", "/usr/bin/gdb", "/usr/bin/ffmpeg", shutil.which("openssl")):
            if os.path.exists(name):
                with open(name, "rb") as f:
                    out.write(f.read())
    return ["zstd", "-q", "-b7", "-e7", "-i%d" % SECONDS, path]


def ffmpeg(work):
    return ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-t", "5", "-c:v", "libx264",
            "-preset", "medium", "-f", "null", "-"]


def redis(work):
    return ["redis-server", "--port", PORT, "--save", "", "--appendonly", "no", "--dir", work]


def redis_load():
    subprocess.run(["redis-benchmark", "-q", "-p", PORT, "-n", "120000", "-c", "20", "-t", "set,get,lpush,lrange_100,zadd,mset"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)
    subprocess.run(["redis-cli", "-p", PORT, "shutdown", "nosave"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False)


REALS = (
    Real("redis-server under load", ("redis-server", "redis-benchmark"), redis, redis_load, 99.5),
    Real("sqlite3", ("sqlite3",), sqlite, None, 99.5),
    Real("zstd", ("zstd",), zstd, None, 99.5),
    Real("openssl", ("openssl",), lambda work: ["openssl", "speed", "-seconds", "1", "sha256", "rsa2048", "ecdsap256"],
         None, 95.0),
    Real("ffmpeg with x264", ("ffmpeg",), ffmpeg, None, 95.0),
)


def with_load(real, record):
    """Runs the load beside the recording: it also ends the program."""
    if not real.load:
        return record()
    pid = os.fork()
    if pid == 0:
        time.sleep(1)
        real.load()
        os._exit(0)
    try:
        return record()
    finally:
        os.waitpid(pid, 0)


def complete(stacks):
    """(complete samples, samples, counter of where the others end)"""
    good = n = 0
    ends = {}
    for stack, count in stacks.items():
        if stack.kernel_only:
            continue
        n += count
        if is_complete(stack, ""):
            good += count
        else:
            frame = stack.frames[0] if stack.frames else None
            key = "%s %s" % (stack.mark, (frame.name or "?" + frame.file) if frame else "no frames")
            ends[key] = ends.get(key, 0) + count
    return good, n, ends


def record(tool, command, work):
    if tool == "weft":
        return tools.weft_record(command, work)[1]
    return tools.perf_record(tool, command, work)[1]


def measure(wanted_tools, work):
    """Prints a line a program; how many missed the goal."""
    missed = 0
    for real in REALS:
        if not all(map(shutil.which, real.needs)):
            print("%-14s %-25s MISS: not installed" % ("real", real.name))
            missed += 1
            continue
        line, details = "%-14s %-25s " % ("real", real.name), ""
        for tool in wanted_tools:
            try:
                stacks = with_load(real, lambda t=tool, r=real: record(t, r.command(work), work))
            except (tools.ToolFailed, subprocess.TimeoutExpired) as failed:
                line += " %s: %s" % (tool, failed)
                missed += tool == "weft"
                continue
            good, n, ends = complete(stacks)
            rate = 100 * good / max(1, n)
            line += " %s: %d samples %.2f %% complete (>= %.2f)" % (tool, n, rate, wilson(good, n)[0])
            if tool == "weft" and rate < real.goal:
                missed += 1
                line += " MISS"
                details = "".join("\n    %5d %s" % (c, k) for k, c in sorted(ends.items(), key=lambda i: -i[1])[:5])
        print(line + details, flush=True)
    return missed
