#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tasks_program.py with an interpreter and compares what `weft dump --json` says of it with what is so.

    dump_check.py WEFT PYTHON [pure|uvloop]    exit 0: all of it is the same
    dump_check.py WEFT PYTHON churn            exit 0: of tasks that change all the time nothing wrong is said"""
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "tasks_program.py")


def start(python, *args):
    program = subprocess.Popen([python, "-W", "ignore", PROGRAM, *args], stdout=subprocess.PIPE)
    line = program.stdout.readline()
    return program, json.loads(line) if line else None


def dump(weft, pid):
    result = subprocess.run([weft, "dump", "--json", str(pid)], stdout=subprocess.PIPE)
    if result.returncode:
        sys.exit("weft dump exits with %d" % result.returncode)
    return json.loads(result.stdout.decode())


def chain_of(task):
    return [[f["function"], f["file"], f["line"]] for f in task["stack"]]


class Differences:
    def __init__(self):
        self.n = 0

    def say(self, what, got, want):
        self.n += 1
        print("# %s: %r instead of %r" % (what, got, want))

    def compare(self, what, got, want):
        if got != want:
            self.say(what, got, want)


def compare_tasks(d, said, so):
    want = {t["coroutine"]: t for t in so["tasks"]}
    got = {t["coroutine"]: t for t in said["tasks"] if t["state"] != "done"}
    d.compare("tasks", sorted(got), sorted(want))
    for name in set(got) & set(want):
        task = got[name]
        if name == so["running"]:
            d.compare("state of " + name, task["state"], "running")
            d.compare("stack of " + name, [f["function"].rpartition(".")[2] for f in task["stack"]],
                      ["busy", "spin"])
        elif name == "never_started":
            d.compare("state of " + name, (task["state"], task["is_started"]), ("runnable", False))
        else:
            d.compare("state of " + name, task["state"], "waiting")
            d.compare("chain of " + name, chain_of(task), want[name]["chain"])
        if want[name]["name"]:
            d.compare("name of " + name, task["name"], want[name]["name"])
        d.compare("thread of " + name, task["tid"], want[name]["tid"])
        if name in so["reasons"]:
            d.compare("reason of " + name, task["reason"], so["reasons"][name])
        if task["reason"] == "sleep" or name in LIMITED:
            compare_times(d, name, task, so["age"])


LIMITED = ("timing_a_task", "timing_a_coroutine", "timing_a_gather", "waiting")  # to 2000 seconds


def compare_times(d, name, task, age):
    """Everything else that sleeps does so for 3000 seconds, and began after the program."""
    waited, left, whole = task["waited_s"], task["left_s"], 2000 if name in LIMITED else 3000
    if waited is None or left is None or not 0 <= waited <= age or not whole - 0.05 <= waited + left <= whole + 0.05:
        d.say("times of " + name, (waited, left), "%d s together, at most %.1f s of them over" % (whole, age))


def compare_edges(d, said, so):
    names = {t["id"]: t["coroutine"] for t in said["tasks"]}
    edges = sorted([t["coroutine"], names.get(w["task"]), w["via"]]
                   for t in said["tasks"] for w in t["awaited_by"])
    d.compare("edges", edges, so["edges"])
    if so["awaited_by"] is not None:
        d.compare("awaited_by", [e[:2] for e in edges], sorted(so["awaited_by"]))


def is_legal(task, legal):
    """A task that waits is in one of the chains, one that is about to go on in a part of one."""
    names = [f["function"] for f in task["stack"]]
    if task["state"] == "waiting":
        return names in legal
    return any(names == chain[:len(names)] for chain in legal) or task["state"] == "running"


def compare_churn(weft, pid, so, d, n_dumps=20):
    n, n_changed = 0, 0
    for _ in range(n_dumps):
        said = dump(weft, pid)
        n += len(said["tasks"])
        n_changed += said["n_changed"]
        ids = [t["id"] for t in said["tasks"]]
        d.compare("ids", len(set(ids)), len(ids))
        names = {t["id"]: t["coroutine"] for t in said["tasks"]}
        for task in said["tasks"]:
            if task["state"] != "done" and not is_legal(task, so["legal"]):
                d.say("chain", [task["state"], [f["function"] for f in task["stack"]]], "a legal one")
            for waiter in task["awaited_by"]:
                if (task["coroutine"], names.get(waiter["task"], "churning"), waiter["via"]) != \
                        ("child", "churning", "gather"):
                    d.say("edge", [task["coroutine"], names.get(waiter["task"]), waiter["via"]], "of gather")
        time.sleep(0.02)
    print("%d tasks, %d left out, %d differences" % (n, n_changed, d.n))
    # How many, depends on how long a look takes, and so on what else the machine does.
    if n_changed > n / 2:
        d.say("left out", n_changed, "less than a half")


def check_churn(weft, python):
    program, so = start(python, "churn", "200")
    d = Differences()
    try:
        compare_churn(weft, program.pid, so, d)
    finally:
        program.kill()
        program.wait()
    sys.exit(d.n != 0)


def main():
    weft, python = sys.argv[1:3]
    if sys.argv[3:] == ["churn"]:
        check_churn(weft, python)
    began = time.monotonic()
    program, so = start(python, "edges", *sys.argv[3:])
    d = Differences()
    try:
        if so is None:
            sys.exit("the program ended")
        said = dump(weft, program.pid)
        so.update(kind="".join(sys.argv[3:]), age=time.monotonic() - began)
        compare_tasks(d, said, so)
        compare_edges(d, said, so)
        d.compare("threads", sorted(t["name"] for t in said["threads"] if t["name"] in
                                    ("MainThread", "run_elsewhere", "run_busy")),
                  ["MainThread", "run_busy", "run_elsewhere"])
        d.compare("lines of threads", [f for t in said["threads"] for f in t["stack"] if not f["line"]], [])
        d.compare("changed", said["n_changed"], 0)
        print("%d tasks, %d edges, %d differences" % (len(said["tasks"]), len(so["edges"]), d.n))
    finally:
        program.kill()
        program.wait()
    sys.exit(d.n != 0)


main()
