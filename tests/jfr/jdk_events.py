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
HIDDEN = re.compile(r"^(.*?)(/0x[0-9a-f]+|\+0x[0-9a-f]+/\d+|/\d+)$")


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
    """Of a time or a duration; None when it is neither."""
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
    """A class as Java writes it; what stands behind a hidden class stays."""
    if name is None:
        return None
    hidden = HIDDEN.match(name)
    if hidden:
        return hidden.group(1).replace("/", ".") + hidden.group(2)
    return name.replace("/", ".")


def thread(values):
    """(name, both ids) of the thread that an event is about."""
    who = values.get("sampledThread") or values.get("eventThread")
    if not who:
        return None, ()
    name = who["javaName"] if who["javaName"] is not None else who["osName"]
    return name, (who["osThreadId"], who["javaThreadId"])


def frames(values):
    """(class, method, line, bytecode index, type) of each, innermost first."""
    stack = values.get("stackTrace")
    out = []
    for frame in stack["frames"] if stack else ():
        method = frame["method"] or {"type": None, "name": None}
        kind = method["type"] or {"name": None}
        out.append((dotted(kind["name"]), method["name"], frame["lineNumber"], frame["bytecodeIndex"], frame["type"]))
    return tuple(out)


def execution_period(values_of_settings, type_ids):
    """Nanoseconds between samples, by the settings of the recording; the last one counts."""
    period = None
    for values in values_of_settings:
        if values["name"] == "period" and values["id"] in type_ids:
            found = re.fullmatch(r"(\d+) (ns|us|ms|s)", values["value"])
            period = int(found.group(1)) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[found.group(2)] if found else period
    return period
