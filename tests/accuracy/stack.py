# SPDX-License-Identifier: Apache-2.0
"""Stacks of named frames, and names brought to one form whatever tool they came from."""
import os
import re
import subprocess
from collections import namedtuple

KERNEL_START = 0xFFFF800000000000

# name is None where the tool knew none; file is the base name of the mapping, "" when unknown.
Frame = namedtuple("Frame", "name file")

# frames: user frames, root first. mark: why the tool itself says that the stack is not whole, or "".
Stack = namedtuple("Stack", "frames mark pid comm kernel_only")

CLONE_SUFFIX = re.compile(r"(\.(part|constprop|isra|cold|lto_priv|llvm)(\.\d+)*)+$|( \[clone [^]]*\])+$")
RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
CRATE_HASH = re.compile(r"\[[0-9a-f]{8,16}\]")
QUALIFIERS = re.compile(r"( const| volatile| &|&&)+$")
OPERATOR = re.compile(r"operator(<<=?|>>=?|<=>|<=?|>=?|->\*?)")


def matching_paren(text):
    """Index of the parenthesis that the last character closes."""
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth == 0:
            return i
    return -1


def after_return_type(name):
    depth, start = 0, 0
    plain = OPERATOR.sub(lambda m: "operator" + "_" * (len(m.group(0)) - 8), name)
    for i, c in enumerate(plain):
        depth += c in "<({[" and 1 or (c in ">)}]" and -1 or 0)
        if c == " " and depth == 0 and not plain[:i].endswith("operator"):
            start = i + 1
    return name[start:]


def plain_name(name):
    """Without parameters, return type, clone suffixes, hashes, symbol version and aliases."""
    name = re.sub(r" \(=.*\)$", "", name)
    name = CLONE_SUFFIX.sub("", name)
    name = CRATE_HASH.sub("", RUST_HASH.sub("", name))
    name = name.replace("{{closure}}", "{closure#0}")
    if re.fullmatch(r"[\w.$@]+", name):
        return name if name.endswith("@plt") else name.split("@")[0]
    name = QUALIFIERS.sub("", name)
    if name.endswith(")"):
        at = matching_paren(name)
        if at > 0 and not name[:at].endswith("operator"):
            name = name[:at]
    return after_return_type(name)


def is_unknown(name):
    """How perf and weft write that they have no name."""
    return name in ("", "[unknown]") or re.search(r"\+0x[0-9a-f]+$|^0x[0-9a-f]+$|^\[unknown", name) is not None


def demangle(names):
    """One run of c++filt for all the names that a tool left mangled."""
    mangled = [n for n in names if n and n.startswith(("_Z", "_R"))]
    if not mangled:
        return {}
    out = subprocess.run(["c++filt"], input="\n".join(mangled) + "\n", capture_output=True,
                         text=True, check=True).stdout.split("\n")
    return dict(zip(mangled, out))


def base_name(path):
    return os.path.basename(path.replace(" (deleted)", ""))
