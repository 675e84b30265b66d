# SPDX-License-Identifier: Apache-2.0
"""The CPythons that measures run: one for each kind of frames."""
import os
import re
import subprocess

import weft

# What they are called in figures, and which minor versions will do.
KINDS = (("old", (8, 7, 6)), ("311", (11,)), ("313", (13,)), ("new", (14, 15)))


def minor_of(command):
    out = subprocess.run([*command, "-c", "import sys; print(sys.version_info[1])"], capture_output=True, text=True, check=False).stdout
    return int(out) if re.fullmatch(r"\d+\n", out) else 0


def found():
    """name: command; says which are missing. PYTHONS has all there are (tests/python/pythons.sh), with colons between."""
    commands = [p.split(" ") for p in os.environ.get("PYTHONS", "").split(":") if p]
    by_minor = {minor_of(command): command for command in commands}
    chosen = {}
    for name, minors in KINDS:
        there = [minor for minor in minors if minor in by_minor]
        if there:
            chosen[name] = by_minor[there[0]]
            weft.note("python_%s is CPython 3.%d" % (name, there[0]))
        else:
            weft.missing("no CPython 3.%s here" % " or 3.".join(map(str, minors)))
    return chosen
