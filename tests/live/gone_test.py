#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of 30 ms whose file nobody can open any more: frames keep build id and offset, and `weft
symbolize` names them by those. weft is stopped while they run, so that each is gone before weft hears
of it; and not stopped, when their own names are asked for. Needs root and BPF."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.dirname(__file__) + "/../..")
WEFT = os.path.join(TOP, os.environ.get("BUILD", "build"), "weft")
N_ROUNDS = int(os.environ.get("N_ROUNDS", "22"))
ID_LENS = (20, 20, 16, 8, 20)  # bytes: of SHA-1, MD5, lld's fast hash
MIN_SHARE = 0.99


def build(work):
    """The same program with different build ids, every other one not relocatable: {id: path}. Their
    debug files are in a build id directory."""
    files = {}
    for i, length in enumerate(ID_LENS):
        build_id = f"{0xa0 + i:02x}" * length
        path = f"{work}/p{i}"
        debug = f"{work}/debug/.build-id/{build_id[:2]}"
        pie = ["-no-pie", "-fno-pie"] if i % 2 else ["-pie", "-fPIE"]
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-D_GNU_SOURCE", *pie, f"-Wl,--build-id=0x{build_id}",
                        "-o", path, TOP + "/tests/live/gone.c"], check=True)
        os.makedirs(debug)
        subprocess.run(["objcopy", "--only-keep-debug", path, f"{debug}/{build_id[2:]}.debug"], check=True)
        files[build_id] = path
    return files


def expect(launcher, line):
    got = launcher.stdout.readline().strip()
    if got != line:
        raise RuntimeError(f"the launcher said {got!r}")


def go_on(launcher):
    launcher.stdin.write("\n")
    launcher.stdin.flush()


def record(work, how, paths, is_late):
    """Samples the programs. is_late: weft sees nothing of them before they are gone."""
    out = f"{work}/{how}.pb.gz"
    launcher = subprocess.Popen([paths[0], how, str(N_ROUNDS), *paths], env=dict(os.environ, DIR=work, WAIT="1"),
                                text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    weft = subprocess.Popen([WEFT, "record", "-F", "397", "-p", str(launcher.pid), "-o", out],
                            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        while "recording" not in weft.stderr.readline():
            if weft.poll() is not None:
                raise RuntimeError("weft ended")
        for _ in range(N_ROUNDS):
            expect(launcher, "ready")
            if is_late:
                weft.send_signal(signal.SIGSTOP)
            go_on(launcher)
            expect(launcher, "done")
            weft.send_signal(signal.SIGCONT)
            time.sleep(0.03)
            go_on(launcher)
        launcher.wait()
        weft.stderr.read()
        weft.wait()
    finally:
        for child in (weft, launcher):
            if child.poll() is None:
                child.kill()
                child.wait()
    return out


def events_of(work, profile, *symbolize):
    """The profile's samples, named by debug files if that is asked for."""
    out = f"{work}/events.json"
    verb = ["symbolize", *symbolize] if symbolize else ["report"]
    subprocess.run([WEFT, *verb, profile, "-o", out], check=True, capture_output=True)
    with open(out, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def own_frame(event):
    """The frame of a sample that is the program's own code; the process says by its name which program
    it runs."""
    for frame in event["stackFrames"]:
        if frame.get("module", "").startswith(("copy", "memfd:copy")):
            return frame
    return None


def share(events, is_right):
    right = total = 0
    for event in events:
        frame = own_frame(event)
        if frame is None or not event["comm"].startswith("id"):
            continue
        total += event["sampleWeight"]
        right += event["sampleWeight"] if is_right(event, frame) else 0
    return (right / total if total else 0), total


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def claim(self, text, is_true, says=""):
        self.n += 1
        self.failed += not is_true
        print(f"{'ok' if is_true else 'not ok'} {self.n} - {text}{'  # ' + says if says else ''}", flush=True)


def has_right_id(event, frame):
    # ida1: of a program whose id is a1a1a1...
    return frame.get("buildId", "") != "" and set(frame["buildId"][i:i + 2] for i in range(0, len(frame["buildId"]), 2)) \
        == {event["comm"][2:4]}


def has_right_name(_event, frame):
    return frame["function"] in ("work", "main", "be_the_program", "_start")


def judge(work, how, paths, is_late, tap):
    profile = record(work, how, paths, is_late)
    when = "is gone before weft hears of it" if is_late else "runs"
    n_programs = N_ROUNDS * len(paths)
    events = events_of(work, profile)
    for text, is_right, judged in (
            ("has its build id", has_right_id, events),
            ("has its names, after the fact" if is_late else "has its names", has_right_name,
             events_of(work, profile, "--debug-dir", f"{work}/debug") if is_late else events)):
        right, total = share(judged, is_right)
        tap.claim(f"{how}: a program of 30 ms that {when} {text}", total > 5 * n_programs and right >= MIN_SHARE,
                  f"{100 * right:.2f} % of {total} samples of {n_programs} programs")


def main():
    if subprocess.run([WEFT, "doctor"], capture_output=True, check=False).returncode == 3 or os.geteuid() \
            or not shutil.which("objcopy"):
        print("1..0 # SKIP weft cannot profile here, or there is no objcopy")
        return 77
    tap = Tap()
    work = tempfile.mkdtemp(prefix="weft-gone.")
    try:
        paths = list(build(work).values())
        for how in ("unlink", "memfd", "mount"):
            for is_late in (False, True):
                judge(work, how, paths, is_late, tap)
    finally:
        shutil.rmtree(work)
    print(f"1..{tap.n}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
