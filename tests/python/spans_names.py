# SPDX-License-Identifier: Apache-2.0
"""What the spans of spans_program.py are called: by their kind and their id."""
import re

NAMES = {
    "route": "GET /items/{item_id}",        # the same for all
    "made": "handle %x of many",            # a str of its own
    "latin": "Straße %x",
    "wide": "Заказ № %x",
    "astral": "🛒 %x",
    "empty": "",
    "long": "GET /%x" + "/{something}" * 42,  # 500 characters, of which a label has some 200
    "longwide": "%x" + "страница " * 60,
    "longastral": "%x" + "🛒🧾" * 60,
    "old": "before it was updated, %x",
    "new": "updated: %x",
    "ended": "over, but still current: %x",
}
BEGUN = [kind for kind in NAMES if kind != "new"]  # kinds that spans begin as
LEAST = 40  # characters that every label has room for
RENAMED = re.compile(r"renamed (\d+) " + r"\1 " * 20 + r"\Z")


def name_of(kind, span_id):
    name = NAMES[kind]
    return name % (span_id & 0xfff) if "%" in name else name


def renamed(n):
    """The name of a span whose name changes all the time."""
    return "renamed " + "%d " % n * 21


def is_right(kind, span_id, got):
    """Is this the name that a sample has? None: it has none and should. nameless: no SDK."""
    wanted = None if kind == "nameless" else "?" if kind == "renamed" else name_of(kind, span_id)
    if not wanted:
        return got is None
    if got is None:
        return None
    if kind == "renamed":
        return bool(RENAMED.match(got))
    return got == wanted or (got.endswith("…") and len(got) > LEAST and wanted.startswith(got[:-1]))
