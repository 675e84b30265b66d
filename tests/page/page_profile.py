# SPDX-License-Identifier: Apache-2.0
"""The data block of a page, read without the page's own script: what its figures are held against."""
import json
import re


def read(text):
    data = json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>', text, re.S).group(1))
    kinds, names, nodes, path = data["kinds"], [], [], []
    for i in range(0, len(data["frames"]), 6):
        name, _module, _file, _line, kind, _inlined = data["frames"][i:i + 6]
        names.append((data["strings"][name], kinds[kind]))
    for depth, frame, *selfs in zip(data["depth"], data["frame"], *data["self"]):
        del path[depth:]
        path.append(names[frame])
        nodes.append((tuple(path), selfs))
    return nodes


def is_code(kind):
    return kind not in ("process", "thread")


def flat(nodes, value):
    sums = {}
    for path, selfs in nodes:
        sums[path[-1][0]] = sums.get(path[-1][0], 0) + selfs[value]
    return sums


def cum(nodes, value):
    sums = {}
    for path, selfs in nodes:
        if selfs[value]:
            for name in {name for name, kind in path if is_code(kind)}:
                sums[name] = sums.get(name, 0) + selfs[value]
    return sums


def matched(nodes, text, value):
    return sum(selfs[value] for path, selfs in nodes if any(text.lower() in name.lower() for name, _ in path))
