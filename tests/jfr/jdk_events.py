# SPDX-License-Identifier: Apache-2.0
"""What the JDK's own tools say of a recording, in the units of ours: nanoseconds, bytes, dotted class names."""
import datetime
import json
import os
import re
import subprocess

ENVIRONMENT = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8")
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z")
DURATION = re.compile(r"(-?)PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+)(?:\.(\d+))?S)?")
# What tells a hidden class from another; weft leaves it out.
HIDDEN = re.compile(r"(/0x[0-9a-f]+|(?<=\$\$Lambda)\$\d+\.0x[0-9a-f]+|\.0x[0-9a-f]+|(?<=\$\$Lambda)\$\d+(\+0x[0-9a-f]+)?/(0x[0-9a-f]+|\d+)|\+0x[0-9a-f]+(/\d+)?|/\d+)$")
PRIMITIVES = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean"}
FRAME_TYPES = {"Interpreted": "interpreted", "JIT compiled": "compiled", "Inlined": "inlined", "Native": "native_method",
               "C1 compiled": "c1", "C++": "native", "Kernel": "kernel"}
# The smallest and the largest number stand for "not known" and "for ever".
NO_TIMES = {"PT-2562047788015215H-30M-8S", "PT-2562047788015215H-30M-7.854775808S", "PT-2562047H-47M-16.854775808S",
            "PT2562047788015H12M55.807S", "PT2562047788015215H30M7S", "PT2562047788015215H30M7.999999999S", "PT2562047H47M16.854775807S"}


def jfr(jdk, *arguments):
    done = subprocess.run([os.path.join(jdk, "bin", "jfr"), *arguments], capture_output=True, env=ENVIRONMENT, check=False)
    if done.returncode:
        raise RuntimeError("jfr %s: %s" % (" ".join(arguments), (done.stdout + done.stderr).decode("utf-8", "replace")[-300:]))
    return done.stdout.decode("utf-8", "replace")


def summary(jdk, path):
    """{type: (events, bytes)} of those that there are."""
    found = re.findall(r"^\s*(\S+)\s+(\d+)\s+(\d+)\s*$", jfr(jdk, "summary", path), re.M)
    return {name: (int(n), int(size)) for name, n, size in found if int(n)}


def events(jdk, path, types):
    """The events of these types, as (type, values)."""
    if not types:
        return []
    text = jfr(jdk, "print", "--json", "--stack-depth", "64", "--events", ",".join(sorted(types)), path)
    return [(event["type"], event["values"]) for event in json.loads(text)["recording"]["events"]]


def nanoseconds(text):
    """Of a time or a duration; None when it is neither, or not known."""
    if text in NO_TIMES:
        return None
    found = TIME.fullmatch(text)
    if found:
        seconds = datetime.datetime.fromisoformat(found.group(1) + "+00:00").timestamp()
        return int(seconds) * 10**9 + int((found.group(2) or "0").ljust(9, "0")[:9])
    found = DURATION.fullmatch(text)
    if not found:
        return None
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    part = int((fraction or "0").ljust(9, "0")[:9])
    is_negative = sign or (seconds or "").startswith("-")
    return (-1 if sign else 1) * (whole * 10**9 + (-part if is_negative and not sign else part))


def dotted(name):
    """A class as Java's source has it."""
    depth = len(name) - len(name.lstrip("["))
    name = name[depth:]
    if depth:
        name = PRIMITIVES.get(name) or name[1:-1]
    return HIDDEN.sub("", name).replace("/", ".") + "[]" * depth


def thread_name(who):
    """The JDK has no name for some threads; weft says at least which one it is."""
    name = who["javaName"] or who["osName"]
    if name:
        return name
    return "virtual-%d" % who["javaThreadId"] if who.get("virtual") else "thread-%d" % who["osThreadId"]


def thread(values):
    """(name, Java's id) of the thread that an event is about."""
    who = values.get("sampledThread") or values.get("eventThread") or values.get("thread")
    return (thread_name(who), who["javaThreadId"]) if who else ("", 0)


def frame_type(name, method):
    """Of async-profiler what has no class, or no types, is no method of Java."""
    is_native = name == "Native" and (not method["type"]["name"] or method["descriptor"] == "()L;")
    return "native" if is_native else FRAME_TYPES.get(name, "unknown")


def frames(values):
    """(class, method, line, bytecode index, type) of each, innermost first."""
    stack = values.get("stackTrace")
    out = []
    for frame in stack["frames"] if stack else ():
        method = frame["method"]
        out.append((dotted(method["type"]["name"]), method["name"], max(0, frame["lineNumber"]), frame["bytecodeIndex"],
                    frame_type(frame["type"], method)))
    return tuple(out)


def execution_period(values_of_settings, type_ids):
    """Nanoseconds between samples, by the settings of the recording; the last one counts."""
    period = None
    for values in values_of_settings:
        if values["name"] == "period" and values["id"] in type_ids:
            found = re.fullmatch(r"(\d+) (ns|us|ms|s)", values["value"])
            period = int(found.group(1)) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[found.group(2)] if found else period
    return period


def flat(values, path=""):
    """(path, value) of all fields that are numbers or text, or refer to a class or a thread."""
    for name, value in values.items():
        at = path + name
        if isinstance(value, dict) and "javaName" in value:
            yield at, thread_name(value)
        elif isinstance(value, dict) and "classLoader" in value and "package" in value:
            yield at, dotted(value["name"])
        elif isinstance(value, dict) and "descriptor" in value:
            yield at, dotted(value["type"]["name"]) + "." + value["name"]
        elif isinstance(value, dict) and set(value) <= {"start", "committedEnd", "committedSize", "reservedEnd", "reservedSize", "used",
                                                        "reserved", "committed", "end", "size"}:
            yield from flat(value, at + ".")
        elif not isinstance(value, (dict, list)):
            yield at, value
