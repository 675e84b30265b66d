# SPDX-License-Identifier: Apache-2.0
"""Other readers of JFR recordings: where they are, and what it takes to run them."""
import glob
import os
import resource
import shutil
import subprocess
import threading
import time
from collections import namedtuple

import weft

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.environ.get("PEERS", os.path.expanduser("~/.cache/weft/peers"))
GRAFANA = os.path.join(FOLDER, "grafana-jfr", "grafana_jfr")
POLL_S = 0.003

Run = namedtuple("Run", "cpu wall peak output")	# seconds, seconds, bytes


def newest_jdk():
    """The folder of the newest JDK here, or nothing."""
    script = '. tests/jfr/jdks.sh; for v in $JDK_VERSIONS; do jdk_of "$v"; done'
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=os.path.join(HERE, "..", "..")).stdout.split()
    return found[-1] if found else None


def jars(name):
    return sorted(glob.glob(os.path.join(FOLDER, name, "*.jar")))


def watch_peak(pid, peaks):
    """The most that the process had in memory: what wait() says includes us before exec."""
    path = "/proc/%d/status" % pid
    while True:
        try:
            with open(path, encoding="ascii") as f:
                found = [line for line in f if line.startswith("VmHWM:")]
        except OSError:
            return
        if not found:
            return
        peaks.append(int(found[0].split()[1]) * 1024)
        time.sleep(POLL_S)


def run(command, cpus=None):
    """One run of a program, on some CPUs only when they are given."""
    if cpus:
        command = ["taskset", "-c", cpus, *command]
    before, began, peaks = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic(), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as child:
        watcher = threading.Thread(target=watch_peak, args=(child.pid, peaks))
        watcher.start()
        out, err = child.communicate()
        watcher.join()
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if child.returncode:
        raise RuntimeError("%s: exit %d: %s" % (" ".join(command), child.returncode, err.decode("utf-8", "replace")[-300:]))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, wall, max(peaks, default=0), out.decode("utf-8", "replace"))


def passes(command):
    """CPU seconds of each pass of a program that prints them, a line a pass."""
    return [float(line.split()[0]) for line in run(command).output.splitlines()]


def print_command(jdk, types, path):
    """`jfr print`, into nothing: what it writes is not what it takes."""
    return [os.path.join(jdk, "bin", "jfr"), "print", "--json", "--stack-depth", "64", "--events", ",".join(types), path]


def end_to_end(path, out):
    """(name, command) of every peer that makes a profile or a report of the whole file."""
    jdk = newest_jdk()
    if os.path.exists(GRAFANA):
        yield "grafana", [GRAFANA, "pprof", path, out]
    if jdk:
        yield "jfr_summary", [os.path.join(jdk, "bin", "jfr"), "summary", path]
    java = jdk and os.path.join(jdk, "bin", "java")
    if java and jars("jfrconv"):
        yield "jfrconv", [java, "-jar", jars("jfrconv")[0], "-o", "pprof", path, out]


def jmc_command(jdk, path, n):
    """JMC's own reader, n times in one process."""
    return [os.path.join(jdk, "bin", "java"), "-Xmx6g", "-cp", ":".join(jars("jmc")), os.path.join(HERE, "peers", "JmcRead.java"), str(n), path]


def recording(name):
    """The path of a recording, which is made when it is not there yet; nothing when it cannot be."""
    script = os.path.join(HERE, "..", "jfr", "recordings.sh")
    done = subprocess.run([script, name], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        weft.missing("no recording %s here" % name)
    return done.stdout.strip() or None


def has_taskset():
    return shutil.which("taskset") is not None
