# SPDX-License-Identifier: Apache-2.0
"""What all measures share: where programs are, starting weft, reading its profile, printing a figure."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "accuracy"))

import kernel	# noqa: E402
import pprof	# noqa: E402

WEFT = os.environ.get("WEFT", "build/weft")
OUT = os.environ.get("BENCH_OUT", "build/bench")
QUICK = bool(os.environ.get("QUICK"))
HAS_PERF = shutil.which("perf") is not None and subprocess.run(["perf", "version"], capture_output=True, check=False).returncode == 0
MISSING = "# missing: "


def figure(name, value, unit):
    print("%s %s %s" % (name, ("%.4g" if abs(value) < 1000 else "%.0f") % value, unit), flush=True)


def note(text):
    print("# " + text, flush=True)


def missing(reason):
    """Why figures that are expected do not come."""
    print(MISSING + reason, flush=True)


def program(name):
    return os.path.join(OUT, name)


class Recording:
    """One run of weft. output: of the program; error: weft's messages; cpu: its own seconds (-p, -a);
    early: (runs, nanoseconds) of run_stats() when it had run for half a second."""

    def __init__(self, arguments, while_running=None):
        # A weft that outlives an interrupted measure cannot write into a folder that is gone.
        with tempfile.TemporaryDirectory(prefix="weft-bench.") as folder:
            path = os.path.join(folder, "profile.pb.gz")
            self.run([WEFT, "record", "--stats", "-o", path, *arguments], while_running)
            self.profile = pprof.read(path)

    def run(self, command, while_running):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            self.held = self.hold(child)
            self.early = self.read_stats()
            if while_running:
                while_running(child)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.cpu = usage.ru_utime + usage.ru_stime
            self.output, self.error = (read_back(f) for f in (out, err))
        if child.returncode:
            raise RuntimeError("%s: exit %d: %s" % (" ".join(command), child.returncode, self.error[-500:]))

    @staticmethod
    def hold(child):
        """Descriptors of weft's BPF programs: with them its counts stay readable after its end."""
        held, last_new, begun = {}, time.monotonic(), time.monotonic()
        while child.poll() is None and time.monotonic() - begun < 10:
            new = kernel.programs_of(child.pid) - set(held)
            for number in new:
                fd = kernel.hold_program(number)
                if fd >= 0:
                    held[number] = fd
                    last_new = time.monotonic()
            if held and time.monotonic() - last_new > 0.4:
                break
            time.sleep(0.002)
        return held

    def read_stats(self):
        """(runs of the sampler, nanoseconds of all its programs) so far."""
        stats = [kernel.run_stats(fd) for fd in self.held.values()]
        return sum(runs for runs, _, is_sampler in stats if is_sampler), sum(ns for _, ns, _ in stats)

    def run_stats(self):
        """The same of the whole run; the programs are let go."""
        stats = self.read_stats()
        for fd in self.held.values():
            os.close(fd)
        self.held = {}
        return stats

    def values(self, kind):
        at = [t[0] for t in self.profile.sample_types].index(kind)
        return [s.values[at] for s in self.profile.samples]

    def n_samples(self):
        return sum(self.values("samples"))


def read_back(f):
    f.seek(0)
    return f.read()


def number_after(word, text):
    return float(re.search(r"^%s (?:\S+ )*?([\d.]+)$" % word, text, re.M).group(1))
